package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/builder"
	"hark/internal/answer"
	"hark/memory"
	"hark/search"
)

// whyCommand is in the menu of a message.
const whyCommand = "Why did you say that?"

const (
	notMyAnswer = "That isn't an answer of mine, so I can't say how it came about."
	noSources   = "What this answer was made from is gone, or you may not read it."
)

// quoteLength is how much of a source is quoted, in graphemes.
const quoteLength = 160

// isntOurs refuses messages that aren't Hark's.
func (c *Commands) isntOurs(x *interaction) string {
	if m, _ := x.target(); m == nil || m.Author == nil || memory.UserID(m.Author.ID) != c.Self {
		return x.Text(notMyAnswer)
	}
	return ""
}

// sources shows the sources that an answer cites.
func (c *Commands) sources(ctx context.Context, x *interaction) (response, error) {
	e, err := c.Answers.Explain(ctx, c.question(x), memory.MessageID(x.Message.ID))
	if err != nil {
		return response{}, err
	}
	cited := slices.DeleteFunc(slices.Clone(e.Recalled), func(r answer.Explained) bool { return !r.Cited })
	if len(cited) == 0 {
		return response{Content: x.Text(noSources)}, nil
	}
	slices.SortFunc(cited, func(a, b answer.Explained) int { return a.Number - b.Number })
	shown := part{heading: x.Text("**Sources of this answer**")}
	for _, r := range cited {
		shown.lines = append(shown.lines, sourceLine(x.Locale, r))
	}
	return onPages(x.Locale, 2, nil, []part{shown}), nil
}

// explainAnswer shows how an answer came about.
func (c *Commands) explainAnswer(ctx context.Context, x *interaction) (response, error) {
	e, err := c.Answers.Explain(ctx, c.question(x), memory.MessageID(x.Data.Target))
	if err != nil {
		return response{}, err
	}
	var used, dropped, lore []string
	around := 0
	for _, r := range e.Recalled {
		switch {
		case r.Number == 0 && !r.Context:
			dropped = append(dropped, sourceLine(x.Locale, r))
		case r.Number > 0 || len(r.Why) > 0 || r.Relevance > 0:
			used = append(used, sourceLine(x.Locale, r))
		default:
			around++
		}
	}
	for _, l := range e.Lore {
		lore = append(lore, loreLine(x.Locale, l))
	}
	parts := []part{{heading: x.Text("**Lore that I was shown**"), lines: lore},
		{heading: x.Text("**Recalled, and shown to me**"), lines: used},
		{heading: dropping(x.Locale, e.Trace), lines: dropped}}
	return onPages(x.Locale, 2, []string{x.Text("**How this answer came about**"), written(x.Locale, e.Trace)}, parts,
		when(around > 0, x.Count(around, "I also saw %s message around these or from the conversation.",
			"I also saw %s messages around these or from the conversation.")),
		when(len(e.Recalled)+len(e.Lore) == 0 && recalledSomething(e.Trace),
			x.Text("What I recalled for it is gone, or you may not read it.")),
		spent(x.Locale, e.Trace)), nil
}

// recalledSomething reports whether an answer may have been made from more than the question.
func recalledSomething(t memory.Trace) bool {
	switch t.Origin.Found {
	case memory.FoundNothing, memory.FoundSmallTalk:
		return false
	}
	return t.Model != "" || t.Origin.Writer == "" || t.Origin.Quotes()
}

// written says who wrote an answer, and how.
func written(l locale.Locale, t memory.Trace) string {
	by := markdown.Origin(l, t.Origin, markdown.Plain(t.Model, 60), markdown.Plain(t.Mode, 30))
	byWords := when(t.TextOnly, l.Text("Found by words only: I couldn't search by meaning."))
	return markdown.Lines(strings.Join(by, "\n"), byWords)
}

// dropping returns the heading of what was recalled and isn't in the prompt, with the reason.
func dropping(l locale.Locale, t memory.Trace) string {
	for _, s := range t.Sections {
		if s.Section == "history" && s.Why != "" {
			return l.Text("**Recalled but dropped: no room (%s)**", namedShort(l, s.Why))
		}
	}
	return l.Text("**Recalled but dropped: no room, or another says the same**")
}

