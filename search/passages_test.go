package search

import (
	"slices"
	"strings"
	"testing"
)

func TestPassages(t *testing.T) {
	t.Parallel()
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	for _, c := range []struct {
		body string
		want []int // words of each passage
	}{
		{"", []int{0}},
		{words(80), []int{80}},
		{words(81), []int{80, 1}},
		{words(30) + ". " + words(40) + ". " + words(30) + ".", []int{70, 30}},
		{words(30) + "! " + words(100), []int{30, 80, 20}},
		{words(60) + "\n\n" + words(60) + "? " + words(70), []int{60, 60, 70}},
		{words(170) + ". " + words(1), []int{80, 80, 11}},
	} {
		got := passages(nil, c.body)
		var n []int
		for _, p := range got {
			n = append(n, len(strings.Fields(p)))
		}
		if !slices.Equal(n, c.want) || strings.Join(got, "") != c.body {
			t.Errorf("%q is cut into %d words, want %d", c.body, n, c.want)
		}
	}
}
