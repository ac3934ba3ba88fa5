package bot

import (
	"strings"
)

// lines are texts, one a line, without the empty ones.
func lines(texts ...string) string {
	var all []string
	for _, t := range texts {
		if t != "" {
			all = append(all, t)
		}
	}
	return strings.Join(all, "\n")
}

// when is a text if something holds; "" otherwise.
func when(holds bool, text string) string {
	if !holds {
		return ""
	}
	return text
}
