package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"hark/internal/eval"
)

// question is what was scored for one.
type question struct {
	set, conversation string
	candidates        []candidate
	answered          bool // it has evidence, whether that was found or not
}

type candidate struct {
	features       []float64
	evidence, near bool // near: evidence, or a direct neighbour of it
}

// contenders is how many of a question's candidates are learned from: those whose features sum to most.
const contenders = 150

func questionOf(s eval.Sample) question {
	q := question{set: s.Set, conversation: s.Set + " " + s.Channel, answered: len(s.Evidence) > 0}
	for _, c := range s.Candidates {
		q.candidates = append(q.candidates, candidate{c.Features, s.Evidence[c.Message], s.Near[c.Message]})
	}
	sum := func(c candidate) (sum float64) {
		for _, x := range c.features {
			sum += x
		}
		return sum
	}
	// The same whatever weights they were ranked by.
	slices.SortFunc(q.candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(sum(b), sum(a)), slices.Compare(a.features, b.features))
	})
	q.candidates = q.candidates[:min(contenders, len(q.candidates))]
	return q
}

// learnable reports whether there is something to learn: evidence among the candidates.
func (q question) learnable() bool {
	return slices.ContainsFunc(q.candidates, func(c candidate) bool { return c.evidence })
}

// deal deals conversations out to n folds, in turns, and tells of each question in which it is.
func deal(questions []question, n int) []int {
	var names []string
	for _, q := range questions {
		names = append(names, q.conversation)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	folds := make([]int, len(questions))
	for i, q := range questions {
		at, _ := slices.BinarySearch(names, q.conversation)
		folds[i] = at % n
	}
	return folds
}

// learnApart returns the weights learned without each fold, and without a feature if that isn't negative.
func learnApart(questions []question, apart []int, features, without int) [][]float64 {
	weights := make([][]float64, slices.Max(apart)+1)
	var all sync.WaitGroup
	for fold := range weights {
		all.Go(func() {
			var rest []question
			for i, q := range questions {
				if apart[i] != fold {
					rest = append(rest, q)
				}
			}
			weights[fold] = learn(rest, features, without)
		})
	}
	all.Wait()
	return weights
}

// How long is learned, how fast, and how strongly weights are drawn to zero.
const (
	steps   = 250
	pace    = 0.05
	penalty = 0.002
)

// learn finds the weights under which a choice among a question's candidates, each with a probability that
// grows with e to its score, is likeliest to fall on evidence (ListNet's loss for sets of right answers),
// each set counting the same. It always finds the same.
func learn(questions []question, features, without int) []float64 {
	count := map[string]float64{}
	for _, q := range questions {
		if q.learnable() {
			count[q.set]++
		}
	}
	scale := spread(questions, features)
	w := make([]float64, features)
	descend(w, steps, pace, func(slope []float64) {
		for _, q := range questions {
			if q.learnable() {
				addSlope(slope, q, w, scale, 1/count[q.set]/float64(len(count)))
			}
		}
		for i := range w {
			slope[i] += penalty * w[i]
			if i == without {
				slope[i] = 0
			}
		}
	})
	for i := range w {
		w[i] /= scale[i]
	}
	return w
}

// descend takes w, which begins at 0, so many steps down the slope, by Adam (Kingma and Ba, 2015).
func descend(w []float64, steps int, pace float64, addSlope func(slope []float64)) {
	mean := make([]float64, len(w))
	square := make([]float64, len(w))
	for step := 1.0; step <= float64(steps); step++ {
		slope := make([]float64, len(w))
		addSlope(slope)
		for i, d := range slope {
			mean[i] = 0.9*mean[i] + 0.1*d
			square[i] = 0.999*square[i] + 0.001*d*d
			w[i] -= pace * mean[i] / (1 - math.Pow(0.9, step)) / (math.Sqrt(square[i]/(1-math.Pow(0.999, step))) + 1e-8)
		}
	}
}

// spread returns the root mean square of each feature, by which it is divided while learning.
func spread(questions []question, features int) []float64 {
	scale := make([]float64, features)
	n := 0.0
	for _, q := range questions {
		for _, c := range q.candidates {
			for i, x := range c.features {
				scale[i] += x * x
			}
			n++
		}
	}
	for i := range scale {
		scale[i] = math.Sqrt(scale[i]/max(n, 1)) + 1e-6
	}
	return scale
}

// addSlope adds the slope of a question's loss, times share.
func addSlope(slope []float64, q question, w, scale []float64, share float64) {
	odds := make([]float64, len(q.candidates))
	top := math.Inf(-1)
	for i, c := range q.candidates {
		for j, x := range c.features {
			odds[i] += w[j] * x / scale[j]
		}
		top = max(top, odds[i])
	}
	all := 0.0
	right := 0.0
	for i, c := range q.candidates {
		odds[i] = math.Exp(odds[i] - top)
		all += odds[i]
		if c.evidence {
			right += odds[i]
		}
	}
	for i, c := range q.candidates {
		d := odds[i] / all
		if c.evidence {
			d -= odds[i] / right
		}
		if math.Abs(d) < 1e-6 {
			continue
		}
		for j, x := range c.features {
			slope[j] += share * d * x / scale[j]
		}
	}
}

// ranked returns a question's candidates, best first, with their scores.
func ranked(q question, w []float64) (order []candidate, scores []float64) {
	at := make([]int, len(q.candidates))
	all := make([]float64, len(q.candidates))
	for i, c := range q.candidates {
		at[i] = i
		for j, x := range c.features {
			all[i] += w[j] * x
		}
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(all[b], all[a]) })
	for _, i := range at {
		order = append(order, q.candidates[i])
		scores = append(scores, all[i])
	}
	return order, scores
}

// measure tells for each set in how many of a hundred questions evidence is among the first five and the
// first ten.
func measure(questions []question, weights func(question int) []float64) string {
	type tally struct{ five, ten, all float64 }
	tallies := map[string]*tally{}
	var sets []string
	for i, q := range questions {
		if !q.answered {
			continue
		}
		t := tallies[q.set]
		if t == nil {
			t = &tally{}
			tallies[q.set], sets = t, append(sets, q.set)
		}
		t.all++
		order, _ := ranked(q, weights(i))
		switch at := slices.IndexFunc(order, func(c candidate) bool { return c.evidence }); {
		case at < 0, at >= 10:
		case at < 5:
			t.five++
			fallthrough
		default:
			t.ten++
		}
	}
	var figures []string
	for _, set := range sets {
		t := tallies[set]
		figures = append(figures, fmt.Sprintf("%s %.1f/%.1f", set, 100*t.five/t.all, 100*t.ten/t.all))
	}
	return strings.Join(figures, "  ")
}
