package builder

import (
	"hark/builder/escape"
	"strings"
)

// Part is a piece of a talk with a model beside the prompt: what a tool tells it. What members wrote in it is
// treated as in a prompt.
type Part struct {
	Text    string
	Tokens  int      // of Text
	Numbers []Number // of the history items shown, in order; none without Options.Citations
	Shown   []Shown  // the history's lines, in order
	// People and Lore are how many of the participants and of the lore are there: the first.
	People, Lore int
	Left         int // how many items of all kinds aren't there
}

// Part lays in's participants, history and lore out, in this order, as in a prompt but without titles, in at
// most so many tokens. Items are left out from the end of each; in's other fields but Now and FirstNumber
// don't matter.
func (b *Builder) Part(in Input, maxTokens int) Part {
	in.Mode, in.Session, in.PreviousContext = ModeGeneral, nil, nil
	for room := maxTokens; room > 0; {
		p := b.part(in, room)
		if p.Tokens <= maxTokens {
			return p
		}
		room -= p.Tokens - maxTokens
	}
	return Part{Left: len(in.Participants) + len(in.History) + len(in.Lore)}
}

func (b *Builder) part(in Input, room int) Part {
	w := b.begin(in)
	w.alone, w.charsCount = true, false
	p := Part{}
	for _, k := range []struct {
		kind  kind
		plan  func(*section, size)
		write func(*section)
	}{
		{kindParticipants, w.planParticipants, w.putPeople}, {kindHistory, w.planHistory, w.putHistory},
		{kindLore, w.planLore, w.putLore},
	} {
		s, most := &w.sections[k.kind], size{tokens: room - 1, chars: noLimit} // a new line
		k.plan(s, most)
		w.fill(s, most)
		p.Left += s.items - s.shown
		if s.shown == 0 {
			continue
		}
		if len(w.buf) > 0 {
			w.buf = append(w.buf, '\n')
		}
		k.write(s)
		room -= s.used.tokens + 1
	}
	history := &w.sections[kindHistory]
	p.Text = string(w.buf)
	p.Tokens, p.Numbers, p.Shown = b.Tokens(p.Text), w.numbers(history), w.shownLines(history)
	p.People, p.Lore = w.sections[kindParticipants].shown, w.sections[kindLore].shown
	return p
}

// Tokens is how many tokens a text has.
func (b *Builder) Tokens(text string) int { return b.tally.of([]byte(text)) }

// MessageTokens is how many tokens a message of a talk with a model has, with what a model adds to each.
func (b *Builder) MessageTokens(text string) int { return b.Tokens(text) + MessageOverhead }

// Room is how many tokens a prompt may have at most, the model's window, 0 if it isn't known, and how much of
// that is kept free for the answer.
func (b *Builder) Room() (prompt, window, answer int) {
	return b.options.MaxTokens, b.options.Window, b.options.Answer
}

// Layout is the form of the prompts.
func (b *Builder) Layout() Layout { return b.options.Layout }

// Safe is what somebody wrote as it may stand within a line of a talk with a model, at most so many
// characters of it.
func (b *Builder) Safe(text string, chars int) string {
	if at := runeOffset(text, chars); at < len(text) {
		text = text[:cutAt(text, chars-1)] + ellipsis
	}
	return strings.TrimSpace(string(b.escape.AppendSafe(nil, text, escape.InLine)))
}
