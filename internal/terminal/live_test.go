package terminal

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
		var got strings.Builder
		l := NewLive(&got, Colours{}, func() int { return test.width })
		for range 2 { // a second answer is shown as the first
			l.Begin()
			for i := range test.pieces {
				l.Show(strings.Join(test.pieces[:i+1], ""))
			}
			l.End()
		}
		if want := test.want + test.want; got.String() != want {
			t.Errorf("%s: got %q, want %q", name, got.String(), want)
		}
	}
}

// TestLiveLosesNothing shows texts in pieces: the words are all there, and no line is too wide.
func TestLiveLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-z語é.]{1,12}`)).Draw(t, "words")
		width := rapid.IntRange(24, 40).Draw(t, "width") // no word is wider than a line
		var got strings.Builder
		l := NewLive(&got, Colours{}, func() int { return width })
		whole := []rune(strings.Join(words, " "))
		l.Begin()
		for at := 0; at < len(whole); {
			at += rapid.IntRange(1, 7).Draw(t, "piece")
			l.Show(string(whole[:min(at, len(whole))]))
		}
		l.End()
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

// shownBy is a text as live shows it, in pieces of so many bytes.
func shownBy(text string, width, piece int) string {
	var b strings.Builder
	l := NewLive(&b, Colours{Bold: "<b>", Off: "</b>"}, func() int { return width })
	l.Begin()
	for i := range text {
		if i%piece == 0 {
			l.Show(text[:i])
		}
	}
	l.Show(text)
	l.End()
	return b.String()
}

func TestMarkdownIsShownPlainly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain words, 5*3 and 2 ** 3": "plain words, 5*3 and 2 ** 3",
		"**Jane** in #dock [1]":       "<b>Jane in #dock [1]",
		"a **bold thing**, yes":       "a <b>bold thing, yes",
		"**日本**語":                     "<b>日本語",
		"> quoted\n> **b** too":       "│ quoted\n│ <b>b too",
		"*No model is configured, so I quote.*\nand *stars* stay":       "No model is configured, so I quote.\nand *stars* stay",
		"[docs](https://example.com/x) and [it](<https://example.com>)": "[docs] (https://example.com/x) and [it] (https://example.com)",
		"[this message](<https://discord.com/channels/1/2/3>)":          "[this message]",
		"a\\*b\\_c [1\\]":                "a*b_c [1]",
		"`**raw**` and `two **words**`":  "`**raw**` and `two **words**`",
		"```\n**raw** > x\n```\n**not**": "```\n**raw** > x\n```\n<b>not",
		"* item\n- **item**":             "* item\n- <b>item",
		"**never closed\nnext":           "<b>never closed\nnext",
		"":                               "",
	} {
		for _, piece := range []int{1, 3, 1000} {
			got := strings.ReplaceAll(strings.TrimSuffix(shownBy(text, 0, piece), "\n"), "</b>", "")
			if again := strings.ReplaceAll(got, "<b>", ""); again != strings.ReplaceAll(want, "<b>", "") ||
				strings.Contains(got, "<b>") != strings.Contains(want, "<b>") {
				t.Errorf("%q in pieces of %d is %q, want %q", text, piece, got, want)
			}
		}
	}
	if got := shownBy("a **bold thing** here", 0, 1000); got != "a <b>bold thing</b> </b>here</b>\n" {
		t.Errorf("bold is %q", got)
	}
	if got := shownBy("**aaaa** bb", 7, 1000); strings.Count(got, "\n") != 1 {
		t.Errorf("marks take room: %q", got)
	}
}
