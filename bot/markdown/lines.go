package markdown

import "strings"

// Lines are texts, one a line, without the empty ones.
func Lines(texts ...string) string {
	var all []string
	for _, t := range texts {
		if t != "" {
			all = append(all, t)
		}
	}
	return strings.Join(all, "\n")
}
