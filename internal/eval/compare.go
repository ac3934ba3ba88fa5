package eval

import (
	"context"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"hark/internal/imports"
	"hark/memory"
	"hark/search"
)

// Comparison counts how often evidence is found with each ingredient of recall switched off and the other weights
// unchanged. internal/tune measures how well recall can do without one.
type Comparison struct {
	sets []*compared
}

// compared are the figures of one set, of the questions that have evidence.
type compared struct {
	set       string
	questions int
	offs      []string           // what was switched off, in order
	found     map[string]*[2]int // with that off, the questions with evidence among the first five and ten
}

// What is switched off beside the ingredients of ranking: where candidates come from.
const (
	offNothing  = "nothing"
	offVectors  = "vectors"   // the candidates they find, and what they say of others
	offFullText = "full text" // the candidates it finds; those found by vectors are scored as ever
)

// Compare asks a set's questions, as Run does, and adds what it found to c. A reranker has no part in it.
func (e *Evaluator) Compare(ctx context.Context, path string, c *Comparison, progress func(done, total int)) error {
	to := &compared{set: SetName(path), found: map[string]*[2]int{}}
	c.sets = append(c.sets, to)
	return e.questions(ctx, path, progress, func(a *asker, q imports.SetQuestion) error {
		if len(q.Evidence) == 0 {
			return nil
		}
		evidence, _, err := a.evidence(ctx, q)
		if err != nil {
			return err
		}
		to.questions++
		engines := map[string]*search.Engine{
			offNothing:  a.engine,
			offVectors:  search.New(a.store, a.store),
			offFullText: search.New(wordless{a.store}, a.store, e.Embedder),
		}
		for _, off := range []string{offNothing, offVectors, offFullText} {
			candidates, err := engines[off].Candidates(ctx, a.query(q))
			if err != nil {
				return err
			}
			to.add(off, ahead(candidates, evidence, search.Ingredient{}))
			if off != offNothing {
				continue
			}
			for _, in := range search.Ingredients() {
				to.add("ranking by "+in.Name, ahead(candidates, evidence, in))
			}
		}
		return nil
	})
}

// wordless is a log that finds nothing by full text.
type wordless struct{ search.Log }

func (wordless) FullText(context.Context, memory.Scope, []string, int) ([]memory.TextHit, error) {
	return nil, nil
}

// ahead returns how many of candidates, which are best first, come before the first evidence without an
// ingredient.
func ahead(candidates []search.Candidate, evidence map[memory.MessageID]bool, without search.Ingredient) int {
	best := math.Inf(-1)
	at := -1
	scores := make([]float64, len(candidates))
	for i, c := range candidates {
		scores[i] = c.Without(without)
		if evidence[c.Message] && scores[i] > best {
			best = scores[i]
			at = i
		}
	}
	if at < 0 {
		return math.MaxInt
	}
	before := 0
	for i, score := range scores {
		if score > best || score == best && i < at {
			before++
		}
	}
	return before
}

// add counts a question that has so many candidates ahead of its evidence.
func (c *compared) add(off string, ahead int) {
	if c.found[off] == nil {
		c.offs = append(c.offs, off)
		c.found[off] = &[2]int{}
	}
	for i, most := range []int{5, 10} {
		if ahead < most {
			c.found[off][i]++
		}
	}
}

// Write prints the table, in percent of each set's questions. That w fails is for w to tell.
func (c *Comparison) Write(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "switched off\t")
	var shown []*compared
	for _, s := range c.sets {
		if s.questions > 0 {
			shown = append(shown, s)
			fmt.Fprintf(table, "%s any@5\tany@10\t", s.set)
		}
	}
	fmt.Fprintln(table)
	if len(shown) > 0 {
		for _, off := range shown[0].offs { // the same in each
			fmt.Fprintf(table, "%s\t", off)
			for _, s := range shown {
				n := float64(s.questions) / 100
				fmt.Fprintf(table, "%.1f\t%.1f\t", float64(s.found[off][0])/n, float64(s.found[off][1])/n)
			}
			fmt.Fprintln(table)
		}
	}
	table.Flush()
}
