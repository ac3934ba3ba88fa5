package cli

import (
	"fmt"
	"io"
	"strings"

	"hark/builder"
	"hark/internal/exports"
	"hark/internal/terminal"
	"hark/memory"
)

// MinuteLayout is the layout of printed times.
const MinuteLayout = "2006-01-02 15:04"

// Indent indents a text below its heading.
func Indent(text string) string {
	return "        " + strings.ReplaceAll(terminal.Printable(text), "\n", "\n        ")
}

// PrintHit prints something that was found under a heading, and why.
func PrintHit(w io.Writer, heading, text string, why []string) {
	fmt.Fprintf(w, "%s\n%s\n", heading, Indent(text))
	if len(why) > 0 {
		fmt.Fprintf(w, "        (%s)\n", terminal.Printable(strings.Join(why, "; ")))
	}
}

// Relevance returns a relevance as it is printed in front of a result.
func Relevance(labels builder.Labels, relevance float64) string {
	return fmt.Sprintf("%s %.2f  ", labels.Relevance(relevance), relevance)
}

// NameOf returns somebody's name and id.
func NameOf(id memory.UserID, people []memory.Person) string {
	for _, p := range people {
		if p.DisplayName() != "" {
			return fmt.Sprintf("%s (%d)", terminal.OneLine(p.DisplayName()), id)
		}
	}
	return id.String()
}

// List joins names with commas.
func List[T ~string](names []T) string { return strings.Join(Strings(names), ", ") }

// Strings converts names to strings.
func Strings[T ~string](names []T) []string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = string(n)
	}
	return all
}

// PrintJSON prints v for people and machines: what could drive a terminal is escaped, as JSON allows.
func PrintJSON(w io.Writer, v any) error {
	var text strings.Builder
	e := exports.NewEncoder(&text)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	var safe strings.Builder
	for _, r := range text.String() {
		if r != '\n' && terminal.Unprintable(r) {
			fmt.Fprintf(&safe, "\\u%04x", r)
			continue
		}
		safe.WriteRune(r)
	}
	_, err := io.WriteString(w, safe.String())
	return err
}
