package builder

import (
	"strings"

	"hark/builder/escape"
)

// Part is text for a model outside the prompt, such as a tool result. Members' text is escaped as in a
// prompt.
type Part struct {
	Text    string
	Tokens  int      // of Text
	Numbers []Number // of the history items shown, in order; none without Options.Citations
	Shown   []Shown  // the history's lines, in order
	// People and Lore count the participants and lore shown, from the first.
	People, Lore int
	Left         int // items of all kinds left out
}

// Part lays out participants, history and lore, in this order, as in a prompt but without titles, in at most
// maxTokens. It leaves out items from the end of each. Of in's other fields it uses only Now and FirstNumber.
func (b *Builder) Part(in Input, maxTokens int) Part {
	in.Mode = ModeGeneral
	in.Session = nil
	in.PreviousContext = nil
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
	w.alone = true
	w.charsCount = false
	p := Part{}
	for _, k := range []struct {
		kind  kind
		plan  func(*section, size)
		write func(*section)
	}{
		{kindParticipants, w.planParticipants, w.putPeople}, {kindHistory, w.planHistory, w.putHistory},
		{kindLore, w.planLore, w.putLore},
	} {
		s := &w.sections[k.kind]
		most := size{tokens: room - 1, chars: noLimit} // a new line
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
	p.Text = string(w.buf)
	p.Tokens = b.Tokens(p.Text)
	p.Numbers = w.numbers()
	p.Shown = w.shownLines()
	p.People = w.sections[kindParticipants].shown
	p.Lore = w.sections[kindLore].shown
	return p
}

// MessageTokens returns the tokens of a chat message, with the model's overhead for each.
func (b *Builder) MessageTokens(text string) int { return b.Tokens(text) + MessageOverhead }

// Room returns the most tokens of a prompt, the model's window (0 if unknown), and the part of it kept free
// for the answer.
func (b *Builder) Room() (prompt, window, answer int) {
	return b.options.MaxTokens, b.options.Window, b.options.Answer
}

// Layout returns the form of the prompts.
func (b *Builder) Layout() Layout { return b.options.Layout }

// SafeText returns at most that many characters of anybody's text, escaped. Its lines after the first are indented by
// two spaces, as the first has to be.
func (b *Builder) SafeText(text string, chars int) string {
	return strings.TrimSpace(string(b.escape.AppendSafe(nil, shortened(text, chars), escape.FileText)))
}

// IsHidden reports whether r can't be seen, or changes how its neighbours are seen.
func IsHidden(r rune) bool { return escape.IsHidden(r) }

// Safe returns at most that many characters of a person's text, escaped for use within a line.
func (b *Builder) Safe(text string, chars int) string {
	return strings.TrimSpace(string(b.escape.AppendSafe(nil, shortened(text, chars), escape.InLine)))
}

func (w *work) planParticipants(s *section, most size) {
	if w.plain() && (!w.alone || len(w.in.History) > 0) {
		return
	}
	s.items = len(w.in.Participants)
	s.head = w.head(kindParticipants)
	c := &w.b.costs
	for i := range w.in.Participants {
		p := &w.in.Participants[i]
		e := entry{index: i}
		name := w.name(p.Name)
		e.fixed.tokens = c.person + w.tagTokens(p.ID) + c.around + w.b.tally.of(name)
		if strings.TrimSpace(p.Data) != "" {
			e.pieces = []piece{w.measure(p.Data, 0, escape.InLine, w.b.options.DataChars)}
			e.fixed.tokens += c.data
		}
		if w.charsCount {
			w.scratch = w.appendParticipant(w.scratch[:0], p)
			e.fixed.chars = runes(w.scratch) + 1
			if len(e.pieces) > 0 {
				e.fixed.chars += runes([]byte(w.b.labels.DataMark)) + runes([]byte(w.b.labels.Data)) + 1
			}
		}
		if !w.add(s, e, most) {
			return
		}
	}
}
