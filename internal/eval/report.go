package eval

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"hark/search"
)

// Report sums outcomes up, set by set.
type Report struct {
	sets []*tally

	questions, textOnly, unranked int // of all sets, answered or not
	whyUnranked                   error
}

// tally is the sums of one set. Questions without evidence have no answer to find and aren't counted.
type tally struct {
	set       string
	questions int
	any5      float64
	any10     float64
	recall10  float64
	inContext map[int]*[3]float64 // any, all and tokens by budget
	millis    []float64
	relevance [bins]bin
}

// bins is how many parts relevances are counted in.
const bins = 5

// bin counts the hits of a relevance.
type bin struct{ right, all int }

// Add counts an outcome.
func (r *Report) Add(o Outcome) {
	r.questions++
	if o.TextOnly {
		r.textOnly++
	}
	if o.RerankFailed != nil {
		r.unranked++
		r.whyUnranked = cmp.Or(r.whyUnranked, o.RerankFailed)
	}
	t := r.tally(o.Set)
	t.millis = append(t.millis, o.Millis)
	if len(o.Evidence) == 0 {
		return
	}
	t.questions++
	t.any5 += share(o.Evidence, o.Ranked[:min(5, len(o.Ranked))], false)
	t.any10 += share(o.Evidence, o.Ranked[:min(10, len(o.Ranked))], false)
	t.recall10 += share(o.Evidence, o.Ranked[:min(10, len(o.Ranked))], true)
	for _, hit := range o.Hits[:min(search.DefaultLimit, len(o.Hits))] {
		b := &t.relevance[min(bins-1, int(hit.Relevance*bins))]
		b.all++
		if o.Near[hit.Message.ID] {
			b.right++
		}
	}
	for _, budget := range Budgets {
		held := o.Context[fmt.Sprint(budget)]
		shown := held.Messages
		sums := t.inContext[budget]
		sums[0] += share(o.Evidence, shown, false)
		sums[2] += float64(held.Tokens)
		if share(o.Evidence, shown, true) == 1 {
			sums[1]++
		}
	}
}

// Lacks say what the figures don't show: questions answered without the embedder or the reranker, which
// failed.
func (r *Report) Lacks() []string {
	var lacks []string
	if r.textOnly > 0 {
		lacks = append(lacks, fmt.Sprintf(
			"%d of %d questions were answered by words only: the embedder gave no vector", r.textOnly, r.questions))
	}
	if r.unranked > 0 {
		lacks = append(lacks, fmt.Sprintf("%d of %d questions were answered without the reranker: %v",
			r.unranked, r.questions, r.whyUnranked))
	}
	return lacks
}

func (r *Report) tally(set string) *tally {
	for _, t := range r.sets {
		if t.set == set {
			return t
		}
	}
	t := &tally{set: set, inContext: map[int]*[3]float64{}}
	for _, budget := range Budgets {
		t.inContext[budget] = &[3]float64{}
	}
	r.sets = append(r.sets, t)
	return t
}

// share returns how much of evidence is among found: as a fraction, or 1 if any of it is.
func share(evidence, found []string, fraction bool) float64 {
	n := 0
	for _, id := range evidence {
		if slices.Contains(found, id) {
			n++
		}
	}
	if !fraction {
		return float64(min(n, 1))
	}
	return float64(n) / float64(len(evidence))
}

// Write prints what was ranked, what the history held, and whether the relevance is right, set by set:
// figures in percent, tokens on average and times in milliseconds. That w fails is for w to tell.
func (r *Report) Write(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "set\tquestions\tany@5\tany@10\trecall@10\tp50 ms\tp95 ms\t\n")
	for _, t := range r.sets {
		n := float64(max(1, t.questions)) / 100
		fmt.Fprintf(table, "%s\t%d\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t\n", t.set, t.questions, t.any5/n, t.any10/n,
			t.recall10/n, percentile(t.millis, 50), percentile(t.millis, 95))
	}
	table.Flush()
	r.writeCurve(w)
	r.writeReliability(w)
}

// WriteAgainst prints what changes in recall, set by set in points of percent, from before to r, and says whether it is
// worth it. The two are of the same sets, with the embedders of these names.
func (r *Report) WriteAgainst(w io.Writer, before *Report, name, beforeName string) {
	fmt.Fprintf(w, "\n%s against %s, in points\n", name, beforeName)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "set\tany@5\tany@10\trecall@10\t\n")
	var sums [3]float64
	var all float64
	for i, t := range r.sets {
		n := float64(t.questions) / 100
		was := before.sets[i]
		changes := [3]float64{t.any5 - was.any5, t.any10 - was.any10, t.recall10 - was.recall10}
		for k, change := range changes {
			sums[k] += change
			changes[k] = change / max(n, 0.01)
		}
		all += n
		fmt.Fprintf(table, "%s\t%+.1f\t%+.1f\t%+.1f\t\n", t.set, changes[0], changes[1], changes[2])
	}
	table.Flush()
	if all == 0 {
		fmt.Fprintln(w, "No question names the messages that answer it, so nothing is measured.")
		return
	}
	better := false
	worse := false
	for k := range sums {
		sums[k] /= all
		better = better || sums[k] >= leastPoints
		worse = worse || sums[k] <= -leastPoints
	}
	figures := fmt.Sprintf("any@5 %+.1f, any@10 %+.1f, recall@10 %+.1f points", sums[0], sums[1], sums[2])
	switch {
	case worse && better:
		fmt.Fprintf(w, "Some of recall gets better and some worse: %s. If in doubt, keep %s.\n", figures, beforeName)
	case worse:
		fmt.Fprintf(w, "It makes recall worse: %s. Keep %s.\n", figures, beforeName)
	case better:
		fmt.Fprintf(w, "It makes recall better: %s.\n", figures)
	default:
		fmt.Fprintf(w, "Recall stays as it is: %s finds as much.\n", beforeName)
	}
}

// leastPoints is the least change of recall that is told, in points of percent.
const leastPoints = 0.05

// writeCurve prints how much evidence a history holds for what it costs.
func (r *Report) writeCurve(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "\nhistory of\tcharacters\ttokens\tany evidence\tall evidence\t\n")
	for _, t := range r.sets {
		n := float64(max(1, t.questions))
		for _, budget := range Budgets {
			sums := t.inContext[budget]
			fmt.Fprintf(table, "%s\t%d\t%.0f\t%.1f\t%.1f\t\n", t.set, budget, sums[2]/n, 100*sums[0]/n, 100*sums[1]/n)
		}
	}
	table.Flush()
}

// writeReliability prints how many of the hits of each relevance were evidence or direct neighbours of it.
func (r *Report) writeReliability(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "\nof hits with a relevance of\t")
	for _, t := range r.sets {
		fmt.Fprintf(table, "%s\t", t.set)
	}
	fmt.Fprintln(table)
	for i := range bins {
		at := bins - 1 - i
		fmt.Fprintf(table, "%.1f to %.1f were right\t", float64(at)/bins, float64(at+1)/bins)
		for _, t := range r.sets {
			b := t.relevance[at]
			if b.all == 0 {
				fmt.Fprint(table, "none\t")
				continue
			}
			fmt.Fprintf(table, "%.0f %% of %d\t", 100*float64(b.right)/float64(b.all), b.all)
		}
		fmt.Fprintln(table)
	}
	table.Flush()
}

// percentile returns the p-th percentile of values by the nearest rank; 0 of none.
func percentile(values []float64, p int) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}
