package tokens_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"hark/internal/tokens"
)

// script is a text of testdata/scripts.txt, with the most tokens that a model has for it.
type script struct {
	name, text string
	most       int
}

func scripts(tb testing.TB) []script {
	tb.Helper()
	data, err := os.ReadFile("testdata/scripts.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var all []script
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 7 {
			tb.Fatalf("%d fields in %q", len(fields), line)
		}
		s := script{name: fields[0], text: strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(fields[6])}
		for _, field := range fields[1:6] {
			n, err := strconv.Atoi(field)
			if err != nil {
				tb.Fatal(err)
			}
			s.most = max(s.most, n)
		}
		all = append(all, s)
	}
	return all
}

// The estimate is at least what any of seven models needs, and not much more.
func TestEstimate(t *testing.T) {
	t.Parallel()
	estimate, o200k, cl100k := tokens.For("llama2"), tokens.For("gpt-4o"), tokens.For("gpt-4")
	all := scripts(t)
	if len(all) < 60 {
		t.Fatalf("%d texts", len(all))
	}
	for _, s := range all {
		most := max(s.most, o200k.Count(s.text), cl100k.Count(s.text))
		if n := estimate.Count(s.text); n < most || float64(n) > 1.65*float64(most) {
			t.Errorf("%s: estimated %d, a model has %d", s.name, n, most)
		}
	}
	sum, most := 0, 0
	for _, s := range all {
		sum, most = sum+estimate.Count(s.text), most+max(s.most, cl100k.Count(s.text))
	}
	if float64(sum) > 1.2*float64(most) {
		t.Errorf("%d tokens are estimated for all, %d are needed", sum, most)
	}
}

func TestEstimateOfLittle(t *testing.T) {
	t.Parallel()
	c := tokens.For("unknown")
	for text, want := range map[string]int{
		"": 0, "a": 1, " ": 1, "\n": 1, "7": 1, "77": 2, "777": 3, "1234567": 7, "12ab34": 6, "語": 2, "🔥": 4, "\U0001F9FF": 4, "\x00": 1,
		"\n\n\n\n": 4, "the": 2, "hello world": 4, "Привет": 5,
	} {
		if got := c.Count(text); got != want {
			t.Errorf("Count(%q) = %d, want %d", text, got, want)
		}
	}
}
