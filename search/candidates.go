package search

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/sync/errgroup"

	"hark/internal/text"
	"hark/memory"
)

const (
	textCandidates   = 120  // messages found by full text
	starCandidates   = 40   // messages that are marked as important, the newest
	vectorCandidates = 20   // segments found by their vector
	neighbours       = 8    // messages before and after a candidate that are scored with it
	fullNeighbours   = 50   // candidates by full text for which that holds, the best;
	fewNeighbours    = 2    // of the others so many messages are
	maxMatches       = 3000 // messages that full text compares: the rarest terms that are in no more, but for
	leastTerms       = 3    // so many, which are looked for anyway
	fewChannels      = 8    // in a scope whose latest messages are worth reading
)

// candidates fetches what may be relevant, at most so many of each kind, with its surroundings.
func (e *Engine) candidates(ctx context.Context, q Query, asked question, most int) (p *pool, textOnly bool,
	err error) {
	p = newPool(q)
	var hits []memory.TextHit
	var near []memory.VectorHit
	group, both := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		hits, err = e.log.FullText(both, q.Scope, asked.rarest(), min(most, textCandidates))
		return err
	})
	group.Go(func() (err error) {
		near, err = e.nearest(both, q, asked, most)
		if textOnly = errors.Is(err, memory.ErrNoVectors); textOnly {
			return nil
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, false, err
	}
	for i, hit := range hits {
		if i < fullNeighbours {
			p.want(hit.Channel, hit.ID, neighbours)
		} else {
			p.want(hit.Channel, hit.ID, fewNeighbours)
		}
	}
	for _, hit := range near {
		for _, id := range hit.Messages {
			p.want(hit.Channel, id, neighbours)
			p.similarity[id] = max(p.similarity[id], hit.Similarity)
		}
	}
	starred, err := e.log.Starred(ctx, q.Scope, min(most, starCandidates))
	if err != nil {
		return nil, false, err
	}
	for _, spot := range starred {
		p.want(spot.Channel, spot.Message, fewNeighbours)
	}
	if len(p.wanted) < q.Limit && len(q.Scope.Channels) <= fewChannels {
		if err := e.latest(ctx, q, asked.dates, p); err != nil {
			return nil, false, err
		}
	}
	return p, textOnly, e.surround(ctx, asked, p)
}

// rarest are the terms to look for by full text: each message that holds one costs time, and what holds only
// the most common ones is hardly meant.
func (q question) rarest() []string {
	var terms []string
	matches := 0
	for i, t := range q.terms {
		if matches += t.count; i >= leastTerms && matches > maxMatches {
			break
		}
		terms = append(terms, t.term)
	}
	return terms
}

// surround reads what is wanted, with what was said round it, and counts the question's terms in it. All searches
// together read some parts at a time: where many are asked at once, what is said meanwhile is still logged soon.
func (e *Engine) surround(ctx context.Context, asked question, p *pool) error {
	var parts []map[memory.Spot]int
	in := map[memory.ChannelID]map[memory.Spot]int{} // the part that a channel is in
	for spot, reach := range p.wanted {
		part := in[spot.Channel]
		if part == nil {
			if len(in) < cap(e.reading) {
				parts = append(parts, map[memory.Spot]int{})
			}
			part = parts[len(in)%len(parts)]
			in[spot.Channel] = part
		}
		part[spot] = reach
	}
	streams := make([]map[memory.ChannelID][]entry, len(parts))
	group, ctx := errgroup.WithContext(ctx)
	for i, part := range parts {
		group.Go(func() error {
			select {
			case e.reading <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			defer func() { <-e.reading }()
			stretches, err := e.log.Stretches(ctx, part)
			streams[i] = p.read(stretches, newCounter(asked))
			return err
		})
	}
	err := group.Wait()
	for _, some := range streams {
		maps.Copy(p.streams, some)
	}
	return err
}

// latest adds what was said last, also by the end of what dates ask for, for a question that says little to look for.
func (e *Engine) latest(ctx context.Context, q Query, dates []dateRange, p *pool) error {
	ends := []memory.MessageID{endOf(q.Scope)}
	for _, d := range dates {
		ends = append(ends, min(ends[0], memory.FirstMessageID(d.to)))
	}
	for _, channel := range q.Scope.Channels {
		stretch, err := e.log.Around(ctx, channel, ends, q.Limit, 0)
		if err != nil {
			return err
		}
		for _, m := range stretch {
			p.want(channel, m.ID, neighbours)
		}
	}
	return nil
}

// endOf is the id that all in a scope are below.
func endOf(scope memory.Scope) memory.MessageID {
	if scope.Until.IsZero() {
		return math.MaxInt64
	}
	return memory.FirstMessageID(scope.Until)
}

// nearest finds segments by the question's vector. An embedder that can't be reached is as one that has
// embedded nothing.
func (e *Engine) nearest(ctx context.Context, q Query, asked question, most int) ([]memory.VectorHit, error) {
	if q.Opened { // a segment may have begun before its scope
		return nil, nil
	}
	space, err := e.log.Space(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(e.embedders, func(e memory.Embedder) bool { return e.Space() == space })
	if at < 0 {
		return nil, memory.ErrNoVectors
	}
	embedder := e.embedders[at]
	if t, ok := embedder.(termEmbedder); ok {
		var terms []string
		idf := map[string]float64{}
		for _, t := range asked.terms {
			terms = append(terms, t.term)
			idf[t.term] = t.idf
		}
		vector := t.EmbedTerms(terms, func(term string) float64 { return idf[term] })
		if vector == nil {
			return nil, nil
		}
		return e.log.Nearest(ctx, q.Scope, space, vector, min(most, vectorCandidates))
	}
	if q.Local {
		return nil, memory.ErrNoVectors
	}
	vectors, err := embedder.Embed(ctx, memory.ForSearch, []string{asked.text})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || len(vectors) != 1 {
		return nil, memory.ErrNoVectors
	}
	if vectors[0] == nil {
		return nil, nil
	}
	return e.log.Nearest(ctx, q.Scope, space, vectors[0], min(most, vectorCandidates))
}

// shown remembers what has been said, so that nothing is shown twice.
type seenTexts struct {
	exact map[string]bool
	long  []wordSet
}

// wordSet are the words of a text, sorted, each once.
type wordSet []string

const (
	minCompared   = 12  // of texts that may be near-duplicates: in shorter ones every word counts
	nearDuplicate = 0.9 // share of two texts' words that both have
)

// add takes a text in and reports whether it says something new: more than another in a few words only, or
// another number.
func (s *seenTexts) add(normal string) bool {
	if s.exact[normal] {
		return false
	}
	words := wordsOf(normal)
	if len(words) >= minCompared {
		if slices.ContainsFunc(s.long, words.isNearDuplicate) {
			return false
		}
		s.long = append(s.long, words)
	}
	if s.exact == nil {
		s.exact = map[string]bool{}
	}
	s.exact[normal] = true
	return true
}

func wordsOf(s string) wordSet {
	words := strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.Is(unicode.M, r)
	})
	slices.Sort(words)
	return slices.Compact(words)
}

// nearly reports whether two texts differ in few words, none of which turns what they say: a number, a "not".
func (a wordSet) isNearDuplicate(b wordSet) bool {
	if float64(min(len(a), len(b))) < nearDuplicate*float64(max(len(a), len(b))) {
		return false
	}
	all, differ := len(a)+len(b), 0
	for len(a) > 0 || len(b) > 0 {
		var word string
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			word, a = a[0], a[1:]
		case len(a) == 0 || b[0] < a[0]:
			word, b = b[0], b[1:]
		default:
			a, b = a[1:], b[1:]
			continue
		}
		if differ++; float64(all-differ) < nearDuplicate*float64(all+differ) || changesMeaning(word) {
			return false
		}
	}
	return true
}

func changesMeaning(word string) bool {
	return negating[word] || strings.ContainsFunc(word, unicode.IsNumber)
}

// negating are words that turn what a text says. "Don't" is "don" and "t" here.
var negating = text.SetOf(`no not never none nobody nothing neither nor without t cannot cancelled canceled
	nicht kein keine nie pas jamais aucun nunca jamás ni sin`)