// spent says how many tokens and how much time an answer took.
func spent(l locale.Locale, t memory.Trace) string {
	var uses []string
	for _, s := range t.Sections {
		if s.Tokens > 0 {
			uses = append(uses, markdown.Plain(s.Section, 30)+" "+l.Number(s.Tokens))
		}
	}
	return markdown.Lines(when(t.Tokens > 0, l.Text("-# Tokens of the prompt: %s of %s", l.Number(t.Tokens),
		l.Number(t.MaxTokens))+
		when(len(uses) > 0, " ("+strings.Join(uses, ", ")+")")),
		l.Text("-# Time: %s, of which the search took %s", seconds(t.Total), seconds(t.Search)))
}

// sourceLine shows a message that an answer was made from, as it is now.
func sourceLine(l locale.Locale, r answer.Explained) string {
	var b strings.Builder
	if r.Number > 0 {
		fmt.Fprintf(&b, "\\[%d\\] ", r.Number)
	}
	if r.Relevance > 0 {
		fmt.Fprintf(&b, "%s %.2f · ", mark(r.Relevance), r.Relevance)
	}
	if by := fmt.Sprintf("<@%d>", r.Author); r.Source.Author == by { // the name is unknown
		b.WriteString(by)
	} else {
		b.WriteString(markdown.By(l, r.Source))
	}
	if r.Source.Place != "" {
		b.WriteString(" · #" + markdown.Plain(r.Source.Place, markdown.PlaceLength))
	}
	if url := markdown.JumpURL(r.Source.Guild, r.Source.Channel, r.Source.Message); url != "" && !r.Source.Unplaced {
		fmt.Fprintf(&b, " · <t:%d:f> · %s", r.Source.Time.Unix(), jump(l, url))
	} else {
		b.WriteString(" · " + r.Source.Time.Format(l.Text("2 Jan 2006")))
	}
	if r.Changed {
		b.WriteString(" · " + l.Text("edited since"))
	}
	fmt.Fprintf(&b, "\n> %s", markdown.AsSaid(r.Text, quoteLength))
	why := make([]search.Reason, len(r.Why))
	for i, kind := range r.Why {
		why[i].Kind = kind
	}
	b.WriteString(foundBy(l, why))
	return b.String()
}

// showRecalled shows what was recalled, best first, as much as a message holds. Names and times are mentions, which the
// reader's Discord renders.
func showRecalled(x *interaction, q answer.Question, r answer.Recalled) response {
	var hits part
	for _, h := range r.Result.Hits {
		hits.lines = append(hits.lines, showHit(x.Locale, h))
	}
	return onPages(x.Locale, 1, []string{x.Text("What I'd remember for “%s”:", markdown.AsSaid(q.Text, 100)),
		when(len(hits.lines) == 0, x.Text("Nothing that you may read here."))}, []part{hits},
		when(r.Result.TextOnly, x.Text("-# Found by words only: I can't search by meaning right now.")))
}

func showHit(l locale.Locale, h search.Hit) string {
	m := h.Message
	return fmt.Sprintf("%s %.2f · <@%d>%s\n> %s%s", mark(h.Relevance), h.Relevance, m.Author, whereIs(l, m),
		markdown.AsSaid(m.Text(), quoteLength), foundBy(l, h.Why))
}

// whereIs shows a message's channel and time, and links to it; only the day if Discord doesn't have it.
func whereIs(l locale.Locale, m memory.Message) string {
	url := markdown.JumpURL(m.Guild, m.Channel, m.ID)
	if url == "" {
		return " · " + m.Time().Format(l.Text("2 Jan 2006"))
	}
	place := ""
	if m.Guild != memory.DirectGuild {
		place = fmt.Sprintf(" · <#%d>", m.Channel)
	}
	return fmt.Sprintf("%s · <t:%d:f> · %s", place, m.Time().Unix(), jump(l, url))
}

