package manifest

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// notations are texts as models write them, where 1 to 3 are known, and what becomes of them.
var notations = []struct{ text, want string }{
	{"Due on Friday【1】.", "Due on Friday[1]."},
	{"Due on Friday［1］.", "Due on Friday[1]."},
	{"Due on Friday［１］.", "Due on Friday[1]."},
	{"Due on Friday 〔2〕.", "Due on Friday [2]."},
	{"Due on Friday【1†x】.", "Due on Friday[1]."},
	{"Due on Friday【1†source】【2†L3-L5】.", "Due on Friday[1][2]."},
	{"Due on Friday【1:0†source】.", "Due on Friday[1]."},
	{"Due on Friday【1†source, 3†source】.", "Due on Friday[1][3]."},
	{"Due on Friday [1†x].", "Due on Friday [1]."},
	{"Due on Friday [^1].", "Due on Friday [1]."},
	{"Due on Friday [^1^].", "Due on Friday [1]."},
	{"Due on Friday[^1][^3].", "Due on Friday[1][3]."},
	{"Due on Friday [#1].", "Due on Friday [1]."},
	{"Due on Friday [#1, #2].", "Due on Friday [1][2]."},
	{"Due on Friday [source 1].", "Due on Friday [1]."},
	{"Due on Friday [Source: 1].", "Due on Friday [1]."},
	{"Due on Friday [sources 1, 2].", "Due on Friday [1][2]."},
	{"Due on Friday [Sources: 1 and 2].", "Due on Friday [1][2]."},
	{"Due on Friday [Source 1, Source 3].", "Due on Friday [1][3]."},
	{"Due on Friday [Source #2].", "Due on Friday [2]."},
	{"Due on Friday [source_1].", "Due on Friday [1]."},
	{"Due on Friday [cite: 1, 2].", "Due on Friday [1][2]."},
	{"Due on Friday [citation:3].", "Due on Friday [3]."},
	{"Due on Friday [ref. 1].", "Due on Friday [1]."},
	{"Due on Friday [message 2].", "Due on Friday [2]."},
	{"Am Freitag [Quelle 1].", "Am Freitag [1]."},
	{"金曜日です【出典1】。", "金曜日です[1]。"},
	{"Due on Friday (source 1).", "Due on Friday [1]."},
	{"Due on Friday (Sources: 1, 3).", "Due on Friday [1][3]."},
	{"Due on Friday [1-2].", "Due on Friday [1][2]."},
	{"Due on Friday [1–3].", "Due on Friday [1][2][3]."},
	{"Due on Friday [1]–[3].", "Due on Friday [1]–[3]."},
	{"Due on Friday [1 to 3].", "Due on Friday [1][2][3]."},
	{"Due on Friday [1, 2–3].", "Due on Friday [1][2][3]."},
	{"Due on Friday [1、3].", "Due on Friday [1][3]."},
	{"Due on Friday [1; 2].", "Due on Friday [1][2]."},
	{"Due on Friday [1 & 2].", "Due on Friday [1][2]."},
	{"Due on Friday [ 1 ].", "Due on Friday [1]."},
	{"Due on Friday [ 1, 2 ].", "Due on Friday [1][2]."},
	{`Due on Friday \[1\].`, "Due on Friday [1]."},
	{`Due on Friday \[1, 2\].`, "Due on Friday [1][2]."},
	{"Due on Friday [[1]].", "Due on Friday [1]."},
	{"Due on Friday [[1], [2]].", "Due on Friday [1][2]."},
	{"Due on Friday [[1, 2]].", "Due on Friday [1][2]."},
	{"Due on Friday 【【1】】.", "Due on Friday [1]."},
	{"Due on Friday [**1**].", "Due on Friday [1]."},
	{"Due on Friday **[1]**.", "Due on Friday **[1]**."},
	{"Due on Friday <sup>1</sup>.", "Due on Friday [1]."},
	{"Due on Friday <sup>[1]</sup>.", "Due on Friday [1]."},
	{"Due on Friday ^[1].", "Due on Friday [1]."},
	{"Due on Friday [¹].", "Due on Friday [1]."},
	{"Due on Friday.\nSources: 1, 2", "Due on Friday.\nSources: [1][2]"},
	{"Due on Friday. Source: 1.", "Due on Friday. Source: [1]."},
	{"Due on Friday (see [1]).", "Due on Friday (see [1])."},
	{"Due on Friday [see [1]].", "Due on Friday [see [1]]."},

	// Of a list, the known numbers stay.
	{"Due on Friday【1, 9】.", "Due on Friday[1]."},
	{"Due on Friday [^9, ^2].", "Due on Friday [2]."},

	// Addresses of the model's own.
	{"Due on Friday [1](https://example.org).", "Due on Friday [1]."},
	{"Due on Friday [1](<https://example.org/a b>).", "Due on Friday [1]."},
	{"Due on Friday [1] (https://example.org).", "Due on Friday [1]."},
	{`Due on Friday [1](https://example.org "a title").`, "Due on Friday [1]."},
	{"Due on Friday [1](https://example.org/a_(b)/c).", "Due on Friday [1]."},
	{"Due on Friday [1](http://localhost:80/x?y=1#z).", "Due on Friday [1]."},
	{"Due on Friday [1](mailto:jane@example.org).", "Due on Friday [1]."},
	{"Due on Friday [1](example.org/x).", "Due on Friday [1]."},
	{"Due on Friday [1](example.org).", "Due on Friday [1]."},
	{"Due on Friday [1](#source-1).", "Due on Friday [1]."},
	{"Due on Friday [1]().", "Due on Friday [1]."},
	{"Due on Friday [1]<https://example.org>.", "Due on Friday [1]."},
	{"Due on Friday ［1］（https://example.org）.", "Due on Friday [1]."},
	{"Due on Friday 【1】(https://example.org).", "Due on Friday [1]."},
	{`Due on Friday [\[1\]](<https://discord.com/channels/1/2/3>).`, "Due on Friday [1]."},
	{"Due on Friday [[1](https://example.org)].", "Due on Friday [1]."},
	{"Due on Friday [[1]](https://example.org).", "Due on Friday [1]."},
	{"Due on Friday ([1](https://example.org), [2](https://example.org)).", "Due on Friday ([1], [2])."},
	{"Due on Friday [source 1](https://example.org).", "Due on Friday [1]."},
	{"Due on Friday [1, 2](https://example.org).", "Due on Friday [1][2]."},
	{"Due on Friday [^1](https://example.org).", "Due on Friday [1]."},
	{"Due on Friday [1](as Jane said).", "Due on Friday [1](as Jane said)."},

	// Definitions.
	{"Due on Friday [1].\n\n[1]: https://example.org", "Due on Friday [1]."},
	{"Due on Friday [1].\n\n[1]: <https://example.org> \"A title\"\n[2]: https://example.org\n",
		"Due on Friday [1]."},
	{"Due on Friday [1].\n\nSources:\n[1]: https://example.org", "Due on Friday [1]."},
	{"Due on Friday [1].\n\n**Sources**\n- [1] https://example.org\n- [9] https://example.org", "Due on Friday [1]."},
	{"Due on Friday [1].\n[1]:\n    https://example.org\nBye.", "Due on Friday [1].\nBye."},
	{"Due on Friday [^1].\n\n[^1]: https://example.org", "Due on Friday [1]."},
	{"Due on Friday [^1].\n\n[^1]: Jane, on Monday", "Due on Friday [1].\n\n[1]: Jane, on Monday"},
	{"Due on Friday [^1].\n\n[^1]: Jane, https://example.org", "Due on Friday [1].\n\n[1]: Jane"},
	{"Due on Friday [^1].\n\n[^1]: [Jane](https://example.org)", "Due on Friday [1].\n\n[1]: Jane"},
	{"Due on Friday:\n[1][2](https://example.org)", "Due on Friday:\n[1][2]"},
	{"Due on Friday [1].\n\n[1] [Jane](https://example.org)", "Due on Friday [1].\n\n[1] Jane"},
	{"[1] Jane posted https://example.org/plan today.", "[1] Jane posted https://example.org/plan today."},
	{"See [the plan](https://example.org) [1].", "See [the plan](https://example.org) [1]."},

	// What is no citation.
	{"Rule 【9】 and [^9], [#9], [source 9], (source 9), [7–9], [ 9 ].",
		"Rule and,,, (source 9), [7–9],."},
	{"On a scale of [1-10], in [2024], [1/2], [1.2] or [1 2].",
		"On a scale of [1-10], in [2024], [1/2], [1.2] or [1 2]."},
	{"So [[9]].", "So."},
	{"A [note about 1] and (1) and {1} and 1.", "A [note about 1] and (1) and {1} and 1."},
	{"On 2026-01-02 [1–2–3].", "On 2026-01-02 [1–2–3]."},
	{"Sources: 1, 9", "Sources: 1, 9"},
	{"He has sources: 20 of them", "He has sources: 20 of them"},
	{"`[^1]` and ``a【1】`` [^1]", "`[^1]` and ``a【1】`` [1]"},
	{"```\n[1]: https://example.org\n[^1] 【1】 x[1](https://example.org)\n```\n【1】",
		"```\n[1]: https://example.org\n[^1] 【1】 x[1](https://example.org)\n```\n[1]"},
}

