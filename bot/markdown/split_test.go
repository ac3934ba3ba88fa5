package markdown

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"hark/internal/answer"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 500)
	for _, tt := range []struct {
		name, text string
		want       []string // suffixes of the pieces as sent
	}{
		{"nothing", "", nil},
		{"short", "hello", []string{"hello"}},
		{"exactly full", strings.Repeat("a", 2000), []string{"a"}},
		{"paragraph before line", strings.Repeat("a", 1200) + "\n\n" + strings.Repeat("b", 300) + "\n" +
			strings.Repeat("c", 900), []string{"a\n\n", "c"}},
		{"line before sentence", strings.Repeat("a", 1200) + "\n" + strings.Repeat("b", 300) + ". " +
			strings.Repeat("c", 900), []string{"a\n", "c"}},
		{"sentence before word", strings.Repeat("a", 1200) + ". " + strings.Repeat("b", 300) + " " +
			strings.Repeat("c", 900), []string{"a. ", "c"}},
		{"Japanese sentence", strings.Repeat("あ", 1200) + "。" + strings.Repeat("い", 1200), []string{"。", "い"}},
		{"word", long, []string{"word ", "word "}},
		{"too early a paragraph", "a\n\n" + long, []string{"word ", "word "}},
		{"no space", strings.Repeat("x", 2500), []string{"x", "x"}},
		{"code block", "```go\n" + strings.Repeat("line of code\n", 200) + "```\nend",
			[]string{"line of code\n```", "\nend"}},
		{"unclosed code block", "```go\nx := 1", []string{"x := 1\n```"}},
	} {
		got := split(tt.text, MessageLimit, nil)
		if len(got) != len(tt.want) {
			t.Errorf("%s: %d pieces, want %d", tt.name, len(got), len(tt.want))
			continue
		}
		for i, p := range got {
			if !strings.HasSuffix(p.String(), tt.want[i]) {
				t.Errorf("%s: piece %d ends in %q, want %q", tt.name, i, tail(p.String()), tt.want[i])
			}
		}
	}
}

func TestSplitKeepsLinksWhole(t *testing.T) {
	t.Parallel()
	for _, whole := range []string{
		"[there](<https://discord.com/channels/1/2/3>)", "https://example.org/" + strings.Repeat("y", 300),
		"<@123456789012345678>", "<t:1700000000:R>", "[12]", "👨‍👩‍👧‍👦", "e\u0301\u0302",
	} {
		for pad := 1950; pad < 2005; pad++ {
			var found int
			for _, p := range split(strings.Repeat("z", pad)+whole+"tail", MessageLimit, nil) {
				found += strings.Count(p.body, whole)
			}
			if found != 1 {
				t.Fatalf("%q after %d letters is torn", whole, pad)
			}
		}
	}
}

func TestSplitEarlierPiecesStayWhileTextGrows(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("Some sentence of an answer. It goes on [3] and on.\n\n", 120)
	var first string
	for end := 2400; end <= len(text); end += 97 {
		got := split(text[:end], MessageLimit, nil)[0].String()
		if first == "" {
			first = got
		}
		if got != first {
			t.Fatalf("with %d bytes the first piece changed", end)
		}
	}
}

