package bot

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/answer"
	"hark/memory"

	"pgregory.net/rapid"
)

// Whatever was found, a page is no longer than Discord takes, and all that it shows can be told apart.
func TestPagesFit(t *testing.T) {
	t.Parallel()
	languages := []string{"", "de", "fr", "es", "ja", "zh-TW"}
	rapid.Check(t, func(t *rapid.T) {
		l := localeOf(rapid.SampledFrom(languages).Draw(t, "language"))
		text := func(label string) string {
			return strings.Repeat(rapid.SampledFrom([]string{"a", "*", "👨‍👩‍👧‍👦", "é\u0301\u0301\u0301",
				"long word ", "<@1>"}).Draw(t, label), rapid.IntRange(0, 2000).Draw(t, label+"s"))
		}
		p := page{heading: heading(l, text("question")), id: 1 << 62, words: rapid.Bool().Draw(t, "words"),
			all: rapid.IntRange(1, mostFound).Draw(t, "all")}
		p.at = rapid.IntRange(0, pagesOf(p.all)-1).Draw(t, "page")
		for range rapid.IntRange(0, foundPerPage).Draw(t, "seen") {
			m := memory.Message{ID: 1<<63 - 1, Guild: 1<<63 - 1, Channel: 1<<63 - 1, Author: 1<<63 - 1,
				Content: text("text")}
			p.seen = append(p.seen, answer.Seen{Relevance: 0.9, Message: m, Before: &m})
		}
		shown := p.sheet(l)
		if n := units(shown.Content); n > messageLimit {
			t.Fatalf("%d units", n)
		}
		var ids []string
		for _, row := range shown.Components {
			for _, b := range row.Components {
				if len(b.CustomID) > idLimit || slices.Contains(ids, b.CustomID) {
					t.Fatalf("the id %q", b.CustomID)
				}
				ids = append(ids, b.CustomID)
			}
		}
	})
}

// Of very many searches the one that was looked at longest ago isn't known any more, and none for longer than
// it may be.
func TestFindsAreBounded(t *testing.T) {
	t.Parallel()
	f, now, who := newFinds(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), membership{1, 2}
	for i := range findsMost + 1 {
		f.put(snowflake(i+1), &discovery{membership: who, at: now.Add(time.Duration(i) * time.Millisecond)})
		f.get(1, who, now.Add(time.Duration(i)*time.Millisecond))
	}
	if len(f.list) != findsMost || f.list[1] == nil || f.list[2] != nil {
		t.Errorf("%d are known", len(f.list))
	}
	if f.get(3, membership{1, 3}, now) != nil || f.get(3, membership{2, 2}, now) != nil || f.get(3, who, now) == nil {
		t.Error("it isn't known to whoever searched")
	}
	f.put(9999, &discovery{membership: who, at: now.Add(2 * findsKept)})
	if len(f.list) != 1 {
		t.Errorf("%d are known much later", len(f.list))
	}
}
