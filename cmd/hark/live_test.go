package main

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

func TestLiveBreaksBetweenWords(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		width  int
		pieces []string
		want   string
	}{
		"fits":              {20, []string{"It is here."}, "It is here.\n"},
		"breaks":            {10, []string{"It is here, I think."}, "It is \nhere, I \nthink.\n"},
		"word in pieces":    {10, []string{"It is he", "re, I th", "ink."}, "It is \nhere, I \nthink.\n"},
		"own lines":         {10, []string{"a\n\nb", "\n"}, "a\n\nb\n\n"},
		"long word":         {4, []string{"a abcdefghij b"}, "a \nabcdefghij b\n"},
		"ideographs":        {6, []string{"日本語の", "テキスト"}, "日本語\nのテキ\nスト\n"},
		"width unknown":     {0, []string{"It is here, I think."}, "It is here, I think.\n"},
		"nothing":           {10, nil, "\n"},
		"what drives a tty": {20, []string{"a\x1b[2Jb\u202ec"}, "a\uFFFD[2Jb\uFFFDc\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got buffer
			l := live{w: &got, width: func() int { return test.width }}
			for range 2 { // a second answer is shown as the first
				l.begin()
				text := ""
				for _, piece := range test.pieces {
					text += piece
					l.show(text)
				}
				l.end()
			}
			if want := test.want + test.want; got.String() != want {
				t.Errorf("got %q, want %q", got.String(), want)
			}
		})
	}
}

// TestLiveLosesNothing shows texts in pieces: the words are all there, and no line is too wide.
func TestLiveLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-z語é.]{1,12}`)).Draw(t, "words")
		width := rapid.IntRange(24, 40).Draw(t, "width") // no word is wider than a line
		var got buffer
		l := live{w: &got, width: func() int { return width }}
		whole := []rune(strings.Join(words, " "))
		l.begin()
		for at := 0; at < len(whole); {
			at += rapid.IntRange(1, 7).Draw(t, "piece")
			l.show(string(whole[:min(at, len(whole))]))
		}
		l.end()
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if squeeze(got.String()) != squeeze(string(whole)) {
			t.Fatalf("%q became %q", string(whole), got.String())
		}
		for line := range strings.Lines(got.String()) {
			if line = strings.TrimRight(line, " \n"); uniseg.StringWidth(line) > width {
				t.Fatalf("%q is wider than %d", line, width)
			}
		}
	})
}
