package builder

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hark/internal/tokens/tokenstest"
)

func TestUseOfTheWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		report  Report
		use     float64
		crowded bool
	}{
		{Report{Tokens: 3000, MaxTokens: 4000, Window: 8000, Answer: 1000}, 0.5, false},
		{Report{Tokens: 5399, MaxTokens: 7000, Window: 8000, Answer: 1000}, 0.799875, false},
		{Report{Tokens: 5400, MaxTokens: 7000, Window: 8000, Answer: 1000}, 0.8, true},
		{Report{Tokens: 7000, MaxTokens: 7000, Window: 8000, Answer: 1000}, 1, true},
		{Report{Tokens: 3000, MaxTokens: 4000, Answer: 1000}, 0.75, false},
		{Report{Tokens: 4000, MaxTokens: 4000}, 1, false},
		{Report{}, 0, false},
	} {
		if use := c.report.Use(); use != c.use || c.report.Crowded() != c.crowded {
			t.Errorf("%+v: use %v, crowded %t", c.report, use, c.report.Crowded())
		}
	}
	p := newBuilder(t, Options{Window: 10_000, Answer: 1_000}).Build(big(holdsCounter))
	if r := p.Report; r.Window != 10_000 || r.Answer != 1_000 || r.Use() != float64(r.Tokens+1_000)/10_000 ||
		r.Crowded() {
		t.Errorf("report %+v", r)
	}
}

// A smaller budget for one prompt does what it does as an option.
func TestSmallerPrompt(t *testing.T) {
	t.Parallel()
	in := inputs(injections(t))
	rapid.Check(t, func(t *rapid.T) {
		input := in.Draw(t, "input")
		o := Options{Layout: layouts().Draw(t, "layout"), Citations: rapid.Bool().Draw(t, "citations"), MaxTokens: 5000}
		large := newBuilder(t, o)
		o.MaxTokens = rapid.IntRange(large.least, 5000).Draw(t, "tokens")
		small := newBuilder(t, o)
		want := small.Build(input)
		input.MaxTokens = o.MaxTokens
		got := large.Build(input)
		holds(t, o, got)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d tokens of 5000: got %+v, want %+v", o.MaxTokens, got, want)
		}
	})
}

// A text is counted once at most, and not at all where its stored count tells enough.
func TestStoredCounts(t *testing.T) {
	t.Parallel()
	for model, first := range map[string]bool{"gpt-4o": false, "llama": false, "gpt-4": true} {
		counter := &countingCounter{Counter: tokenstest.For(model)}
		b, err := New(Options{MaxTokens: 64_000}, counter)
		if err != nil {
			t.Fatal(err)
		}
		in := big(holdsCounter)
		b.Build(Input{Now: in.Now, Query: in.Query, Participants: in.Participants})
		before := counter.calls
		b.Build(in)
		if counted := counter.calls-before > 100; counted != first {
			t.Errorf("%s: %d texts of 300 counted", model, counter.calls-before)
		}
		before = counter.calls
		b.Build(in)
		if counter.calls > before {
			t.Errorf("%s: %d texts counted again", model, counter.calls-before)
		}
	}
}

// A count that was stored is never taken for more than the text's bytes.
func TestStoredCountsThatAreWrong(t *testing.T) {
	t.Parallel()
	for _, stored := range []int{-3, 0, 1, 1 << 40} {
		line := Line{Message: 1, Author: 5, Time: noon, Content: "seven words are in this very line", Tokens: stored}
		in := Input{Now: noon, Query: Turn{Content: "what is it?", Tokens: stored},
			History: []Item{{Relevance: 1, Lines: []Line{line}}}}
		p := newBuilder(t, Options{}).Build(in)
		holds(t, Options{}, p)
		if !strings.Contains(p.String(), "seven words") || !strings.Contains(p.String(), "what is it?") {
			t.Errorf("stored %d: %s", stored, fmt.Sprint(p))
		}
	}
}
