package eval

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hark/internal/imports"
	"hark/search"
)

// Gated is a question as the gate of search decided on it.
type Gated struct {
	Set      string
	Line     int       // of the lines that were asked; -1: a question of the set
	Values   []float64 // that it was weighed by; nil where it needed no weighing
	Declined bool
	Found    bool // evidence was among the first foundAmong hits
}

// foundAmong is how many hits a prompt may have room for.
const foundAmong = 20

// askedAbout is how many of those who wrote most in a channel are asked about there.
const askedAbout = 4

// Gate asks the questions of a set, and each of lines in one of its channels, in turns. {name} in a line
// stands for the first name of one of those who wrote most there.
func (e *Evaluator) Gate(ctx context.Context, file string, lines []string, each func(Gated) error) error {
	set, err := readSet(file)
	if err != nil {
		return err
	}
	channels := slices.Sorted(maps.Keys(set.Messages))
	return e.loaded(ctx, file, func(a *asker) error {
		ask := func(q imports.SetQuestion, line int) error {
			evidence, _, err := a.evidence(ctx, q)
			if err != nil {
				return err
			}
			r, err := a.engine.Search(ctx, a.query(q))
			if err != nil {
				return fmt.Errorf("ask %q of %s: %w", q.Text, file, err)
			}
			found := slices.ContainsFunc(r.Hits[:min(foundAmong, len(r.Hits))], func(h search.Hit) bool {
				return evidence[h.Message.ID]
			})
			return each(Gated{SetName(file), line, r.Gate(), r.Declined, found})
		}
		for _, q := range set.Questions {
			if err := ask(q, -1); err != nil {
				return err
			}
		}
		for i, line := range lines {
			channel := channels[i%len(channels)]
			if authors := byMessages(set.Messages[channel]); len(authors) > 0 {
				author := authors[i/len(channels)%min(askedAbout, len(authors))]
				line = strings.ReplaceAll(line, "{name}", strings.ToLower(strings.Fields(author)[0]))
			}
			const after = 100 * 365 * 24 * time.Hour // all that was said
			if err := ask(imports.SetQuestion{
				Channel: channel,
				Text:    line,
				Time:    time.Unix(0, 0).Add(after),
			}, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// byMessages returns the authors of messages, those who wrote most first.
func byMessages(messages map[string]string) []string {
	wrote := map[string]int{}
	for _, author := range messages {
		if author != "" {
			wrote[author]++
		}
	}
	return slices.SortedFunc(maps.Keys(wrote), func(a, b string) int {
		return cmp.Or(wrote[b]-wrote[a], strings.Compare(a, b))
	})
}
