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

const (
	rerankedHits = 50   // the best; later ones are rarely right and cost as much time
	rerankedText = 1000 // characters: many models refuse more than 512 tokens, question included
)

// WithReranker sets the reranker of e and returns e; nil means none.
func (e *Engine) WithReranker(r Reranker) *Engine {
	e.reranker = r
	return e
}

var errScores = errors.New("the reranker didn't give one finite score for each text")

// rerank reorders the best of hits and cuts them to the query's limit. If the reranker fails, the order stays, and
// failed is its error. err is ctx's error.
func (e *Engine) rerank(ctx context.Context, f recalled, hits []Hit) (ranked []Hit, failed, err error) {
	best := hits[:min(rerankedHits, len(hits))]
	for len(best) > 0 && best[len(best)-1].Relevance == 0 {
		best = best[:len(best)-1] // a repeat stays last
	}
	if e.reranker != nil && len(best) > 1 && strings.TrimSpace(f.query.Text) != "" {
		texts := make([]string, len(best))
		for i, hit := range best {
			texts[i] = f.known.textOf(hit, f.question.titles.name(hit.Message.Channel))
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
		failed = err
		if err == nil {
			copy(best, sortByScores(best, scores))
		}
	}
	return hits[:min(f.query.Limit, len(hits))], failed, nil
}

// sortByScores orders hits by score, best first, stably. Relevances stay at their ranks, because they were learned
// by rank from Hark's own scores, and must never rise with the rank.
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

// textOf returns a hit's excerpt for the Reranker, below its thread's title, if any, and with authors' names. Its
// neighbours share the room that the message leaves.
func (k people) textOf(hit Hit, title string) string {
	var lines []string
	most := rerankedText
	if title != "" {
		lines = append(lines, text.Cut(title, rerankedText/4))
		most -= utf8.RuneCountInString(lines[0]) + 1
	}
	own := text.Cut(k.line(hit.Message), most)
	room := 0
	if others := len(hit.Excerpt) - 1; others > 0 {
		room = (most-utf8.RuneCountInString(own))/others - 1
	}
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
