package builder

import "strings"

// Boundary is where a section stands in a prompt: the bytes from Start to End of a message's content, the section's
// title included, the empty lines round it not. The heading that stands over all that was recalled belongs to
// SectionPreviousContext. In the chat layout each turn is a section of its own.
type Boundary struct {
	Type       SectionType
	Message    int // the index in Prompt.Messages
	Start, End int
}

// section begins a section at the end of buf; it ends where the next one or its message does.
func (w *work) section(t SectionType) {
	start := len(w.buf)
	if len(w.ends) > 0 {
		start -= w.ends[len(w.ends)-1]
	}
	w.bounds = append(w.bounds, Boundary{Type: t, Message: len(w.ends), Start: start})
}

// boundaries are where the sections of the messages stand.
func (w *work) boundaries(messages []ChatMessage) []Boundary {
	all := make([]Boundary, len(w.bounds))
	for i, b := range w.bounds {
		text := messages[b.Message].Content
		if i+1 < len(w.bounds) && w.bounds[i+1].Message == b.Message {
			text = text[:w.bounds[i+1].Start]
		}
		b.End = b.Start + len(strings.TrimRight(text[b.Start:], "\n"))
		all[i] = b
	}
	return all
}

// Layout is the form that the prompt has.
func (p Prompt) Layout() Layout { return p.layout }

// Join is the whole prompt that messages of this layout make, as Prompt.String.
func (l Layout) Join(messages []ChatMessage) string {
	var b strings.Builder
	for i, m := range messages {
		if i > 0 {
			b.WriteString("\n\n")
		}
		if l == LayoutChat {
			b.WriteString("[" + m.Role + "]\n")
		}
		b.WriteString(m.Content)
	}
	return b.String()
}
