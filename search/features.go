package search

import (
	"math"
	"slices"
	"time"

	"hark/internal/text"
	"hark/memory"
)

var featureNames = [featureCount]string{"far", "covered", "like", "likeNear", "pairs", "author", "self", "subject",
	"spokenOf", "spokenNear", "week", "dateSaid", "event", "length", "answers", "meaning", "time", "number", "name",
	"reason"}

const leastMost = 0.3

// FeatureNames returns the names of a Candidate's features, in order.
func FeatureNames() []string { return featureNames[:] }

// values holds a message's features.
type values [featureCount]float64

func (v *values) score() float64 {
	score := 0.0
	for i, w := range weights {
		score += w * v[i]
	}
	return score
}

// distance returns how far t is from the nearest date asked for; 0 within it.
func (q question) distance(t time.Time) time.Duration {
	nearest := time.Duration(1<<63 - 1)
	for _, d := range q.dates {
		nearest = min(nearest, d.distance(t))
	}
	return nearest
}

// datesOf sets the date features of e.
func (q question) datesOf(e *entry, v *values) {
	if len(q.dates) == 0 {
		return
	}
	days := q.distance(e.Time()).Hours() / 24
	v[featureWeek] = math.Exp(-days / 7)
	if !e.signs.time {
		return
	}
	for _, said := range datesIn(e.Content, e.Time()) {
		if said.open || said.length() > 32*day {
			continue // "this year" says little
		}
		if slices.ContainsFunc(q.dates, said.overlaps) {
			v[featureDateSaid] = 1
		}
	}
}

// share returns the share of the question's IDF that was found, with found in [0, 1] for each term.
func (q question) share(found []float64) float64 {
	if q.idf == 0 {
		return 0
	}
	sum := 0.0
	for t, part := range found {
		sum += q.terms[t].idf * min(part, 1)
	}
	return sum / q.idf
}

// larger sets each number of a to the larger one of a and b, and returns a.
func larger(a, b []float64) []float64 {
	for i, n := range b {
		a[i] = max(a[i], n)
	}
	return a
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Candidate is a scored message.
type Candidate struct {
	Message  memory.MessageID
	Features []float64 // in the order of FeatureNames
	Score    float64
}

// Ingredient is a named group of features.
type Ingredient struct {
	Name     string
	Features []int // their places in a Candidate's Features
}

// Ingredients returns a partition of the features: the reasons that people see, and the other features alone.
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

// Without returns c's score without an ingredient.
func (c Candidate) Without(in Ingredient) float64 {
	score := 0.0
	for f, value := range c.Features {
		if !slices.Contains(in.Features, f) {
			score += weights[f] * value
		}
	}
	return score
}

// matchesNamesAndDates reports whether m fits the people named, if any, and the dates, if any.
func (q question) matchesNamesAndDates(m *memory.Message) bool {
	if len(q.dates) > 0 && q.distance(m.Time()) != 0 {
		return false
	}
	if len(q.named) == 0 || slices.Contains(q.named, m.Author) {
		return true
	}
	said := text.Terms(q.spelled(m.Text()))
	return slices.ContainsFunc(q.terms, func(t weighted) bool { return t.names != 0 && slices.Contains(said, t.term) })
}
