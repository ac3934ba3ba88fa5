package main

import (
	"fmt"
	"hark/internal/terminal"
	"io"
	"strings"
)

// indent indents a text below its heading.
func indent(text string) string {
	return "        " + strings.ReplaceAll(terminal.Printable(text), "\n", "\n        ")
}

// printHit prints something that was found under a heading, and why.
func printHit(w io.Writer, heading, text string, why []string) {
	fmt.Fprintf(w, "%s\n%s\n", heading, indent(text))
	if len(why) > 0 {
		fmt.Fprintf(w, "        (%s)\n", terminal.Printable(strings.Join(why, "; ")))
	}
}
