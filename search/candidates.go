package search

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"hark/memory"
)

// candidates fetches possibly relevant messages with their neighbours, at most most of each kind.
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
		textOnly = errors.Is(err, memory.ErrNoVectors)
		if textOnly {
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
	if err := e.byTitle(ctx, q, asked, most, p); err != nil {
		return nil, false, err
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

// rarest returns the terms for full text. Matching messages cost time, and those with only common terms are hardly
// relevant.
func (q question) rarest() []string {
	var terms []string
	matches := 0
	for i, t := range q.terms {
		matches += t.count
		if i >= leastTerms && matches > maxMatches {
			break
		}
		terms = append(terms, t.term)
	}
	return terms
}

// surround reads the wanted messages with their neighbours and counts the question's terms in them. All searches
// share the read slots, so that new messages are still logged quickly.
func (e *Engine) surround(ctx context.Context, asked question, p *pool) error {
	var parts []map[memory.MessageRef]int
	in := map[memory.ChannelID]map[memory.MessageRef]int{} // the part with each channel
	for spot, reach := range p.wanted {
		part := in[spot.Channel]
		if part == nil {
			if len(in) < cap(e.reading) {
				parts = append(parts, map[memory.MessageRef]int{})
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
			windows, err := e.log.Windows(ctx, part)
			streams[i] = p.read(windows, newCounter(asked))
			return err
		})
	}
	err := group.Wait()
	for _, some := range streams {
		maps.Copy(p.streams, some)
	}
	return err
}

// latest adds the last messages before the end of the scope and of each date asked for, for questions with few
// terms.
func (e *Engine) latest(ctx context.Context, q Query, dates []dateRange, p *pool) error {
	ends := []memory.MessageID{endOf(q.Scope)}
	for _, d := range dates {
		ends = append(ends, min(ends[0], memory.FirstMessageID(d.to)))
	}
	for _, channel := range q.Scope.Channels {
		window, err := e.log.Around(ctx, channel, ends, q.Limit, 0)
		if err != nil {
			return err
		}
		for _, m := range window {
			p.want(channel, m.ID, neighbours)
		}
	}
	return nil
}

// endOf returns an id above all in the scope.
func endOf(scope memory.Scope) memory.MessageID {
	if scope.Until.IsZero() {
		return math.MaxInt64
	}
	return memory.FirstMessageID(scope.Until)
}

// nearest searches segments by the question's vector. An embedder that fails counts as one without vectors.
func (e *Engine) nearest(ctx context.Context, q Query, asked question, most int) ([]memory.VectorHit, error) {
	if q.Opened { // a segment may begin before the scope
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

// byTitle adds messages of the threads whose titles have most of the question: those with other words of it, the
// first and the last.
func (e *Engine) byTitle(ctx context.Context, q Query, asked question, most int, p *pool) error {
	threads := asked.bestTitled()
	if len(threads) == 0 {
		return nil
	}
	scope := q.Scope
	scope.Channels = threads
	hits, err := e.log.FullText(ctx, scope, asked.rarest(), min(most, titledText))
	if err != nil {
		return err
	}
	for _, hit := range hits {
		p.want(hit.Channel, hit.ID, fewNeighbours)
	}
	for _, thread := range threads {
		p.want(thread, memory.MessageID(thread), titledEnds)
		p.want(thread, endOf(q.Scope), titledEnds)
	}
	return nil
}
