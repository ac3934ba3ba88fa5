package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"hark/memory"
)

// Log is the part of memory.Store that finds and reads messages.
type Log interface {
	memory.TextIndex
	memory.VectorIndex
	Around(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID, before,
		after int) ([]memory.Message, error)
	Windows(ctx context.Context, reach map[memory.MessageRef]int) ([][]memory.Message, error)
}

// Directory returns people, lore, and the channels of guilds. It must not change a list that it returned.
type Directory interface {
	Guild(ctx context.Context, id memory.GuildID) (*memory.Guild, error)
	People(ctx context.Context, guild memory.GuildID, ids ...memory.UserID) ([]memory.Person, error)
	Presence(ctx context.Context, scope memory.Scope, users []memory.UserID) (map[memory.UserID]memory.Presence, error)
	Lore(ctx context.Context, guild memory.GuildID) ([]memory.Lore, error)
}

// termEmbedder is an embedder that weighs terms by idf.
type termEmbedder interface {
	EmbedTerms(terms []string, idf func(term string) float64) []float32
}

// Engine searches a log.
type Engine struct {
	log       Log
	people    Directory
	embedders []memory.Embedder
	reranker  Reranker      // may be nil
	reading   chan struct{} // one slot for each running read of channels, for all searches
	rosters   indexes[memory.Person, roster]
	lores     indexes[memory.Lore, loreIndex]
	titles    indexes[memory.Channel, titleIndex]
}

// New returns an engine. The first embedder of the active space embeds questions; without one, only full text is
// searched.
func New(log Log, people Directory, embedders ...memory.Embedder) *Engine {
	atOnce := max(2, runtime.GOMAXPROCS(0)/2) // the rest of the process needs CPU too
	return &Engine{log: log, people: people, embedders: embedders, reading: make(chan struct{}, atOnce),
		rosters: newIndexes(newRoster), lores: newIndexes(newLoreIndex),
		titles: newIndexes(newTitleIndex)}
}

// Search returns what is relevant to q. If the embedder fails or nothing is embedded yet, it searches only full
// text.
func (e *Engine) Search(ctx context.Context, q Query) (Result, error) {
	if q.Limit <= 0 {
		q.Limit = DefaultLimit
	}
	found, err := e.recall(ctx, q)
	if err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	return e.result(ctx, found, func(_ context.Context, hits []Hit) ([]Hit, error) { return hits, nil })
}

// Rerank ranks the candidates of an earlier search again, with other messages skipped. A question that refers
// back still includes the session turns that the first search skipped. left returns the hits that still exist; a
// reranker sees only these.
func (e *Engine) Rerank(ctx context.Context, r Result, skip []memory.MessageID,
	left func(context.Context, []Hit) ([]Hit, error)) (Result, error) {
	found := *r.recalled
	found.query.Skip = skip
	return e.result(ctx, found, left)
}

// SearchOutside returns, of the best n hits of a search in r's and the given channels, those in the given ones.
// No text goes to a server, and r stays the same.
func (e *Engine) SearchOutside(ctx context.Context, r Result, channels []memory.ChannelID, n int) ([]Hit, error) {
	q := r.recalled.query
	q.Scope.Channels, q.Session, q.Limit, q.Local = channels, nil, n, true
	asked := r.recalled.question
	there, err := e.titlesIn(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("search beside: %w", err)
	}
	asked.titled = there.matching(asked.terms)
	pool, _, err := e.candidates(ctx, q, asked, n)
	if err != nil {
		return nil, fmt.Errorf("search beside: %w", err)
	}
	pool = pool.without(q.Skip, asked)
	pool.most = r.recalled.most // makes the scores comparable
	hits := pool.hits(q, pool.score(q, asked))
	if r.Declined && pool.gateOf(q, asked, hits).closed {
		return nil, nil
	}
	hits = append(hits, r.Hits...)
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.score, a.score) })
	scores := make([]float64, len(hits))
	for i, hit := range hits {
		scores[i] = hit.score
	}
	for i, relevance := range relevances(scores, math.Inf(-1)) {
		hits[i].Relevance = relevance
	}
	return slices.DeleteFunc(hits[:min(n, len(hits))], func(hit Hit) bool {
		return !slices.Contains(channels, hit.Message.Channel)
	}), nil
}

// result ranks the candidates and builds the Result.
func (e *Engine) result(ctx context.Context, f recalled, left func(context.Context, []Hit) ([]Hit, error)) (r Result,
	err error) {
	r = Result{TextOnly: f.textOnly, recalled: &f}
	wanted := f.query
	if !wanted.Local && e.reranker != nil {
		wanted.Limit = max(wanted.Limit, rerankedHits)
	}
	pool := f.pool.without(f.query.Skip, f.question)
	if r.Hits, err = left(ctx, pool.hits(wanted, pool.score(f.query, f.question))); err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	f.most = pool.most
	r.gate = pool.gateOf(f.query, f.question, r.Hits)
	r.Declined = r.gate.closed
	if !f.query.Local {
		if r.Hits, r.RerankFailed, err = e.rerank(ctx, f, r.Hits); err != nil {
			return Result{}, fmt.Errorf("search: %w", err)
		}
		if r.Lore, err = e.lore(ctx, f.query, f.question); err != nil {
			return Result{}, fmt.Errorf("search: %w", err)
		}
	}
	r.Hits = starredFirst(membersFirst(f.query, f.question.named, r.Hits))
	addMatchedWords(f.query, f.question, r.Hits)
	if r.People, err = e.participants(ctx, f.query, f.question.named, r.Hits, f.known); err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	return r, nil
}

// untilAsked returns q with its scope ending at Now.
func untilAsked(q Query) Query {
	if !q.Now.IsZero() && (q.Scope.Until.IsZero() || q.Now.Before(q.Scope.Until)) {
		q.Scope.Until = q.Now
	}
	return q
}

// Candidates returns the scored messages, best first, except empty ones and repeats of the question. It
// serves the learning of feature weights.
func (e *Engine) Candidates(ctx context.Context, q Query) ([]Candidate, error) {
	found, err := e.recall(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	var all []Candidate
	asked := repeats(q)
	pool := found.pool.without(q.Skip, found.question)
	for _, r := range pool.score(found.query, found.question) {
		m := r.entry
		if normalised(m.Text()) != "" && !asked(m) {
			all = append(all, Candidate{Message: m.ID, Features: slices.Clone(r.values[:]), Score: r.score})
		}
	}
	return all, nil
}

// recalled is the state of a search before ranking.
type recalled struct {
	query    Query // with the end of its scope
	known    people
	question question
	pool     *pool
	most     [len(relative)]float64 // see pool
	textOnly bool
}

func (e *Engine) recall(ctx context.Context, q Query) (f recalled, err error) {
	q = untilAsked(q)
	f.query = q
	if f.known, err = e.peopleIn(ctx, q.Guilds, q.Scope); err != nil {
		return f, err
	}
	if f.question, err = e.understand(ctx, q, f.known); err != nil {
		return f, err
	}
	f.pool, f.textOnly, err = e.candidates(ctx, q, f.question, math.MaxInt)
	return f, err
}
