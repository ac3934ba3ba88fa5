package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"hark/internal/text"
	"hark/memory"
)

// Log is what the engine asks of the store. See memory.Store.
type Log interface {
	FullText(ctx context.Context, scope memory.Scope, terms []string, limit int) ([]memory.TextHit, error)
	Frequencies(ctx context.Context, scope memory.Scope, terms []string, limit int) (messages int, counts []int, err error)
	Space(ctx context.Context) (memory.Space, error)
	Nearest(ctx context.Context, scope memory.Scope, space memory.Space, vector []float32, limit int) ([]memory.VectorHit, error)
	Around(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID, before, after int) ([]memory.Message, error)
}

// Directory knows people, and what guilds were told.
type Directory interface {
	People(ctx context.Context, guild memory.GuildID) ([]memory.Person, error)
	Presence(ctx context.Context, scope memory.Scope, users []memory.UserID) (map[memory.UserID]memory.Presence, error)
	Lore(ctx context.Context, guild memory.GuildID) ([]memory.Lore, error)
}

// termEmbedder is an embedder that wants to know how much each term of a question says.
type termEmbedder interface {
	EmbedTerms(terms []string, idf func(term string) float64) []float32
}

// Engine recalls.
type Engine struct {
	log       Log
	people    Directory
	embedders []memory.Embedder
}

// New is an engine over a log, the people in it, and the embedders at hand. A question is embedded by the first one
// whose space is the one in use; where there is none, full text finds alone.
func New(log Log, people Directory, embedders ...memory.Embedder) *Engine {
	return &Engine{log: log, people: people, embedders: embedders}
}

const (
	textCandidates   = 200   // messages found by full text
	vectorCandidates = 20    // segments found by their vector
	reach            = 8     // messages before and after a candidate that are scored with it
	countLimit       = 20000 // a term in so many messages is as common as can be
	maxTerms         = 16    // of a question, the rarest
	fewChannels      = 8     // in a scope whose latest messages are worth reading
	nameShare        = 0.5   // of a term's weight, where it is the name of somebody known
)

// Search finds what matters to q. An embedder that fails or has nothing stored yet costs only what vectors
// would have added.
func (e *Engine) Search(ctx context.Context, q Query) (Result, error) {
	if q.Limit <= 0 {
		q.Limit = DefaultLimit
	}
	found, err := e.recall(ctx, q)
	if err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	result := Result{Hits: found.pool.hits(q, found.question, found.pool.score(found.question)), TextOnly: found.textOnly}
	result.People, err = e.participants(ctx, found.query, found.question, result.Hits, found.known)
	if err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	if result.Lore, err = e.lore(ctx, found.query, found.question); err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	return result, nil
}

