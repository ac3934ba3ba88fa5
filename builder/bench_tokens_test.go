package builder

import "testing"

// reckoned are the tokens of the prompt that in makes, as the sum of its parts and as counted afresh.
func reckoned(b *Builder, in Input) (sum, whole int) {
	w := b.begin(in)
	w.plan()
	w.decide(w.maxTokens())
	w.render()
	return w.tokens, w.counted()
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
