package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/internal/answer"
	"hark/memory"
)

// whyCommand is in the menu of a message.
const whyCommand = "Why did you say that?"

const (
	notMyAnswer = "That isn't an answer of mine, so I can't say how it came about."
	noSources   = "There is nothing left of what this answer was made from that you may read."
)

// quoteLength is how much of a source is quoted, in graphemes.
const quoteLength = 160

func (c *commands) addExplaining() {
	c.tools[whyCommand] = tool{refuse: c.isntOurs, do: c.explainAnswer}
}

// isntOurs says so of a message that isn't Hark's.
func (c *commands) isntOurs(x *exchange) string {
	m := x.Data.Resolved.Messages[fmt.Sprint(int64(x.Data.Target))]
	if m == nil || m.Author == nil || memory.UserID(m.Author.ID) != c.bot.self {
		return x.text(notMyAnswer)
	}
	return ""
}

// explain is how an answer came about, as far as whoever uses the exchange may know.
func (c *commands) explain(ctx context.Context, x *exchange, id memory.MessageID) (answer.Explanation, error) {
	q := answer.Question{
		Guild: x.guild(), Channel: memory.ChannelID(x.Channel), Asker: x.who(), Roles: x.roles(), OnlyAsker: true, Now: c.bot.now(),
		Settled: func(ctx context.Context) error { return c.bot.settled(ctx, x.guild()) }, Attended: c.bot.attendance.Since,
	}
	return c.bot.answers().Explain(ctx, q, id)
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
	lines := []string{x.text("**Sources of this answer**")}
	for _, r := range cited {
		lines = append(lines, sourceLine(x.locale, r))
	}
	return paged(lines), nil
}

// explainAnswer is what the command in the menu shows.
func (c *commands) explainAnswer(ctx context.Context, x *exchange) (sheet, error) {
	e, err := c.explain(ctx, x, memory.MessageID(x.Data.Target))
	if err != nil {
		return sheet{}, err
	}
	lines := append([]string{x.text("**How this answer came about**")}, written(x.locale, e.Trace)...)
	var used, dropped []string
	around := 0
	for _, r := range e.Recalled {
		switch {
		case r.Number > 0:
			used = append(used, sourceLine(x.locale, r))
		case !r.Context:
			dropped = append(dropped, sourceLine(x.locale, r))
		case len(r.Why) > 0 || r.Relevance > 0:
			used = append(used, sourceLine(x.locale, r))
		default:
			around++
		}
	}
	lines = append(lines, part(x.text("**Recalled, and shown to me**"), used)...)
	lines = append(lines, part(dropping(x.locale, e.Trace), dropped)...)
	if around > 0 {
		lines = append(lines, x.count(around, "Besides, I had %s message around these, or from the conversation, before me.",
			"Besides, I had %s messages around these, or from the conversation, before me."))
	}
	if len(e.Recalled) == 0 {
		lines = append(lines, x.text("Nothing of what I recalled for it is left that you may read."))
	}
	return paged(append(lines, spent(x.locale, e.Trace)...)), nil
}

// part is a heading with what is under it, or nothing.
func part(heading string, lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	return append([]string{heading}, lines...)
}

// written says who wrote an answer, and how.
func written(l locale, t memory.Trace) []string {
	by := l.text("Nobody but me wrote it: no model was asked, or it didn't answer, so I quoted what I recalled.")
	switch model := plain(t.Model, 60); {
	case model != "" && t.Mode != "":
		by = l.text("Written by the model %s, in the mode “%s”.", model, plain(t.Mode, 30))
	case model != "":
		by = l.text("Written by the model %s.", model)
	}
	lines := []string{by}
	if t.TextOnly {
		lines = append(lines, l.text("Found by words only: I couldn't search by meaning."))
	}
	return lines
}

// dropping is the heading of what was recalled and isn't in the prompt: it says why.
func dropping(l locale, t memory.Trace) string {
	for _, s := range t.Sections {
		if s.Section == "history" && s.Why != "" {
			return l.text("**Recalled, and dropped: no room (%s)**", roomWord(l, s.Why))
		}
	}
	return l.text("**Recalled, and dropped: no room, or told by another already**")
}

// spent says what an answer took.
func spent(l locale, t memory.Trace) []string {
	var lines []string
	if t.Tokens > 0 {
		var uses []string
		for _, s := range t.Sections {
			if s.Tokens > 0 {
				uses = append(uses, fmt.Sprintf("%s %d", plain(s.Section, 30), s.Tokens))
			}
		}
		line := l.text("-# Tokens of the prompt: %d of %d", t.Tokens, t.MaxTokens)
		if len(uses) > 0 {
			line += " (" + strings.Join(uses, ", ") + ")"
		}
		lines = append(lines, line)
	}
	return append(lines, l.text("-# Time: %s, of which the search took %s", seconds(t.Total), seconds(t.Search)))
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
	b.WriteString(plain(r.Source.Author, 32))
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
	fmt.Fprintf(&b, "\n> %s", plain(r.Text, quoteLength))
	if len(r.Why) > 0 {
		b.WriteString(reasonWords(l, r.Why))
	}
	return b.String()
}

// paged puts lines on as few pages as they fit on. Only a line that is longer than a page is cut.
func paged(lines []string) sheet {
	var pages []string
	for _, line := range lines {
		if last := len(pages) - 1; last >= 0 && units(pages[last])+units("\n"+line) <= messageLimit {
			pages[last] += "\n" + line
		} else {
			pages = append(pages, layout(line, "", nil)...)
		}
	}
	return sheet{Content: pages[0], More: pages[1:]}
}
