package stream

import (
	"slices"
	"strings"
)

// blanks may stand before and after a heading on its line.
const blanks = " \t\r"

// headingAt returns the length of the line that text begins with if it is one of headings and nothing else; may: it
// takes more text to tell.
func headingAt(text string, headings []string) (length int, may bool) {
	if len(headings) == 0 {
		return 0, false
	}
	line, _, ended := strings.Cut(text, "\n")
	if ended {
		if isHeading(line, headings) {
			return len(line) + len("\n"), false
		}
		return 0, false
	}
	begun := strings.TrimLeft(line, blanks)
	if len(line)-len(begun) > longestSpace {
		return 0, false
	}
	for _, heading := range headings {
		after, whole := strings.CutPrefix(begun, heading)
		after = strings.TrimLeft(after, blanks)
		if strings.HasPrefix(heading, begun) || whole && after == "" && len(line) < longestOpening {
			return 0, true
		}
	}
	return 0, false
}

// isHeading reports whether a line is one of headings.
func isHeading(line string, headings []string) bool {
	return slices.Contains(headings, strings.Trim(line, blanks))
}
