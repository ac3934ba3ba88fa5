package builder

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// The fast path and the slow one agree, and what comes out of either is one text, which looks like nothing else and
// can be read.
func FuzzEscape(f *testing.F) {
	for _, text := range injections(f) {
		f.Add(text)
	}
	b := newBuilder(f, Options{Citations: true})
	guard := newGuard(DefaultLabels(), true)
	f.Fuzz(func(t *testing.T, text string) {
		r := &reader{failer: t, b: b}
		for _, how := range []*block{inLine, bareLine, indented, bareText, answerText, ownText, nameInLine, bareName} {
			got := string(b.escape.appendSafe(nil, text, how))
			if !utf8.ValidString(got) {
				t.Fatalf("%q became %q", text, got)
			}
			if b.escape.isSafe(text, how) && text == strings.TrimSpace(text) && got != text {
				t.Fatalf("%q is said to be safe and became %q", text, got)
			}
			visible(t, got)
			if lines := splitLines(strings.ReplaceAll(got, how.newline, "")); len(lines) > 1 {
				t.Fatalf("%q became %q", text, got)
			}
			if how.newline == " " {
				continue // a name: there is no telling its lines apart, and they begin none
			}
			if !how.operator {
				for i, line := range strings.Split(got, how.newline) {
					starts := i > 0 && how.newline[0] == '\n' || i == 0 && how.bare
					if err := guard.check(line, starts); err != nil {
						t.Fatalf("%q became %q: %v", text, got, err)
					}
				}
			}
			if got != "" {
				r.legible("text", got, strings.TrimSpace(text), how)
			}
		}
	})
}

// wordLabels have no emoji, and signs that members' lists have too.
func wordLabels() Labels {
	l := DefaultLabels()
	l.Participants, l.History, l.Earlier, l.Condensed, l.Lore = "## People", "## History", "## Earlier",
		"## Before", "§§ Lore"
	l.Person, l.DataMark, l.Neighbour, l.EarlierMark, l.More, l.MoreOne = "- ", "  - ", "  | ", "", "%d more", "1 more"
	l.High, l.Medium, l.Low, l.Involved, l.Recent, l.Starred = "", "", "", "", "", "*"
	return l
}

// keeps checks that each line of small is in large, and, unless that has room for more of them, no shorter.
func keeps(t failer, small, large Prompt) {
	t.Helper()
	if len(small.Shown) > len(large.Shown) {
		t.Errorf("%d lines, with more room %d", len(small.Shown), len(large.Shown))
		return
	}
	for i, s := range small.Shown {
		l := large.Shown[i]
		if l.Item != s.Item || l.Message != s.Message {
			t.Errorf("message %d stands where %d was", l.Message, s.Message)
		}
		if l.Fraction < s.Fraction && len(small.Shown) == len(large.Shown) {
			t.Errorf("%v of message %d, with more room %v", s.Fraction, s.Message, l.Fraction)
		}
	}
}
