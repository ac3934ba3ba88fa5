package command

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/answer"
	"hark/memory"
)

// Whatever was found, a page is no longer than Discord takes, and all that it shows can be told apart.
func TestPagesFit(t *testing.T) {
	t.Parallel()
	languages := []string{"", "de", "fr", "es", "ja", "zh-TW"}
	rapid.Check(t, func(t *rapid.T) {
		l := locale.Of(rapid.SampledFrom(languages).Draw(t, "language"))
		text := func(label string) string {
			return strings.Repeat(rapid.SampledFrom([]string{"a", "*", "👨‍👩‍👧‍👦", "é\u0301\u0301\u0301",
				"long word ", "<@1>"}).Draw(t, label), rapid.IntRange(0, 2000).Draw(t, label+"s"))
		}
		p := page{heading: heading(l, text("question")), id: 1 << 62, words: rapid.Bool().Draw(t, "words"),
			all: rapid.IntRange(1, mostFound).Draw(t, "all"), below: rapid.IntRange(0, mostFound).Draw(t, "below")}
		p.at = rapid.IntRange(0, pagesOf(p.all)-1).Draw(t, "page")
		for range rapid.IntRange(0, foundPerPage).Draw(t, "seen") {
			m := memory.Message{ID: 1<<63 - 1, Guild: 1<<63 - 1, Channel: 1<<63 - 1, Author: 1<<63 - 1,
				Content: text("text")}
			p.seen = append(p.seen, answer.InspectedMessage{Relevance: 0.9, Message: m, Before: &m})
		}
		shown := p.response(l)
		if n := markdown.Units(shown.Content); n > markdown.MessageLimit {
			t.Fatalf("%d units", n)
		}
		var ids []string
		for _, row := range shown.Components {
			for _, b := range row.Components {
				if len(b.CustomID) > 100 || slices.Contains(ids, b.CustomID) {
					t.Fatalf("the id %q", b.CustomID)
				}
				ids = append(ids, b.CustomID)
			}
		}
	})
}
