// Package search finds the messages and people that matter to a question, among those that the answer's readers
// may read.
//
// Every result lies in the query's scope; nothing outside it is read, counted or mentioned. Readable returns the
// channels that a scope may have. Begin with Query, Result and Engine.Search.
package search

import (
	"context"
	"slices"

	"hark/memory"
)

// DefaultLimit is the number of hits of a query without a limit.
const DefaultLimit = 40

// MaxPeople bounds the participants of a result.
const MaxPeople = 10

// Result is what was recalled.
type Result struct {
	Hits   []Hit         // best first
	People []Participant // at most MaxPeople: asked about, then the asker, then authors of hits
	Lore   []LoreHit     // at most MaxLore, best first
	// TextOnly is set if only full text was searched, because no vectors were ready or no embedder of their
	// space answered.
	TextOnly bool
	// RerankFailed is the reranker's error; nil if there is none, or no reranker. It holds no message text.
	RerankFailed error

	// Declined is set if too little of the question was found, or it asks for nothing. Hits still holds the
	// best, but they aren't worth showing.
	Declined bool

	gate     gate
	recalled *recalled // for Rerank and SearchOutside
}

// Only returns r without its search state, which takes much memory. Rerank refuses such a result.
func (r Result) Only() Result {
	if r.recalled != nil {
		r.recalled = &recalled{
			query:    r.recalled.query,
			question: r.recalled.question,
			most:     r.recalled.most,
		}
	}
	return r
}

// Gate returns the features behind Declined, in the order of GateNames; nil if none were needed.
func (r Result) Gate() []float64 { return r.gate.values }

// SmallTalk reports whether the question asks for nothing that could have been said.
func (r Result) SmallTalk() bool { return r.Declined && r.gate.values == nil }

// IsWorthShowing reports whether a person who searches should see a hit: it has a reason, and its relevance
// reaches Floor. If r was declined, it must also share words with the query.
func (r Result) IsWorthShowing(h Hit) bool {
	hasWords := func(w Reason) bool { return w.Kind == "words" }
	return h.Relevance >= Floor && len(h.Why) > 0 && (!r.Declined || slices.ContainsFunc(h.Why, hasWords))
}

// Hit is a recalled message with its context.
type Hit struct {
	Message   memory.Message
	Excerpt   []memory.Message // Message and its neighbours in the channel, oldest first
	From, To  int              // the passage of Message.Text() that was found, in bytes
	Relevance float64          // in [0, 1]; above 0.8 it most likely answers the question
	Why       []Reason
	score     float64
}

// Reason is a reason for a hit.
type Reason struct {
	Kind   string  // "words", "around", "author", "time", "answers", "meaning", …
	Detail string  // for people, such as the words; may be empty
	Weight float64 // its part of the score
}

// Participant is a person whom the context should introduce.
type Participant struct {
	Person   memory.Person   // with those of their facts that the scope's readers may know
	Presence memory.Presence // within the query's scope only
	Main     bool            // the asker, and whoever the question mentions, names or replies to
}

// Reranker is a model that reads a question together with each text.
type Reranker interface {
	// Rerank returns a finite score for each text, in order: higher answers query better. Scores compare only
	// within a call. It limits its own time. Its errors contain no query or text.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

// Floor is the relevance below which a single message isn't worth showing to a person.
const Floor = 0.05

// LoreHit is lore relevant to a question.
type LoreHit struct {
	Lore      memory.Lore
	Why       string  // "name", "alias", "initials" or "words"
	Relevance float64 // in [0, 1]: confidence, uncalibrated
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

// gate is the decision whether the hits answer a question.
type gate struct {
	closed bool
	values []float64 // feature values; nil if the decision needed none
}
