package tokens_test

import (
	"fmt"
	"os"
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

// models have all the encodings, and the estimate.
var models = []string{"gpt-4o", "gpt-4", "llama"}

func TestCountIsBoundedByBytes(t *testing.T) {
	t.Parallel()
	for _, model := range models {
		c := tokens.For(model)
		for name, text := range hostile(4_000) {
			if n := c.Count(text); n < 1 || n > len(text) {
				t.Errorf("%s, %s: %d tokens of %d bytes", model, name, n, len(text))
			}
		}
	}
}

// Every character costs something, and no more than its bytes. HARK_LONG=1 asks for those of rare scripts
// too, of which a few stand for the rest.
func TestCountSkipsNothing(t *testing.T) {
	t.Parallel()
	few := rune(101)
	if os.Getenv("HARK_LONG") != "" {
		few = 1
	}
	for _, model := range models {
		c := tokens.For(model)
		step := rune(1)
		for r := rune(0); r <= utf8.MaxRune; r += step {
			if r >= 0x3000 {
				step = few
			}
			if n := c.Count(string(r)); utf8.ValidRune(r) && (n == 0 || n > utf8.RuneLen(r)) {
				t.Errorf("%s: %U has %d tokens", model, r, n)
			}
		}
	}
}

func TestConcurrentCounts(t *testing.T) {
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
	for _, text := range hostile(40) {
		f.Add(text)
	}
	for _, s := range scripts(f) {
		f.Add(s.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, model := range models {
			c := tokens.For(model)
			n := c.Count(text)
			if utf8.ValidString(text) && n > len(text) || (n == 0) != (text == "") {
				t.Errorf("%s: Count(%q) = %d", model, text, n)
			}
			if stored := c.Stored(text, tokens.New().Count(text)); stored != 0 && stored != n {
				t.Errorf("%s: Stored(%q) = %d, counted %d", model, text, stored, n)
			}
		}
	})
}

// hostile are texts of n characters that have been slow somewhere.
func hostile(n int) map[string]string {
	return map[string]string{
		"spaces":     strings.Repeat(" ", n),
		"spaces, x":  strings.Repeat(" ", n) + "x",
		"mixed":      strings.Repeat(" \n", n/2) + "x",
		"wide mixed": strings.Repeat("\u3000\n", n/2),
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

// The time a character takes must not grow with the text, and 4,000 take less than 10 ms.
func BenchmarkCount(b *testing.B) {
	texts := hostile(4_000)
	texts["chat"] = "Can we get a status update on the server migration before Friday?"
	for name, text := range hostile(40_000) {
		texts[name+" x10"] = text
	}
	for _, model := range models {
		c := tokens.For(model)
		c.Count("load")
		for name, text := range texts {
			b.Run(model+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					c.Count(text)
				}
			})
		}
	}
}

// What is stored needs no vocabulary.
func BenchmarkStored(b *testing.B) {
	c := tokens.For("llama")
	for name, text := range map[string]string{
		"ASCII": strings.Repeat("Can we get a status update on 12 servers? ",
			95), "Cyrillic": strings.Repeat("Все люди рождаются ", 210),
		"ideographs": strings.Repeat("語", 4000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				c.Stored(text, 1000)
			}
		})
	}
}

func ExampleCounter() {
	c := tokens.New()
	fmt.Println(c.Count("Hark remembers."))
	// Output: 4
}
