package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"hark/internal/text"
	"hark/memory"
)

// Log is the part of memory.Store that the engine needs.
type Log interface {
	FullText(ctx context.Context, scope memory.Scope, terms []string, limit int) ([]memory.TextHit, error)
	Frequencies(ctx context.Context, scope memory.Scope, terms []string, limit int) (messages int,
		counts []int, err error)
	Space(ctx context.Context) (memory.Space, error)
	Nearest(ctx context.Context, scope memory.Scope, space memory.Space, vector []float32,
		limit int) ([]memory.VectorHit, error)
	Starred(ctx context.Context, scope memory.Scope, limit int) ([]memory.MessageRef, error)
	Around(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID, before,
		after int) ([]memory.Message, error)
	Stretches(ctx context.Context, reach map[memory.MessageRef]int) ([][]memory.Message, error)
}

// Directory returns people and lore. It never changes a list that it returned.
type Directory interface {
	People(ctx context.Context, guild memory.GuildID, ids ...memory.UserID) ([]memory.Person, error)
	Presence(ctx context.Context, scope memory.Scope, users []memory.UserID) (map[memory.UserID]memory.Presence, error)
	Lore(ctx context.Context, guild memory.GuildID) ([]memory.Lore, error)
}

// termEmbedder is an embedder that weighs the question's terms by idf.
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
	rosters   rosters
}

// New returns an engine. The first embedder whose space is the active one embeds questions; without one, only
// full text is searched.
func New(log Log, people Directory, embedders ...memory.Embedder) *Engine {
	// Reads of channels by all searches; the rest of the process needs CPU too.
	atOnce := max(2, runtime.GOMAXPROCS(0)/2)
	return &Engine{log: log, people: people, embedders: embedders, reading: make(chan struct{}, atOnce),
		rosters: rosters{by: map[memory.GuildID]*roster{}}}
}

const (
	countLimit  = 20000 // messages; more frequent terms count as this frequent
	maxTerms    = 16    // terms of a question that are searched, the rarest
	nameShare   = 0.5   // factor on the weight of a term that is a known person's name
	askingShare = 0.3   // factor on the weight of a term that only asks
)

// askingTerms are terms that ask for something. They are rarer in answers, and near them, than other terms of
// the same frequency.
var askingTerms = setOf(text.Terms(`anyone anybody someone somebody everyone everybody
	mention ask say talk share happen kind type hobby photo activity`))

// OnlyAsks reports whether a term asks for something without saying what.
func OnlyAsks(term string) bool { return askingTerms[term] }

// Search returns what is relevant to q. If the embedder fails or has stored nothing yet, the search goes on
// without vectors.
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

// Rerank ranks the candidates of an earlier search with other messages skipped, without searching again. A
// question that refers back still includes the session turns that the first search skipped. left returns the
// hits that still exist; a reranker sees only these.
func (e *Engine) Rerank(ctx context.Context, r Result, skip []memory.MessageID,
	left func(context.Context, []Hit) ([]Hit, error)) (Result, error) {
	found := *r.recalled
	found.query.Skip = skip
	return e.result(ctx, found, left)
}

