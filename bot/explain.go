package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/builder"
	"hark/internal/answer"
	"hark/memory"
	"hark/search"
)

// whyCommand is in the menu of a message.
const whyCommand = "Why did you say that?"

const (
	notMyAnswer = "That isn't an answer of mine, so I can't say how it came about."
	noSources   = "There is nothing left of what this answer was made from that you may read."
)

// quoteLength is how much of a source is quoted, in graphemes.
const quoteLength = 160

// isntOurs says so of a message that isn't Hark's.
func (c *commands) isntOurs(x *exchange) string {
	if m, _ := x.target(); m == nil || m.Author == nil || memory.UserID(m.Author.ID) != c.bot.self {
		return x.text(notMyAnswer)
	}
	return ""
}

// explain is how an answer came about, as far as whoever uses the exchange may know.
func (c *commands) explain(ctx context.Context, x *exchange, id memory.MessageID) (answer.Explanation, error) {
	return c.bot.answers.Explain(ctx, c.question(x), id)
}

// sources is what the button "Sources" shows: those that the answer names.
func (c *commands) sources(ctx context.Context, x *exchange) (sheet, error) {
	e, err := c.explain(ctx, x, memory.MessageID(x.Message.ID))
	if err != nil {
		return sheet{}, err
	}
	cited := slices.DeleteFunc(slices.Clone(e.Recalled), func(r answer.Explained) bool { return !r.Cited })
	if len(cited) == 0 {
		return sheet{Content: x.text(noSources)}, nil
	}
	slices.SortFunc(cited, func(a, b answer.Explained) int { return a.Number - b.Number })
	shown := part{heading: x.text("**Sources of this answer**")}
	for _, r := range cited {
		shown.lines = append(shown.lines, sourceLine(x.locale, r))
	}
	return x.onPages(2, nil, []part{shown}), nil
}

// explainAnswer is what the command in the menu shows.
func (c *commands) explainAnswer(ctx context.Context, x *exchange) (sheet, error) {
	e, err := c.explain(ctx, x, memory.MessageID(x.Data.Target))
	if err != nil {
		return sheet{}, err
	}
	var used, dropped, lore []string
	around := 0
	for _, r := range e.Recalled {
		switch {
		case r.Number == 0 && !r.Context:
			dropped = append(dropped, sourceLine(x.locale, r))
		case r.Number > 0 || len(r.Why) > 0 || r.Relevance > 0:
			used = append(used, sourceLine(x.locale, r))
		default:
			around++
		}
	}
	for _, l := range e.Lore {
		lore = append(lore, loreLine(x.locale, l))
	}
	parts := []part{{heading: x.text("**Lore that I was shown**"), lines: lore},
		{heading: x.text("**Recalled, and shown to me**"), lines: used},
		{heading: dropping(x.locale, e.Trace), lines: dropped}}
	return x.onPages(2, []string{x.text("**How this answer came about**"), written(x.locale, e.Trace)}, parts,
		when(around > 0, x.count(around, "Besides, I had %s message around these, or from the conversation, before me.",
			"Besides, I had %s messages around these, or from the conversation, before me.")),
		when(len(e.Recalled)+len(e.Lore) == 0, x.text("Nothing of what I recalled for it is left that you may read.")),
		spent(x.locale, e.Trace)), nil
}

// part is what stands under a heading, if there is one. Its last lines matter least.
type part struct {
	heading string
	lines   []string
	left    int // lines left out
}

// onPages shows head, parts and foot on so many pages at most: the last lines of the last parts are left out,
// and counted.
func (l locale) onPages(most int, head []string, parts []part, foot ...string) sheet {
	for last := len(parts) - 1; ; {
		all := slices.Clone(head)
		for _, p := range parts {
			if len(p.lines)+p.left > 0 {
				all = append(append(all, p.heading), p.lines...)
			}
			all = append(all, when(p.left > 0, l.text("-# and %s more", l.number(p.left))))
		}
		shown := paged(append(all, foot...))
		for last >= 0 && len(parts[last].lines) == 0 {
			last--
		}
		if len(shown.More) < most || last < 0 {
			return shown
		}
		p := &parts[last]
		p.lines, p.left = p.lines[:len(p.lines)-1], p.left+1
	}
}

