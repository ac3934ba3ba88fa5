package cli

import (
	"fmt"
	"io"
	"strings"

	"hark/internal/exports"
	"hark/internal/terminal"
)

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