// Candidates are the messages that a search for q scores, best first, but for those that say nothing or only ask the same:
// for whoever learns the weights of the features.
func (e *Engine) Candidates(ctx context.Context, q Query) ([]Candidate, error) {
	found, err := e.recall(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	var all []Candidate
	asked := repeats(q.Text)
	for _, r := range found.pool.score(found.question) {
		m := &found.pool.streams[r.channel][r.at]
		if normalised(m.Text()) != "" && !asked(m) {
			all = append(all, Candidate{Message: m.ID, Features: slices.Clone(r.values[:]), Score: r.score})
		}
	}
	return all, nil
}

// found is what a search has to go by.
type found struct {
	query    Query // with the end of its scope
	known    people
	question question
	pool     *pool
	textOnly bool
}

func (e *Engine) recall(ctx context.Context, q Query) (f found, err error) {
	if !q.Now.IsZero() && (q.Scope.Until.IsZero() || q.Now.Before(q.Scope.Until)) {
		q.Scope.Until = q.Now
	}
	f.query = q
	if f.known, err = e.known(ctx, q.Guilds, q.Scope); err != nil {
		return f, err
	}
	if f.question, err = e.understand(ctx, q, f.known); err != nil {
		return f, err
	}
	f.pool, f.textOnly, err = e.candidates(ctx, q, f.question)
	return f, err
}

// understand works out what q asks for.
func (e *Engine) understand(ctx context.Context, q Query, known people) (question, error) {
	asked := question{scope: q.Scope, named: known.namedIn(q.Text)}
	asked.dates, asked.form = datesIn(q.Text, q.Now), formOf(q.Text)
	terms := text.QueryTerms(q.Text)
	asked.pairs = map[string]string{}
	for i := range len(terms) - 1 {
		asked.pairs[terms[i]] = terms[i+1]
	}
	names := known.terms(asked.named)
	n, counts, err := e.log.Frequencies(ctx, q.Scope, terms, countLimit)
	if err != nil {
		return asked, err
	}
	for i, t := range terms {
		// https://en.wikipedia.org/wiki/Okapi_BM25, with the 1 that keeps it positive
		idf := math.Log(1 + (float64(n)-float64(counts[i])+0.5)/(float64(counts[i])+0.5))
		if slices.Contains(names, t) {
			idf *= nameShare // whoever is named says things more often than they are spoken of
		}
		asked.terms = append(asked.terms, weighted{term: t, idf: idf, name: slices.Contains(names, t)})
	}
	slices.SortStableFunc(asked.terms, func(a, b weighted) int { return cmp.Compare(b.idf, a.idf) })
	asked.terms = asked.terms[:min(maxTerms, len(asked.terms))]
	for _, t := range asked.terms {
		asked.idf += t.idf
	}
	return asked, nil
}

// candidates fetches what may be relevant, with its surroundings.
func (e *Engine) candidates(ctx context.Context, q Query, asked question) (p *pool, textOnly bool, err error) {
	p = newPool(q.Skip)
	terms := make([]string, len(asked.terms))
	for i, t := range asked.terms {
		terms[i] = t.term
	}
	hits, err := e.log.FullText(ctx, q.Scope, terms, textCandidates)
	if err != nil {
		return nil, false, err
	}
	for _, hit := range hits {
		p.want(hit.Channel, hit.ID)
	}
	near, err := e.nearest(ctx, q, asked)
	textOnly = errors.Is(err, memory.ErrNoVectors)
	if err != nil && !textOnly {
		return nil, false, err
	}
	for _, hit := range near {
		for _, id := range hit.Messages {
			p.want(hit.Channel, id)
			p.similarity[id] = max(p.similarity[id], hit.Similarity)
		}
	}
	if len(p.seen) < q.Limit && len(q.Scope.Channels) <= fewChannels {
		if err := e.latest(ctx, q, p); err != nil {
			return nil, false, err
		}
	}
	for _, channel := range p.channels() {
		stretch, err := e.log.Around(ctx, channel, p.wanted[channel], reach, reach)
		if err != nil {
			return nil, false, err
		}
		p.add(stretch, q.Scope)
	}
	return p, textOnly, nil
}

// latest adds what was said last, for a question that says little to look for.
func (e *Engine) latest(ctx context.Context, q Query, p *pool) error {
	end := memory.MessageID(math.MaxInt64)
	if !q.Scope.Until.IsZero() {
		end = memory.FirstMessageID(q.Scope.Until)
	}
	for _, channel := range q.Scope.Channels {
		stretch, err := e.log.Around(ctx, channel, []memory.MessageID{end}, q.Limit, 0)
		if err != nil {
			return err
		}
		for _, m := range stretch {
			p.want(channel, m.ID)
		}
	}
	return nil
}

// nearest finds segments by the question's vector. An embedder that can't be reached is as one that has
// embedded nothing.
func (e *Engine) nearest(ctx context.Context, q Query, asked question) ([]memory.VectorHit, error) {
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
		vector := t.EmbedTerms(text.QueryTerms(q.Text), asked.idfOf)
		if vector == nil {
			return nil, nil
		}
		return e.log.Nearest(ctx, q.Scope, space, vector, vectorCandidates)
	}
	vectors, err := embedder.Embed(ctx, memory.ForSearch, []string{q.Text})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || len(vectors) != 1 {
		return nil, memory.ErrNoVectors
	}
	if vectors[0] == nil {
		return nil, nil
	}
	return e.log.Nearest(ctx, q.Scope, space, vectors[0], vectorCandidates)
}