// written says who wrote an answer, and how.
func written(l locale, t memory.Trace) string {
	by := l.text("Nobody but me wrote it: no model was asked, or it didn't answer, so I quoted what I recalled.")
	switch model := plain(t.Model, 60); {
	case model != "" && t.Mode != "":
		by = l.text("Written by the model %s, in the mode “%s”.", model, plain(t.Mode, 30))
	case model != "":
		by = l.text("Written by the model %s.", model)
	}
	return lines(by, when(t.TextOnly, l.text("Found by words only: I couldn't search by meaning.")))
}

// dropping is the heading of what was recalled and isn't in the prompt: it says why.
func dropping(l locale, t memory.Trace) string {
	for _, s := range t.Sections {
		if s.Section == "history" && s.Why != "" {
			return l.text("**Recalled, and dropped: no room (%s)**", l.named(s.Why))
		}
	}
	return l.text("**Recalled, and dropped: no room, or told by another already**")
}

// spent says what an answer took.
func spent(l locale, t memory.Trace) string {
	var uses []string
	for _, s := range t.Sections {
		if s.Tokens > 0 {
			uses = append(uses, plain(s.Section, 30)+" "+l.number(s.Tokens))
		}
	}
	return lines(when(t.Tokens > 0, l.text("-# Tokens of the prompt: %s of %s", l.number(t.Tokens),
		l.number(t.MaxTokens))+
		when(len(uses) > 0, " ("+strings.Join(uses, ", ")+")")),
		l.text("-# Time: %s, of which the search took %s", seconds(t.Total), seconds(t.Search)))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// sourceLine tells of a message that an answer was made from, as it is now.
func sourceLine(l locale, r answer.Explained) string {
	var b strings.Builder
	if r.Number > 0 {
		fmt.Fprintf(&b, "\\[%d\\] ", r.Number)
	}
	if r.Relevance > 0 {
		fmt.Fprintf(&b, "%s %.2f · ", mark(r.Relevance), r.Relevance)
	}
	if by := fmt.Sprintf("<@%d>", r.Author); r.Source.Author == by { // whose name isn't known here
		b.WriteString(by)
	} else {
		b.WriteString(plain(r.Source.Author, 32))
	}
	if r.Source.Place != "" {
		b.WriteString(" · #" + plain(r.Source.Place, 32))
	}
	if url := jumpURL(r.Source.Guild, r.Source.Channel, r.Source.Message); url != "" && !r.Source.Unplaced {
		fmt.Fprintf(&b, " · <t:%d:f> · %s", r.Source.Time.Unix(), jump(l, url))
	} else {
		b.WriteString(" · " + r.Source.Time.Format(l.text("2 Jan 2006")))
	}
	if r.Changed {
		b.WriteString(" · " + l.text("edited since"))
	}
	fmt.Fprintf(&b, "\n> %s", asSaid(r.Text, quoteLength))
	why := make([]search.Reason, len(r.Why))
	for i, kind := range r.Why {
		why[i].Kind = kind
	}
	b.WriteString(foundBy(l, why))
	return b.String()
}

// paged puts lines on as few pages as they fit on, without the empty ones. Only a line that is longer than a
// page is cut.
func paged(lines []string) sheet {
	var pages []string
	for _, line := range lines {
		switch last := len(pages) - 1; {
		case line == "":
		case last >= 0 && units(pages[last])+units("\n"+line) <= messageLimit:
			pages[last] += "\n" + line
		case units(line) <= messageLimit:
			pages = append(pages, line)
		default:
			pages = append(pages, layout(line, "", nil)...)
		}
	}
	return sheet{Content: pages[0], More: pages[1:]}
}

// fitting are the first of lines, as many as fit into room.
func fitting(lines []string, room int) []string {
	for i, line := range lines {
		if room -= units(line) + 1; room < 0 {
			return lines[:i:i]
		}
	}
	return lines
}

// showRecalled is what /context shows: what was recalled, best first, as much as a message holds. Names of
// people and channels and times are left to the reader's Discord, which knows them best.
func showRecalled(x *exchange, q answer.Question, r answer.Recalled) sheet {
	var hits part
	for _, h := range r.Result.Hits {
		hits.lines = append(hits.lines, showHit(x.locale, h))
	}
	return x.onPages(1, []string{x.text("What I'd remember for “%s”:", asSaid(q.Text, 100)),
		when(len(hits.lines) == 0, x.text("Nothing that you may read here."))}, []part{hits},
		when(r.Result.TextOnly, x.text("-# Found by words only: I can't search by meaning right now.")))
}

func showHit(l locale, h search.Hit) string {
	m := h.Message
	return fmt.Sprintf("%s %.2f · <@%d>%s\n> %s%s", mark(h.Relevance), h.Relevance, m.Author, whereIs(l, m),
		asSaid(m.Text(), quoteLength), foundBy(l, h.Why))
}

// whereIs says where a message is, when it was said, and links to it; of one that Discord doesn't have, only the day.
func whereIs(l locale, m memory.Message) string {
	url := jumpURL(m.Guild, m.Channel, m.ID)
	if url == "" {
		return " · " + m.Time().Format(l.text("2 Jan 2006"))
	}
	place := ""
	if m.Guild != memory.DirectGuild {
		place = fmt.Sprintf(" · <#%d>", m.Channel)
	}
	return fmt.Sprintf("%s · <t:%d:f> · %s", place, m.Time().Unix(), jump(l, url))
}

// jump is a link to a message.
func jump(l locale, url string) string { return l.text("[jump](<%s>)", url) }

// mark says at a glance how relevant a hit is; the limits are the builder's.
func mark(relevance float64) string {
	switch {
	case relevance > 0.8:
		return "🔥"
	case relevance > 0.6:
		return "📝"
	}
	return "💡"
}

// shortNames are words for what has a short name in the code.
var shortNames = map[string]phrase{
	"words": phrase("words"), "around": phrase("its neighbours"), "author": phrase("author"), "name": phrase("name"), "time": phrase("time"),
	"answers": phrase("answers"), "form": phrase("kind of answer"), "meaning": phrase("meaning"), "starred": phrase("starred"),
	"reranked": phrase("reranked"),

	string(builder.WhyCeiling): phrase("ceiling"), string(builder.WhyBudget): phrase("budget"), string(builder.WhyCount): phrase("count"),
	string(builder.WhyCharacters): phrase("characters"), string(builder.WhyMode): phrase("mode"),
}

// named is the word for a short name. One that isn't known is told as it is.
func (l locale) named(short string) string {
	if p, known := shortNames[short]; known {
		return l.phrase(p)
	}
	return plain(short, 40)
}

// foundBy says in words why something was found, on a line of its own; "" where that isn't known.
func foundBy(l locale, why []search.Reason) string {
	if len(why) == 0 {
		return ""
	}
	said := make([]string, len(why))
	for i, r := range why {
		said[i] = l.named(r.Kind)
		if r.Detail != "" {
			said[i] += " (" + r.Detail + ")"
		}
	}
	return "\n-# " + plain(l.text("found by: %s", l.list(said)), 120)
}

// promptFile is what the file with a prompt is called.
const promptFile = "context.txt"

// showPrompt is what /hark context shows: the prompt of what whoever asks may read, which nobody else sees
// and nothing keeps.
func (c *commands) showPrompt(x *exchange, q answer.Question, r answer.Recalled) sheet {
	report, sections := r.Prompt.Report, ""
	for _, use := range answer.SectionUses(report) {
		sections = lines(sections, sectionLine(x.locale, use))
	}
	shown := paragraphs(
		x.text("**The prompt for “%s”**", asSaid(q.Text, 200)),
		x.text("Of all that you may read: in an answer that others read there is only what they may read, too."),
		x.text("Mode: %s", string(r.Mode.Is)), sections,
		x.text("**All of it**: %s of %s tokens", x.locale.number(report.Tokens), x.locale.number(report.MaxTokens)),
		when(r.Settings.Model == "" && len(c.bot.cfg.Choices.Models) == 0,
			x.text("-# No model is configured, so nobody reads it: I quote what was said.")),
		when(r.Result.TextOnly, x.text("-# Found by words only: searching by meaning isn't possible at the moment.")))
	shown.Files = []upload{{name: promptFile, description: x.text("The prompt, as the model would get it"),
		data: []byte(strings.TrimRight(r.Prompt.String(), "\n") + "\n")}}
	return shown
}

// sectionLine says what a section takes, and how much of it there was no room for; "" if it isn't there.
func sectionLine(l locale, use memory.TraceUse) string {
	if use.Tokens == 0 && use.Dropped == 0 {
		return ""
	}
	line := l.count(use.Tokens, "- %[2]s: %[1]s token", "- %[2]s: %[1]s tokens", use.Section)
	if use.Included > 0 {
		line += l.count(use.Included, ", %s part", ", %s parts")
	}
	if use.Dropped > 0 {
		line += l.text(", no room for %s more (%s)", l.number(use.Dropped), use.Why)
	}
	return line
}
