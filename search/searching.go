package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"hark/internal/text"
	"hark/memory"
)

// New returns an engine. The first embedder of the active space embeds questions; without one, only full text is
// searched.
func New(log Log, people Directory, embedders ...memory.Embedder) *Engine {
	atOnce := max(2, runtime.GOMAXPROCS(0)/2) // the rest of the process needs CPU too
	return &Engine{
		log:       log,
		people:    people,
		embedders: embedders,
		reading:   make(chan struct{}, atOnce),
		rosters:   newIndexes(newRoster),
		lores:     newIndexes(newLoreIndex),
		titles:    newIndexes(newTitleIndex),
	}
}

// SearchOutside returns, of the best n hits of a search in r's and the given channels, those in the given ones.
// No text goes to a server, and r stays the same.
func (e *Engine) SearchOutside(ctx context.Context, r Result, channels []memory.ChannelID, n int) ([]Hit, error) {
	q := r.recalled.query
	q.Scope.Channels = channels
	q.Session = nil
	q.Limit = n
	q.Local = true
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
	r.Hits, err = left(ctx, pool.hits(wanted, pool.score(f.query, f.question)))
	if err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	f.most = pool.most
	r.gate = pool.gateOf(f.query, f.question, r.Hits)
	r.Declined = r.gate.closed
	if !f.query.Local {
		r.Hits, r.RerankFailed, err = e.rerank(ctx, f, r.Hits)
		if err != nil {
			return Result{}, fmt.Errorf("search: %w", err)
		}
		r.Lore, err = e.lore(ctx, f.query, f.question)
		if err != nil {
			return Result{}, fmt.Errorf("search: %w", err)
		}
	}
	r.Hits = starredFirst(membersFirst(f.query, f.question.named, r.Hits))
	addMatchedWords(f.query, f.question, r.Hits)
	r.People, err = e.participants(ctx, f.query, f.question.named, r.Hits, f.known)
	if err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	return r, nil
}

func (e *Engine) recall(ctx context.Context, q Query) (f recalled, err error) {
	q = untilAsked(q)
	f.query = q
	f.known, err = e.peopleIn(ctx, q.Guilds, q.Scope)
	if err != nil {
		return f, err
	}
	f.question, err = e.understand(ctx, q, f.known)
	if err != nil {
		return f, err
	}
	f.pool, f.textOnly, err = e.candidates(ctx, q, f.question, math.MaxInt)
	return f, err
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
			all = append(all, Candidate{
				Message:  m.ID,
				Features: slices.Clone(r.values[:]),
				Score:    r.score,
			})
		}
	}
	return all, nil
}

// addMatchedWords adds to each hit's reasons the words that it and its thread's title share with the question and its
// turns, as written there.
func addMatchedWords(q Query, in question, hits []Hit) {
	var asked []string
	written := map[string]string{} // stems aren't readable
	turns, _ := earlier(q)
	for _, s := range append([]string{q.Text}, turns...) {
		for _, t := range text.QueryTerms(s) {
			if !slices.Contains(asked, t) {
				asked = append(asked, t)
				written[t] = t
			}
		}
		for word := range strings.FieldsSeq(s) {
			word = strings.TrimFunc(word, unicode.IsPunct)
			if terms := text.QueryTerms(word); len(terms) == 1 && written[terms[0]] == terms[0] {
				written[terms[0]] = strings.ToLower(word)
			}
		}
	}
	batch := text.NearTo(asked)
	for _, h := range hits {
		i := slices.IndexFunc(h.Why, func(r Reason) bool { return r.Kind == "words" })
		if i < 0 {
			continue
		}
		held := batch.Terms(in.spelled(h.Message.Text()))
		if title := in.titled[h.Message.Channel]; title != nil {
			held = append(held, title.terms...)
		}
		var words []string
		for _, t := range asked {
			if slices.Contains(held, t) {
				words = append(words, written[t])
			}
		}
		h.Why[i].Detail = strings.Join(words, " ")
	}
}
