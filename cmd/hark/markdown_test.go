package main

import (
	"strings"
	"testing"
)

// shownBy is a text as live shows it, in pieces of so many bytes.
func shownBy(text string, width, piece int) string {
	var b strings.Builder
	l := live{w: &b, colour: colours{bold: "<b>", off: "</b>"}, width: func() int { return width }}
	l.begin()
	for i := range text {
		if i%piece == 0 {
			l.show(text[:i])
		}
	}
	l.show(text)
	l.end()
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
			if again := strings.ReplaceAll(got, "<b>", ""); again != strings.ReplaceAll(want, "<b>", "") || strings.Contains(got, "<b>") != strings.Contains(want, "<b>") {
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
