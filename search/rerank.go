package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"hark/internal/text"
	"hark/memory"
)

// Reranker is a model that reads a question together with each of some texts.
type Reranker interface {
	// Rerank returns a score for each text, in their order: the higher, the better it answers query. Scores are finite
	// and need only compare with one another. It bounds its own time. Its errors hold nothing of query or texts.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

const (
	// rerankedHits is how many hits, the best, are put in a Reranker's order. What is farther down is rarely right, and
	// costs as much time to read.
	rerankedHits = 50
	// rerankedText is the longest text that a Reranker is given, in characters: many take 512 tokens with the question,
	// and refuse what is longer.
	rerankedText = 1000
)

// WithReranker has e put the best hits in r's order; nil changes nothing. It returns e.
func (e *Engine) WithReranker(r Reranker) *Engine {
	e.reranker = r
	return e
}

var errScores = errors.New("the reranker didn't give one finite score for each text")

// widened is q with as many hits as are reranked.
func (e *Engine) widened(q Query) Query {
	if e.reranker != nil {
		q.Limit = max(q.Limit, rerankedHits)
	}
	return q
}

// rerank puts the best of hits, which were found with a widened query, in the reranker's order. If that
// fails, they stay as they are, and failed says why. The error is that of ctx.
func (e *Engine) rerank(ctx context.Context, f recalled, hits []Hit) (ranked []Hit, failed, err error) {
	best := hits[:min(rerankedHits, len(hits))]
	for len(best) > 0 && best[len(best)-1].Relevance == 0 {
		best = best[:len(best)-1] // it only repeats what is known, and stays behind all else
	}
	if e.reranker != nil && len(best) > 1 && strings.TrimSpace(f.query.Text) != "" {
		texts := make([]string, len(best))
		for i, hit := range best {
			texts[i] = f.known.textOf(hit)
		}
		scores, err := e.reranker.Rerank(ctx, text.Cut(f.question.text, rerankedText), texts)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err == nil && (len(scores) != len(best) || slices.ContainsFunc(scores, func(s float64) bool {
			return math.IsNaN(s) || math.IsInf(s, 0)
		})) {
			err = errScores
		}
		if failed = err; err == nil {
			copy(best, sortByScores(best, scores))
		}
	}
	return hits[:min(f.query.Limit, len(hits))], failed, nil
}

// reordered are hits by their scores, best first; of equal ones the one that was before stays before. The
// relevances stay where they were: they tell how often a hit at its place is right, were learned from places
// given by our own scores, and must never rise with the rank.
func sortByScores(hits []Hit, scores []float64) []Hit {
	order := make([]int, len(hits))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	moved := make([]Hit, len(hits))
	for i, from := range order {
		moved[i] = hits[from]
		moved[i].Relevance = hits[i].Relevance
		if i != from {
			moved[i].Why = append(moved[i].Why, Reason{Kind: "reranked", Detail: fmt.Sprintf("from %d", from+1)})
		}
	}
	return moved
}

// textOf is what a Reranker reads of a hit: its excerpt, each message with its author's name. The message
// itself goes first into what there is room for; its neighbours share the rest.
func (k people) textOf(hit Hit) string {
	own := text.Cut(k.line(hit.Message), rerankedText)
	room := 0
	if others := len(hit.Excerpt) - 1; others > 0 {
		room = (rerankedText-utf8.RuneCountInString(own))/others - 1
	}
	var lines []string
	for _, m := range hit.Excerpt {
		switch {
		case m.ID == hit.Message.ID:
			lines = append(lines, own)
		case room > 0:
			lines = append(lines, text.Cut(k.line(m), room))
		}
	}
	return strings.Join(lines, "\n")
}

func (k people) line(m memory.Message) string {
	person, _ := k.person(m.Author)
	if name := person.DisplayName(); name != "" {
		return name + ": " + m.Text()
	}
	return m.Text()
}
