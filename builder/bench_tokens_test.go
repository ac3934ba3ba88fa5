package builder

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hark/internal/tokens/tokenstest"
)

// reckoned are the tokens of the prompt that in makes, as the sum of its parts and as counted afresh.
func reckoned(b *Builder, in Input) (sum, whole int) {
	w := b.begin(in)
	w.plan()
	w.decide(w.maxTokens())
	w.render()
	return w.tokens, w.counted()
}

// storeAll gives texts the counts that a store has for them.
func storeAll(in *Input) {
	in.Query.Tokens = holdsCounter.Count(strings.TrimSpace(in.Query.Content))
	for i := range in.History {
		for j := range in.History[i].Lines {
			line := &in.History[i].Lines[j]
			line.Tokens = holdsCounter.Count(strings.TrimSpace(line.Content))
		}
	}
	for i := range in.Session {
		in.Session[i].Tokens = holdsCounter.Count(strings.TrimSpace(in.Session[i].Content))
	}
}

// The sum of the parts bounds the whole, whichever counter counts.
func TestSumBoundsTheWhole(t *testing.T) {
	t.Parallel()
	in := inputs(injections(t))
	rapid.Check(t, func(t *rapid.T) {
		input := in.Draw(t, "input")
		storeAll(&input)
		model := rapid.SampledFrom([]string{"gpt-4o", "gpt-4", "llama"}).Draw(t, "model")
		o := Options{Layout: layouts().Draw(t, "layout"), Citations: rapid.Bool().Draw(t, "citations"), MaxTokens: 64_000}
		b, err := New(o, tokenstest.For(model))
		if err != nil {
			t.Fatal(err)
		}
		if sum, whole := reckoned(b, input); sum < whole {
			t.Errorf("%s: the parts have %d tokens, the prompt %d", model, sum, whole)
		}
	})
}

// It isn't much above it either, in any language.
func TestSumIsCloseToTheWhole(t *testing.T) {
	t.Parallel()
	for _, l := range everyLabels() {
		b := newBuilder(t, Options{Labels: l.Labels, Citations: true, MaxTokens: 20_000})
		if sum, whole := reckoned(b, big(holdsCounter)); sum < whole || sum > whole*102/100 {
			t.Errorf("%s: the parts have %d tokens, the whole %d", l.name, sum, whole)
		}
	}
}