func TestCitationsInAnyNotation(t *testing.T) {
	t.Parallel()
	for _, tt := range notations {
		got, cited := Citations(tt.text, three)
		if got != tt.want {
			t.Errorf("%q became %q, want %q", tt.text, got, tt.want)
		}
		if again, _ := Citations(got, three); again != got {
			t.Errorf("%q became %q, then %q", tt.text, got, again)
		}
		for n := 1; n <= 3; n++ {
			if strings.Contains(outsideCode(got, func(s string, _ bool) string { return s }), bracketed(n)) &&
				!slices.Contains(cited, n) && !strings.Contains(got, "`") {
				t.Errorf("%q doesn't cite %d", tt.text, n)
			}
		}
	}
}

// A notation that a member wrote isn't the model's.
func TestMembersNotationsStay(t *testing.T) {
	t.Parallel()
	said := func(notation string) bool {
		return strings.Contains("[1] Jane: the rules are 【2】 and [1-2]", notation)
	}
	of := Numbers{Known: three.Known, Said: said}
	got, cited := Citations("Jane said 【2】 and [1-2]【3】[1](https://example.org).", of)
	if got != "Jane said 【2】 and [1-2][3][1]." || !slices.Equal(cited, []int{1, 3}) {
		t.Errorf("%q citing %v", got, cited)
	}
}

