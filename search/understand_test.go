package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hark/memory"
)

func TestEventIn(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		question string
		when     relation
		terms    string
	}{
		{"where did we work before the move?", beforeIt, "move"},
		{"what did Ann say after we moved to the new office?", afterIt, "move"},
		{"who sang during the harvest fair", aboutIt, "harvest fair"},
		{"what happened since our big release yesterday", aboutIt, ""},
		{"what happened before the 5th of May", aboutIt, ""},
		{"what happened before", aboutIt, ""},
		{"who came after him?", aboutIt, ""},
		{"what came before the", aboutIt, ""},
		{"what broke before the very big release", beforeIt, "big releas"},
		{"what did Ben say before lunch?", beforeIt, "lunch"},
		{"look after the dog", afterIt, "dog"},
		{"after the move who had the keys", afterIt, "move"},
	} {
		e := eventIn(c.question, now)
		if got := strings.Join(e.terms, " "); got != c.terms || got != "" && e.when != c.when {
			t.Errorf("%q: %v %q, want %v %q", c.question, e.when, got, c.when, c.terms)
		}
	}
}

func TestWithEarlier(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ö", 2*earlierRunes)
	got := withEarlier("and?", []string{"newest", long})
	if lines := strings.Split(got, "\n"); len(lines) != 3 || lines[0] != "and?" || lines[1] != "newest" ||
		utf8.RuneCountInString(lines[2]) != earlierRunes {
		t.Errorf("%q", got)
	}
	if got := withEarlier("and?", nil); got != "and?" {
		t.Errorf("%q", got)
	}
}

func TestSpokenOf(t *testing.T) {
	t.Parallel()
	answer := memory.Message{Kind: memory.FromHark,
		Content: "> the soup is salty\n— **Ana** in #kitchen, 3 May [1]\n\n*No language model is configured, " +
			"so I quote what was said.*"}
	if got := strings.TrimSpace(spokenOf(answer)); got != "> the soup is salty" {
		t.Errorf("%q", got)
	}
	answer.Kind = memory.FromMember
	if got := spokenOf(answer); got != answer.Content {
		t.Errorf("%q", got)
	}
}

func TestRarest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		counts []int
		want   int
	}{
		{nil, 0}, {[]int{1, 2, 3, 4}, 4}, {[]int{maxMatches, maxMatches, maxMatches, 0}, leastTerms},
		{[]int{1, 2, 3, maxMatches}, 3}, {[]int{1, 2, 3, maxMatches - 6}, 4},
	} {
		var q question
		for i, n := range c.counts {
			q.terms = append(q.terms, weighted{term: fmt.Sprint(i), count: n})
		}
		if got := q.rarest(); len(got) != c.want || !slices.IsSorted(got) {
			t.Errorf("%v: %v", c.counts, got)
		}
	}
}
