package main

import (
	"fmt"
	"go/format"
	"math"
	"slices"
	"strings"

	"hark/search"
)

// curve takes what is known of a hit's place among the scores of a result to the probability that it, or a direct
// neighbour, answers the question: a logistic curve over search.Standing, with a constant first.
type curve struct {
	weights [4]float64
	field   float64 // the median score of the hit that stands for what merely resembles a question
}

// hits is how many of a question's are looked at.
const hits = 40

// standings are those of a question's best candidates.
func standings(scores []float64, field float64) [][3]float64 {
	below := math.Inf(-1)
	if len(scores) > hits {
		scores, below = scores[:hits], scores[hits]
	}
	return search.Standings(scores, below, field)
}

// fitCurve fits the curve, each set counting the same, by as many steps of gradient descent as it takes.
func fitCurve(questions []question, weights func(int) []float64) (c curve) {
	var fields []float64
	for i, q := range questions {
		if _, scores := ranked(q, weights(i)); len(scores) >= search.Field {
			fields = append(fields, scores[search.Field-1])
		}
	}
	slices.Sort(fields)
	if len(fields) > 0 {
		c.field = fields[len(fields)/2]
	}
	type point struct {
		x      [4]float64
		right  bool
		weight float64
	}
	var points []point
	count := map[string]float64{}
	for _, q := range questions {
		if n := min(hits, len(q.candidates)); q.answered && n > 0 {
			count[q.set] += float64(n)
		}
	}
	for i, q := range questions {
		if !q.answered {
			continue
		}
		order, scores := ranked(q, weights(i))
		for at, s := range standings(scores, c.field) {
			points = append(points, point{[4]float64{1, s[0], s[1], s[2]}, order[at].near,
				1 / count[q.set] / float64(len(count))})
		}
	}
	var mean, square [4]float64
	for step := 1.0; step <= 2000; step++ {
		var slope [4]float64
		for _, p := range points {
			d := logistic(c.weights, p.x)
			if p.right {
				d--
			}
			for j, x := range p.x {
				slope[j] += p.weight * d * x
			}
		}
		for j := range slope {
			mean[j] = 0.9*mean[j] + 0.1*slope[j]
			square[j] = 0.999*square[j] + 0.001*slope[j]*slope[j]
			c.weights[j] -= 0.02 * mean[j] / (1 - math.Pow(0.9, step)) / (math.Sqrt(square[j]/(1-math.Pow(0.999, step))) + 1e-8)
		}
	}
	return c
}

func logistic(w, x [4]float64) float64 {
	z := 0.0
	for i := range w {
		z += w[i] * x[i]
	}
	return 1 / (1 + math.Exp(-z))
}

const bins = 5

// tally counts hits of each fifth of relevance, the least first.
type tally [bins]struct{ right, all float64 }

// share is how many of a fifth's hits are right.
func (t *tally) share(bin int) float64 { return t[bin].right / max(t[bin].all, 1) }

// promised is how many hits of the best two fifths are to be right in each set.
var promised = map[int]float64{bins - 1: 0.82, bins - 2: 0.55}

// cautious lowers the curve until it promises no more than it keeps in any set: what holds for all of them
// together can be too much for the hardest.
func (c curve) cautious(questions []question, weights func(int) []float64) curve {
	const step, most = 0.05, 60
	for range most {
		_, tallies := reliability(questions, weights, c)
		kept := true
		for _, t := range tallies {
			for bin, least := range promised {
				kept = kept && (t[bin].all == 0 || t.share(bin) >= least)
			}
		}
		if kept {
			break
		}
		c.weights[0] -= step
	}
	return c
}

// reliability counts of the hits of each relevance how many are evidence or its direct neighbours, by set.
func reliability(questions []question, weights func(int) []float64, c curve) (sets []string, tallies map[string]*tally) {
	tallies = map[string]*tally{}
	for i, q := range questions {
		if !q.answered {
			continue
		}
		if tallies[q.set] == nil {
			tallies[q.set], sets = &tally{}, append(sets, q.set)
		}
		order, scores := ranked(q, weights(i))
		relevances := make([]float64, min(hits, len(scores)))
		for at, s := range standings(scores, c.field) {
			relevances[at] = logistic(c.weights, [4]float64{1, s[0], s[1], s[2]})
		}
		for at := len(relevances) - 2; at >= 0; at-- {
			relevances[at] = max(relevances[at], relevances[at+1])
		}
		for at, r := range relevances {
			t := &tallies[q.set][min(bins-1, int(r*bins))]
			t.all++
			if order[at].near {
				t.right++
			}
		}
	}
	return sets, tallies
}

// table tells what reliability counted.
func table(sets []string, tallies map[string]*tally) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s", "relevance")
	for _, set := range sets {
		fmt.Fprintf(&b, "  %20s", set)
	}
	b.WriteByte('\n')
	for bin := bins - 1; bin >= 0; bin-- {
		fmt.Fprintf(&b, "%.1f to %.1f  ", float64(bin)/bins, float64(bin+1)/bins)
		for _, set := range sets {
			fmt.Fprintf(&b, "  %20s", fmt.Sprintf("%.2f of %.0f", tallies[set].share(bin), tallies[set][bin].all))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// source is the file that search has its weights from.
func source(features []string, weights []float64, c curve, figures, table string) string {
	var b strings.Builder
	b.WriteString("// Code generated by \"go run ./internal/tune\"; DO NOT EDIT.\n\npackage search\n\n")
	b.WriteString("// weights are those of the features. On conversations that they weren't learned from, with evidence among the first five\n")
	fmt.Fprintf(&b, "// and ten hits, in %% of the questions: %s.\n", figures)
	b.WriteString("var weights = [featureCount]float64{\n")
	for i, name := range features {
		fmt.Fprintf(&b, "feature%s: %.2f,\n", strings.ToUpper(name[:1])+name[1:], weights[i])
	}
	b.WriteString("}\n\n// curve is that of relevance over a hit's Standing, after a constant. So many hits of each relevance, on conversations\n")
	b.WriteString("// that neither was learned from, are evidence or direct neighbours of it:\n//\n")
	for line := range strings.Lines(table) {
		b.WriteString("//\t" + line)
	}
	b.WriteString("var curve = [4]float64{")
	for i, w := range c.weights {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.2f", w)
	}
	fmt.Fprintf(&b, "}\n\n// fieldScore is the median score of the hit at Field.\nconst fieldScore = %.2f\n", c.field)
	formatted, err := format.Source([]byte(b.String()))
	if err != nil {
		return b.String() // and the compiler says what is wrong
	}
	return string(formatted)
}
