package builder

import (
	"slices"
	"strings"

	"hark/builder/escape"
)

// Headings returns the headings that a prompt has, a line each, without space round them. Small models repeat them.
// Package escape keeps members' texts from having such lines.
func (b *Builder) Headings(p Prompt) (found []string) {
	known := b.labels.headings()
	for _, m := range p.Messages {
		for _, line := range escape.SplitLines(m.Content) {
			heading := strings.TrimSpace(line)
			if slices.Contains(known, line) && !slices.Contains(found, heading) {
				found = append(found, heading)
			}
		}
	}
	return found
}
