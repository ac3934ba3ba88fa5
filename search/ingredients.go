package search

import "slices"

// Ingredient is a part of what messages are ranked by: features that have one thing to say.
type Ingredient struct {
	Name     string
	Features []int // their places in a Candidate's Features
}

// Ingredients are all that messages are ranked by, each feature in one of them: what people are told as reasons, and
// whatever else there is by itself.
func Ingredients() []Ingredient {
	var all []Ingredient
	left := make([]bool, featureCount)
	for i := range left {
		left[i] = true
	}
	for _, r := range reasons {
		in := Ingredient{Name: r.kind}
		for _, f := range r.features {
			in.Features = append(in.Features, int(f))
			left[f] = false
		}
		all = append(all, in)
	}
	for f, name := range featureNames {
		if left[f] {
			all = append(all, Ingredient{Name: name, Features: []int{f}})
		}
	}
	return all
}

// Without is c's score if an ingredient had no say in it.
func (c Candidate) Without(in Ingredient) float64 {
	score := 0.0
	for f, value := range c.Features {
		if !slices.Contains(in.Features, f) {
			score += weights[f] * value
		}
	}
	return score
}