func TestSplitProperties(t *testing.T) {
	t.Parallel()
	fragment := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching("[a-z ]{0,400}"),
		rapid.SampledFrom([]string{
			"```", "```go\n", "````", "`", "\n", "\n\n", ". ", "[1]", "[23]", "[x](<https://e.org/a>)", "https://e.org/b",
			"<@12345>", "**", "*", "_", "__", "***", "~~", "||", "``", "\n> ", "\n>>> ", "\n- ", "\n# ", "\\",
			"](https://", "discord.gg/abc",
			"[a.com](https://b.com)", "👨‍👩‍👧‍👦", "e\u0301", strings.Repeat("字", 500), strings.Repeat("a",
				1500), strings.Repeat(" ", 2500),
			"a" + strings.Repeat("\u0301", 3000), strings.Repeat("`", 2100), "[[[[", "\xff\xfe", "🇵🇱🇩🇪", "\r\n", "。",
		}),
	)
	rapid.Check(t, func(t *rapid.T) {
		checkSplit(t, strings.Join(rapid.SliceOfN(fragment, 0, 40).Draw(t, "fragments"), ""))
	})
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"", "hello", strings.Repeat("word ", 900), "```go\n" + strings.Repeat("x\n", 1500) +
			"```", strings.Repeat("[1]", 700),
		strings.Repeat("`", 4001), "a" + strings.Repeat("\u0301", 5000), strings.Repeat("👨‍👩‍👧‍👦", 300), "\xff```\x00",
		"```" + strings.Repeat("\u0301", 3000) + "```", strings.Repeat("https://e.org/", 400), "https://x```y z```",
		"https://e.org/b[1]" + strings.Repeat(" ", 2500), strings.Repeat("<a[1]>",
			400), strings.Repeat("[x](<https://e.org/[1]>)", 300),
		"**" + strings.Repeat("bold ", 900) + "**", "> " + strings.Repeat("said ", 900), ">>> ||" +
			strings.Repeat("x\n", 1500) + "||",
		"> ```go\n" + strings.Repeat("> x\n", 900) + "> ```", "`` " + strings.Repeat("` ", 1500) +
			"``", strings.Repeat("*_~|`", 900),
		strings.Repeat("discord.gg/a ", 300), strings.Repeat("](https://a", 300), "\\```" +
			strings.Repeat("a", 3000), "```snake_case\n" + strings.Repeat("a_b\n", 900) + "```",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { checkSplit(t, text) })
}

type failer interface{ Fatalf(string, ...any) }

var manySources = func() (all []answer.Source) {
	for n := range 1000 {
		const most = 1<<63 - 1
		all = append(all, answer.Source{Number: n, Guild: most, Channel: most, Message: most})
	}
	return all
}()

// checkSplit checks the pieces of a text, with citations that become links and without.
func checkSplit(t failer, text string) {
	for _, link := range []linker{nil, LinksTo(manySources), LinksTo(manySources[:2])} {
		checkPieces(t, text, split(text, MessageLimit, link), link == nil)
	}
}

func checkPieces(t failer, text string, pieces []piece, plain bool) {
	var joined strings.Builder
	boundaries := clusterEnds(text)
	for i, p := range pieces {
		joined.WriteString(p.body)
		if n := Units(p.String()); n > MessageLimit {
			t.Fatalf("piece %d has %d units", i, n)
		}
		if strings.Count(p.String(), fence)%2 != 0 {
			t.Fatalf("piece %d leaves a code block open: %q", i, p)
		}
		if p.body == "" {
			t.Fatalf("piece %d is empty", i)
		}
		if i == 0 && p.open != "" || Units(p.open) > 60 || Units(p.shut) > closing {
			t.Fatalf("piece %d is opened by %q and shut by %q", i, p.open, p.shut)
		}
		if !boundaries[joined.Len()] {
			t.Fatalf("piece %d ends inside a grapheme, at %d", i, joined.Len())
		}
	}
	if joined.String() != text {
		t.Fatalf("the pieces aren't the text: %q", joined.String())
	}
}

// clusterEnds returns where a text may be cut: between graphemes, and inside monstrous ones between runes.
func clusterEnds(text string) map[int]bool {
	ends := map[int]bool{}
	g := uniseg.NewGraphemes(text)
	for g.Next() {
		from, to := g.Positions()
		ends[to] = true
		if Units(g.Str()) > MessageLimit/2 {
			for i := range g.Str() {
				ends[from+i] = true
			}
		}
	}
	return ends
}

func tail(s string) string {
	for len(s) > 30 {
		_, n := utf8.DecodeRuneInString(s)
		s = s[n:]
	}
	return s
}