func jump(l locale.Locale, url string) string { return l.Text("[jump](<%s>)", url) }

// mark shows how relevant a hit is; the limits are the builder's.
func mark(relevance float64) string {
	switch {
	case relevance > 0.8:
		return "🔥"
	case relevance > 0.6:
		return "📝"
	}
	return "💡"
}

// shortNames are the texts for the code's short names.
var shortNames = map[string]locale.MessageKey{
	"words": locale.MessageKey("words"), "around": locale.MessageKey("its neighbours"),
	"author": locale.MessageKey("author"), "name": locale.MessageKey("name"), "time": locale.MessageKey("time"),
	"answers": locale.MessageKey("answers"), "form": locale.MessageKey("kind of answer"),
	"meaning": locale.MessageKey("meaning"), "starred": locale.MessageKey("starred"),
	"reranked": locale.MessageKey("reranked"),
	"channel":  locale.MessageKey("the channel named"), "linked": locale.MessageKey("linked"),

	string(builder.WhyCeiling): locale.MessageKey("ceiling"), string(builder.WhyBudget): locale.MessageKey("budget"),
	string(builder.WhyCount):      locale.MessageKey("count"),
	string(builder.WhyCharacters): locale.MessageKey("characters"), string(builder.WhyMode): locale.MessageKey("mode"),
}

// namedShort returns the text for a short name; an unknown name itself.
func namedShort(l locale.Locale, short string) string {
	if p, known := shortNames[short]; known {
		return l.Keyed(p)
	}
	return markdown.Plain(short, 40)
}

// foundBy says on a line of its own why something was found; "" if unknown.
func foundBy(l locale.Locale, why []search.Reason) string {
	if len(why) == 0 {
		return ""
	}
	said := make([]string, len(why))
	for i, r := range why {
		said[i] = namedShort(l, r.Kind)
		if r.Detail != "" {
			said[i] += " (" + r.Detail + ")"
		}
	}
	return "\n-# " + markdown.Plain(l.Text("found by: %s", l.List(said)), 120)
}

// showPrompt shows the prompt from what the asker may read. Nobody else sees it, and it isn't kept.
func (c *Commands) showPrompt(x *interaction, q answer.Question, r answer.Recalled) response {
	report := r.Prompt.Report
	sections := ""
	for _, use := range answer.SectionUses(report) {
		sections = markdown.Lines(sections, sectionLine(x.Locale, use))
	}
	shown := paragraphs(
		x.Text("**The prompt for “%s”**", markdown.AsSaid(q.Text, 200)),
		x.Text("It uses everything that you may read. An answer that others see too uses only what they may read as well."),
		x.Text("Mode: %s", string(r.Mode.Is)), sections,
		x.Text("**All of it**: %s of %s tokens", x.Locale.Number(report.Tokens), x.Locale.Number(report.MaxTokens)),
		when(r.Settings.Model == "" && len(c.Replies.Choices.Models) == 0,
			x.Text("-# No model is configured, so nobody reads it: I quote what was said.")),
		when(r.Result.TextOnly, x.Text("-# Found by words only: searching by meaning isn't possible at the moment.")))
	shown.Files = []markdown.File{{Name: "context.txt", Description: x.Text("The prompt, as the model would get it"),
		Data: []byte(strings.TrimRight(r.Prompt.String(), "\n") + "\n")}}
	return shown
}

// sectionLine says how many tokens a section has, and how much had no room; "" if it is empty.
func sectionLine(l locale.Locale, use memory.TraceUse) string {
	if use.Tokens == 0 && use.Dropped == 0 {
		return ""
	}
	line := l.Count(use.Tokens, "- %[2]s: %[1]s token", "- %[2]s: %[1]s tokens", use.Section)
	if use.Included > 0 {
		line += l.Count(use.Included, ", %s part", ", %s parts")
	}
	if use.Dropped > 0 {
		line += l.Text(", no room for %s more (%s)", l.Number(use.Dropped), use.Why)
	}
	return line
}