// SearchOutside returns those of the best n hits of a search in r's and the given channels that lie in the given
// ones. It is for counting: no text goes to a server, and r stays the same.
func (e *Engine) SearchOutside(ctx context.Context, r Result, channels []memory.ChannelID, n int) ([]Hit, error) {
	q := r.recalled.query
	q.Scope.Channels, q.Session, q.Limit, q.Local = channels, nil, n, true
	pool, _, err := e.candidates(ctx, q, r.recalled.question, n)
	if err != nil {
		return nil, fmt.Errorf("search beside: %w", err)
	}
	pool = pool.without(q.Skip, r.recalled.question)
	pool.most = r.recalled.most // makes the scores comparable
	hits := pool.hits(q, pool.score(q, r.recalled.question))
	if r.Declined && pool.gateOf(q, r.recalled.question, hits).closed {
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
	if !wanted.Local {
		wanted = e.withRerankLimit(wanted)
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
	r.Hits = starredFirst(r.Hits)
	addMatchedWords(f.query, r.Hits)
	if r.People, err = e.participants(ctx, f.query, f.question.named, r.Hits, f.known); err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	return r, nil
}

// untilAsked returns q with its scope ending when it was asked.
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

// understand analyses q.
func (e *Engine) understand(ctx context.Context, q Query, known people) (question, error) {
	turns, after := earlier(q)
	asked := question{scope: q.Scope, text: withEarlier(q.Text, turns), after: after, named: known.namedIn(q.Text)}
	asked.dates, asked.event, asked.form = datesIn(q.Text, q.Now), eventIn(q.Text, q.Now), formOf(q.Text)
	terms := text.QueryTerms(withoutBid(q.Text))
	asked.pairs = map[string]string{}
	for i, t := range terms {
		asked.terms = append(asked.terms, weighted{term: t, share: 1})
		if i+1 < len(terms) {
			asked.pairs[t] = terms[i+1]
		}
	}
	asked.addEarlier(turns)
	n, err := e.weigh(ctx, q, asked.terms)
	if err != nil {
		return asked, err
	}
	if len(asked.named) == 0 {
		asked.named = known.namedEarlier(q.Text, turns)
	}
	if misspelt := known.misspelt(q.Text, asked.unheard()); len(misspelt) > 0 {
		asked.named = appendNew(asked.named, misspelt...)
		if err := e.addNames(ctx, q, &asked, known.terms(misspelt)); err != nil {
			return asked, err
		}
	}
	names := map[string]namedSet{} // the people whom each term names
	for i, id := range asked.named {
		for _, term := range known.terms([]memory.UserID{id}) {
			names[term] |= namedBit(i)
		}
	}
	for i := range asked.terms {
		t := &asked.terms[i]
		// https://en.wikipedia.org/wiki/Okapi_BM25, with the 1 that keeps it positive
		t.idf = t.share * math.Log(1+(float64(n)-float64(t.count)+0.5)/(float64(t.count)+0.5))
		if t.names = names[t.term]; t.names != 0 {
			t.idf *= nameShare // a named person more often speaks than is spoken of
		} else if askingTerms[t.term] {
			t.idf *= askingShare
		}
	}
	asked.boundEarlier()
	slices.SortStableFunc(asked.terms, func(a, b weighted) int { return cmp.Compare(b.idf, a.idf) })
	asked.terms = asked.terms[:min(maxTerms, len(asked.terms))]
	for _, t := range asked.terms {
		asked.idf += t.idf
		asked.words = asked.words || t.names == 0
	}
	return asked, nil
}

// weigh sets each term's message count and returns the number of messages.
func (e *Engine) weigh(ctx context.Context, q Query, terms []weighted) (messages int, err error) {
	if q.Opened {
		return e.weighSince(ctx, q.Scope, terms)
	}
	var list []string
	for _, t := range terms {
		list = append(list, t.term)
	}
	limit := countLimit
	if len(terms) > 2*maxTerms { // counting is slow, and only the rare terms matter
		limit = countLimit * 2 * maxTerms / len(terms)
	}
	messages, counts, err := e.log.Frequencies(ctx, q.Scope, list, limit)
	for i := range counts {
		terms[i].count = counts[i]
	}
	return messages, err
}

// weighSince is weigh for a short scope whose earlier messages mustn't count.
func (e *Engine) weighSince(ctx context.Context, scope memory.Scope, terms []weighted) (messages int, err error) {
	scope.Authors = nil
	for i := range terms {
		hits, err := e.log.FullText(ctx, scope, []string{terms[i].term}, textCandidates)
		if err != nil {
			return 0, err
		}
		terms[i].count = len(hits)
	}
	for _, channel := range scope.Channels {
		latest, err := e.log.Around(ctx, channel, []memory.MessageID{endOf(scope)}, textCandidates, 0)
		if err != nil {
			return 0, err
		}
		for _, m := range latest {
			messages += int(bit(!m.Time().Before(scope.Since)))
		}
	}
	return messages, nil
}

// addNames adds the terms of the names that the question misspells.
func (e *Engine) addNames(ctx context.Context, q Query, asked *question, names []string) error {
	var terms []weighted
	for _, name := range names {
		if !slices.ContainsFunc(append(asked.terms, terms...), func(t weighted) bool { return t.term == name }) {
			terms = append(terms, weighted{term: name, share: 1})
		}
	}
	_, err := e.weigh(ctx, q, terms)
	asked.terms = append(asked.terms, terms...)
	return err
}