func TestALongRangeIsItsEnds(t *testing.T) {
	t.Parallel()
	got, cited := Citations("All of it [1–40].", Numbers{Known: func(n int) bool { return 0 < n && n <= 50 }})
	if got != "All of it [1]–[40]." || !slices.Equal(cited, []int{1, 40}) {
		t.Errorf("%q citing %v", got, cited)
	}
}

// What a draft shows only grows, has no other notation than [n], and is what stays in the end.
func TestADraftOnlyGrows(t *testing.T) {
	t.Parallel()
	for _, tt := range notations {
		d := Draft{Of: three}
		shown := ""
		for end := range tt.text {
			next := d.Show(tt.text[:end], false)
			if !strings.HasPrefix(next, shown) {
				t.Errorf("%q: after %q came %q", tt.text, shown, next)
			}
			shown = next
		}
		whole := d.Show(tt.text, true)
		if !strings.HasPrefix(whole, shown) {
			t.Errorf("%q: after %q came %q in the end", tt.text, shown, whole)
		}
		if kept, _ := Citations(whole, three); !strings.HasPrefix(kept, tt.want) { // a heading stays
			t.Errorf("%q is drafted as %q, want %q", tt.text, whole, tt.want)
		}
	}
}

func TestADraftHoldsBackLittle(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Due on Friday [1] and then":        "Due on Friday [1] and then",
		"Due on Friday, ":                   "Due on Friday, ",
		"Due [on Friday":                    "Due ",
		"Due on Friday [1]":                 "Due on Friday ",
		"Due on Friday [1](https://exa":     "Due on Friday ",
		"Due `x [1] and":                    "Due `x ",
		"Due (on Friday, or so":             "Due (on Friday, or so",
		"One [1] two [2] three `x` four 【1": "One [1] two [2] three `x` four ",
		"```\nx [^1":                        "```\nx [^1",
		"[1] Jane said":                     "[1] Jane said",
	} {
		d := Draft{Of: three}
		if got := d.Show(text, false); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// A model that takes back what it wrote is drafted anew.
func TestADraftBeginsAnew(t *testing.T) {
	t.Parallel()
	d := Draft{Of: three}
	d.Show("One 【1】.\n\nTwo", false)
	if got := d.Show("Three 【2】.", true); got != "Three [2]." {
		t.Errorf("got %q", got)
	}
}

func TestDraftsOfAnythingOnlyGrow(t *testing.T) {
	t.Parallel()
	pieces := []string{"[1]", "[^2]", "[9]", "【1】", "(https://example.org)", "[", "]", "(", "1", ":", " ", "\n", "\n\n",
		"`", "```", "source", "†x", "word", "–", `\`, "^"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "text"), "")
		d := Draft{Of: three}
		shown := ""
		for end := range text {
			next := d.Show(text[:end], false)
			if !strings.HasPrefix(next, shown) {
				t.Fatalf("%q: after %q came %q", text, shown, next)
			}
			shown = next
		}
		if whole := d.Show(text, true); !strings.HasPrefix(whole, shown) {
			t.Fatalf("%q: after %q came %q in the end", text, shown, whole)
		}
	})
}
