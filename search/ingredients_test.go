package search_test

import (
	"math"
	"slices"
	"testing"

	"hark/search"
)

func TestIngredientsMakeTheScore(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	candidates, err := k.engine().Candidates(t.Context(), ask("who mends the chapel roof?", green))
	if err != nil || len(candidates) < 3 {
		t.Fatal(candidates, err)
	}
	times := make([]int, len(search.FeatureNames()))
	var names []string
	for _, in := range search.Ingredients() {
		names = append(names, in.Name)
		for _, f := range in.Features {
			times[f]++
		}
	}
	if slices.Min(times) != 1 || slices.Max(times) != 1 || !slices.Contains(names, "meaning") ||
		!slices.Contains(names, "length") {
		t.Errorf("%q have the features %v times", names, times)
	}
	for _, c := range candidates {
		parts := 0.0
		for _, in := range search.Ingredients() {
			parts += c.Score - c.Without(in)
		}
		if math.Abs(parts-c.Score) > 1e-9 || math.Abs(c.Without(search.Ingredient{})-c.Score) > 1e-9 {
			t.Errorf("the parts are %g of %g", parts, c.Score)
		}
	}
	words := slices.IndexFunc(search.Ingredients(), func(in search.Ingredient) bool { return in.Name == "words" })
	if c := candidates[0]; c.Without(search.Ingredients()[words]) > c.Score-0.1 {
		t.Errorf("the best has %g, and %g without its words", c.Score, c.Without(search.Ingredients()[words]))
	}
}
