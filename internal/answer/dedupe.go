package answer

import (
	"slices"
	"strings"

	"hark/search"
)

// Messages count as repeated where something else has this much of them word for word.
const (
	quotedLeast = 20
	quotedMost  = 150 // characters of a message that are compared
	quotedHits  = 5   // so many have room in any prompt
)

// dedupe removes hits with the words of a better hit, and summaries and lore that quote one: the plain layout
// has no room to say it twice.
func (r *recalled) dedupe() {
	var said []string
	r.result.Hits = slices.DeleteFunc(slices.Clone(r.result.Hits), func(h search.Hit) bool {
		words := oneLine(h.Message.Text(), quotedMost)
		twice := len(words) >= quotedLeast && slices.Contains(said, words)
		said = append(said, words)
		return twice
	})
	quotes := func(s string) bool {
		s = strings.Join(strings.Fields(s), " ")
		return slices.ContainsFunc(said[:min(len(said), quotedHits)], func(words string) bool {
			return len(words) >= quotedLeast && strings.Contains(s, words)
		})
	}
	r.summaries = slices.DeleteFunc(slices.Clone(r.summaries), func(h search.SummaryHit) bool {
		return quotes(h.Summary.Text)
	})
	r.result.Lore = slices.DeleteFunc(slices.Clone(r.result.Lore), func(h search.LoreHit) bool {
		return quotes(h.Lore.Text)
	})
}
