package markdown

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSplitClosesAndReopensFormatting(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("word ", 500) + "end"
	code := strings.Repeat("x := 1\n", 400)
	for _, tt := range []struct {
		name, text           string
		begins, ends, second string // the first piece's beginning and end, the second's beginning
	}{
		{"bold", "**" + words + "** after", "**word ", "word **", "**word "},
		{"italics", "*" + words + "*", "*word ", "word *", "*word "},
		{"other italics", "_" + words + "_", "_word ", "word _", "_word "},
		{"both", "***" + words + "***", "***word ", "word ***", "***word "},
		{"underline", "__" + words + "__", "__word ", "word __", "__word "},
		{"strikethrough", "~~" + words + "~~", "~~word ", "word ~~", "~~word "},
		{"spoiler", "||" + words + "||", "||word ", "word ||", "||word "},
		{"spoiler of paragraphs", "||" + strings.Repeat("word\n\n", 500) + "end||", "||word", "word\n\n||", "||word"},
		{"code", "`" + words + "`", "`word ", "word `", "`word "},
		{"code with a backtick", "``a`b " + words + "``", "``a`b word", "word ``", "``word "},
		{"nested", "**a ~~b " + words + "~~ c**", "**a ~~b word", "word ~~**", "**~~word "},
		{"quotation", "> " + words, "> word ", "word ", "> word "},
		{"bold quotation", "> **" + words + "**", "> **word ", "word **", "> **word "},
		{"quotation of lines", strings.Repeat("> "+strings.Repeat("a ", 60)+"\n", 30), "> a ", "a \n", "> a "},
		{"quotation to the end", "x\n>>> " + strings.Repeat("word\n", 600), "x\n>>> word", "word\n", ">>> word"},
		{"spoiler in it", ">>> ||" + words + "||", ">>> ||word", "word ||", ">>> ||word "},
		{"heading", "# " + words, "# word ", "word ", "# word "},
		{"small", "-# " + words, "-# word ", "word ", "-# word "},
		{"spoiler with code", "||```go\n" + code + "```||", "||```go\nx", "x := 1\n```||", "||```go\nx"},
		{"code in a quotation", "> ```go\n" + strings.ReplaceAll("> "+code, "\nx", "\n> x") + "```",
			"> ```go\n> x", "> x := 1\n> ```", "> ```go\n> x"},
		{"marks in code", "```\n**" + code + "```", "```\n**x", "x := 1\n```", "```\nx"},
		{"bold without an end", "**" + words, "**word ", "word ", "word "},
		{"escaped", `\**` + words + "**", `\**word`, "word ", "word "},
		{"snake_case", "snake_" + words + "_", "snake_word ", "word ", "word "},
		{"sum", "2 * 3 " + words + " * 4", "2 * 3 word ", "word ", "word "},
		{"bold ended in a list", "**a\n- b** " + words, "**a\n- b** word", "word ", "word "},
		{"two bolds", "**a** " + words + " **b**", "**a** word ", "word ", "word "},
	} {
		got := split(tt.text, MessageLimit, nil)
		if len(got) != 2 {
			t.Errorf("%s: %d pieces", tt.name, len(got))
			continue
		}
		first, second := got[0].String(), got[1].String()
		if !strings.HasPrefix(first, tt.begins) || !strings.HasSuffix(first, tt.ends) ||
			strings.HasSuffix(first, "*"+tt.ends) || !strings.HasPrefix(second, tt.second) {
			t.Errorf("%s: %q … %q, then %.30q", tt.name, first[:20], tail(first), second)
		}
		if strings.HasSuffix(tt.ends, " ") && strings.ContainsAny(tail(first)[20:], "*_~|`") {
			t.Errorf("%s: %q is ended by what it isn't", tt.name, tail(first))
		}
	}
}

func TestSplitKeepsListsWhole(t *testing.T) {
	t.Parallel()
	for _, marker := range []string{"- ", "* ", "1. ", "  - ", "# ", "> "} {
		for pad := 1965; pad < 2000; pad++ {
			text := strings.Repeat("z", pad) + "\n" + marker + "item and more of it"
			for _, p := range split(text, MessageLimit, nil) {
				if strings.HasSuffix(p.body, marker) || strings.HasSuffix(p.body, strings.TrimRight(marker, " ")) {
					t.Fatalf("%q after %d letters is torn off: %q", marker, pad, tail(p.body))
				}
			}
		}
	}
}

// marked is a word with the marks round it.
var marked = regexp.MustCompile("\\*\\*|__|~~|\\|\\||`|w[0-9]+")

// formats returns a piece's words with the marks around each, and whether all marks are closed.
func formats(piece string) (found map[string]string, closed bool) {
	found = map[string]string{}
	var open []string
	for _, token := range marked.FindAllString(piece, -1) {
		at := slices.Index(open, token)
		switch {
		case token[0] == 'w':
			found[token] = strings.Join(slices.Sorted(slices.Values(open)), "")
		case at == len(open)-1 && at >= 0:
			open = open[:at]
		case at < 0:
			open = append(open, token)
		default:
			return found, false
		}
	}
	return found, len(open) == 0
}

// TestFormattingSurvivesSplitting nests marks and checks that each word has the same marks in the pieces.
func TestFormattingSurvivesSplitting(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		n := 0
		var write func(depth int, inside []string)
		write = func(depth int, inside []string) {
			for range rapid.IntRange(1, 4).Draw(t, "parts") {
				kinds := slices.DeleteFunc([]string{"**", "__", "~~", "||", "`"}, func(m string) bool {
					return slices.Contains(inside, m)
				})
				if depth > 0 && len(kinds) > 0 && rapid.Bool().Draw(t, "nested") {
					mark := rapid.SampledFrom(kinds).Draw(t, "mark")
					b.WriteString(mark)
					if mark == "`" {
						write(0, append(slices.Clone(inside), mark))
					} else {
						write(depth-1, append(slices.Clone(inside), mark))
					}
					b.WriteString(mark + " ")
					continue
				}
				for range rapid.IntRange(1, 300).Draw(t, "words") {
					n++
					fmt.Fprintf(&b, "w%d ", n)
				}
				fmt.Fprintf(&b, "w%d", n+1)
				n++
			}
		}
		write(3, nil)
		want, closed := formats(b.String())
		if !closed {
			t.Fatalf("the text itself is wrong: %s", b.String())
		}
		got := map[string]string{}
		for i, p := range split(b.String(), MessageLimit, nil) {
			found, closed := formats(p.String())
			if !closed {
				t.Fatalf("piece %d leaves marks open: %q", i, p.String())
			}
			maps.Copy(got, found)
		}
		if !maps.Equal(got, want) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
	})
}
