package tokens_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"hark/internal/tokens"
)

func TestCount(t *testing.T) {
	t.Parallel()
	c := tokens.New()
	for _, tc := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"hello", 1},
		{"hello world", 2},
		{"The deadline for Project X is confirmed for this Friday.", 11},
		{"<|endoftext|>", 7},
		{"日本語", 2},
		{"\xff\xfe", 1},
		{"a\x7f\x7fb", 4},
	} {
		if got := c.Count(tc.text); got != tc.want {
			t.Errorf("Count(%q) = %d, want %d", tc.text, got, tc.want)
		}
	}
}

func TestCountIsBoundedByBytes(t *testing.T) {
	t.Parallel()
	c := tokens.New()
	for name, text := range hostile(4_000) {
		if n := c.Count(text); n < 1 || n > len(text) {
			t.Errorf("%s: %d tokens of %d bytes", name, n, len(text))
		}
	}
}

// Every character costs something.
func TestCountSkipsNothing(t *testing.T) {
	t.Parallel()
	c := tokens.New()
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if utf8.ValidRune(r) && c.Count(string(r)) == 0 {
			t.Errorf("%U has no tokens", r)
		}
	}
}

func TestCountAtOnce(t *testing.T) {
	t.Parallel()
	c := tokens.New()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := c.Count("hello world"); got != 2 {
				t.Errorf("Count = %d, want 2", got)
			}
		})
	}
	all.Wait()
}

func FuzzCount(f *testing.F) {
	c := tokens.New()
	for _, text := range hostile(40) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n := c.Count(text); utf8.ValidString(text) && n > len(text) || (n == 0) != (text == "") {
			t.Errorf("Count(%q) = %d", text, n)
		}
	})
}

// hostile are texts of n characters that have been slow somewhere.
func hostile(n int) map[string]string {
	return map[string]string{
		"spaces":     strings.Repeat(" ", n),
		"spaces, x":  strings.Repeat(" ", n) + "x",
		"breaks":     strings.Repeat("\n", n) + "x",
		"letters":    strings.Repeat("a", n),
		"capitals":   strings.Repeat("A", n),
		"digits":     strings.Repeat("7", n),
		"marks":      "e" + strings.Repeat("\u0301", n),
		"emoji":      strings.Repeat("🔥", n),
		"families":   strings.Repeat("👨‍👩‍👧", n/5+1),
		"ideographs": strings.Repeat("語", n),
		"dots":       strings.Repeat(".", n),
		"NULs":       strings.Repeat("\x00", n),
		"bad bytes":  strings.Repeat("\xff", n),
		"controls":   strings.Repeat("<|endoftext|>", n/13+1),
	}
}

// The time a character takes must not grow with the text.
func BenchmarkCount(b *testing.B) {
	c := tokens.New()
	c.Count("load")
	texts := hostile(4_000)
	texts["chat"] = "Can we get a status update on the server migration before Friday?"
	for name, text := range hostile(40_000) {
		texts[name+" x10"] = text
	}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				c.Count(text)
			}
		})
	}
}

func ExampleCounter() {
	c := tokens.New()
	fmt.Println(c.Count("Hark remembers."))
	// Output: 4
}
