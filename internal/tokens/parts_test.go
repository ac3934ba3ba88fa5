package tokens

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"
)

// joint is how many tokens more a whole may have than its two parts together. Where a text is cut the pieces
// that its pattern finds can be other ones, and so can the pairs that are merged.
const joint = 2

// partsBoundWhole checks that a+b has hardly more tokens than a and b. Only where nearly every byte is a
// token, so that the estimate ends at the number of bytes, do the parts bound no more than the bytes do, and
// where a word is cut in two that are known, it may cost as much as one that isn't.
func partsBoundWhole(t interface {
	Helper()
	Errorf(string, ...any)
}, a, b string) {
	t.Helper()
	for _, model := range []string{"gpt-4o", "gpt-4", "llama"} {
		c := For(model)
		whole, parts := c.Count(a+b), c.Count(a)+c.Count(b)
		if c.estimate {
			o200k := New()
			if end := wordEnd(b, 0); end > 0 && a != "" && isLetter(rune(a[len(a)-1])) {
				letters := len(a) - len(strings.TrimRightFunc(a, isLetter)) + end
				parts += letters*(letterCost+capital)/token + 1
			}
			for _, part := range []string{a, b} {
				parts += max(0, o200k.Count(part)+(surcharge(part)+token-1)/token-len(part))
			}
		}
		if whole > parts+joint {
			t.Errorf("%s: %q has %d tokens, %q and %q have %d", model, a+b, whole, a, b, parts)
		}
	}
}

// texts are of pieces that tokenizers cut in different ways.
func texts() *rapid.Generator[string] {
	pieces := strings.Split("the | Jane|'s|n't| |  |\n|\n\n|\t|1|22|333|4444|…|...|!?|=== |- |語|中文|の|한국어| при|вет|مرحبا|हिन्दी|ไทย|🔥|👨‍👩‍👧|é|e\u0301|ABC|camelCase|x_y|(|)|<@|>:|\x00|\x7f|aaaaaaaa|https://|7b523b5f", "|")
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(t, "pieces"), "") +
			rapid.StringN(0, 5, 20).Draw(t, "rest")
	})
}

// A word that all have in one token after a space, some have in several where a line begins.
func TestWordsThatBeginLines(t *testing.T) {
	t.Parallel()
	estimate, cl100k := For("unknown"), For("gpt-4")
	for word := range strings.FieldsSeq(wordList) {
		for _, s := range []string{word, word + " ", "\n" + word, strings.Repeat("\n"+word, 9), " " + word,
			strings.Repeat(" "+word, 9)} {
			if n, want := estimate.Count(s), cl100k.Count(s); n < want {
				t.Errorf("%q: estimated %d, a model has %d", s, n, want)
			}
		}
	}
}

// Words are counted one by one and looked up: all together are as many tokens as the library finds in the
// whole.
func TestWordsAreTheWhole(t *testing.T) {
	t.Parallel()
	text := texts()
	rapid.Check(t, func(t *rapid.T) {
		s := text.Draw(t, "text")
		for encoding := range codecs {
			library, err := tokenizer.Get(tokenizer.Encoding(encoding))
			if err != nil {
				t.Fatal(err)
			}
			c := Counter{encoding: encoding}
			want, _ := library.Count(s)
			for range 2 {
				if got := c.encoded(s); got != want {
					t.Errorf("%s: %q has %d tokens, the library counts %d", encoding, s, got, want)
				}
			}
		}
	})
}

func TestPartsBoundTheWhole(t *testing.T) {
	t.Parallel()
	text := texts()
	rapid.Check(t, func(t *rapid.T) {
		partsBoundWhole(t, text.Draw(t, "a"), text.Draw(t, "b"))
	})
}

func FuzzParts(f *testing.F) {
	f.Add("The deadline for ", "Project X is confirmed.")
	f.Add("日本", "語です")
	f.Add("12", "34567")
	f.Add("   ", "x")
	f.Fuzz(func(t *testing.T, a, b string) {
		if utf8.ValidString(a) && utf8.ValidString(b) {
			partsBoundWhole(t, a, b)
		}
	})
}
