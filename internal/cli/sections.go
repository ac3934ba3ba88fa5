package cli

import (
	"fmt"
	"io"
	"strings"

	"hark/internal/terminal"
	"hark/memory"
)

// PrintSections prints a line for each section: tokens, items, and its place in p.
func PrintSections(w io.Writer, indent string, uses []memory.TraceUse, p memory.Prompt) {
	fmt.Fprintf(w, "%s%-18s %6s %6s %7s %5s %5s %8s  %s\n", indent, "section", "tokens", "floor", "ceiling",
		"items", "cut", "left out", "why, where")
	for _, u := range uses {
		line := fmt.Sprintf("%s%-18s %6d %6d %7d %5d %5d %8d  %-10s %s", indent, terminal.OneLine(u.Section), u.Tokens,
			u.Floor, u.Ceiling, u.Included, u.Cut, u.Dropped, terminal.OneLine(u.Why), whereIs(u.Section, p))
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// whereIs returns a section's place in a prompt; "" if it has none.
func whereIs(section string, p memory.Prompt) string {
	var at []memory.Boundary
	for _, b := range p.Boundaries {
		if b.Section == section {
			at = append(at, b)
		}
	}
	switch len(at) {
	case 0:
		return ""
	case 1:
		first, last := linesOf(at[0], p)
		return fmt.Sprintf("message %d, lines %d–%d, bytes %d–%d", at[0].Message+1, first, last, at[0].Start,
			at[0].End)
	}
	return fmt.Sprintf("messages %d–%d", at[0].Message+1, at[len(at)-1].Message+1)
}

// linesOf returns a section's first and last line in its message, from 1 on.
func linesOf(b memory.Boundary, p memory.Prompt) (first, last int) {
	text := p.Messages[b.Message].Content
	first = 1 + strings.Count(text[:b.Start], "\n")
	return first, first + strings.Count(text[b.Start:b.End], "\n")
}

// PrintCalls prints a line for each call of a tool.
func PrintCalls(w io.Writer, calls []memory.TraceCall) {
	for _, c := range calls {
		fmt.Fprintf(w, "  round %d: %s, %s, %s, %s, %d ms\n", c.Round, terminal.OneLine(c.Tool),
			terminal.OneLine(c.Outcome), terminal.Plural(c.Shown, "message"), terminal.Plural(c.Tokens, "token"),
			c.Took.Milliseconds())
	}
}

// Section is a section as --json prints it.
type Section struct {
	Section  string     `json:"section"`
	Tokens   int        `json:"tokens"`
	Floor    int        `json:"floor"`
	Ceiling  int        `json:"ceiling"`
	Included int        `json:"included"`
	Cut      int        `json:"cut"`
	Dropped  int        `json:"dropped"`
	Why      string     `json:"why,omitempty"`
	At       []Position `json:"at,omitempty"` // where it stands; in the chat layout each turn by itself
}

// Position is a range of a message: bytes from start to end, and lines from 1 on.
type Position struct {
	Message   int `json:"message"` // from 0, as in messages
	Start     int `json:"start"`
	End       int `json:"end"`
	FirstLine int `json:"first_line"`
	LastLine  int `json:"last_line"`
}

// Sections returns what PrintSections prints, for JSON.
func Sections(uses []memory.TraceUse, p memory.Prompt) []Section {
	out := make([]Section, len(uses))
	for i, u := range uses {
		out[i] = Section{
			Section:  u.Section,
			Tokens:   u.Tokens,
			Floor:    u.Floor,
			Ceiling:  u.Ceiling,
			Included: u.Included,
			Cut:      u.Cut,
			Dropped:  u.Dropped,
			Why:      u.Why,
		}
		for _, b := range p.Boundaries {
			if b.Section == u.Section {
				first, last := linesOf(b, p)
				out[i].At = append(out[i].At, Position{b.Message, b.Start, b.End, first, last})
			}
		}
	}
	return out
}
