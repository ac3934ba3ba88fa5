// Package search finds the messages and people that matter to a question, among those that the answer's readers
// may read.
//
// Every result lies in the query's scope; nothing outside it is read, counted or mentioned. Readable returns the
// channels that a scope may have. Begin with Query, Result and Engine.Search.
package search

import (
	"slices"
	"time"

	"hark/memory"
)

// DefaultLimit is the number of hits of a query without a limit.
const DefaultLimit = 40

// MaxPeople bounds the participants of a result.
const MaxPeople = 10

// Query is a question and its context.
type Query struct {
	Text     string
	Now      time.Time // when it is asked; later messages aren't found
	Asker    memory.UserID
	Mentions []memory.UserID    // people the question mentions or replies to, except Hark
	Guilds   []memory.GuildID   // whose people the question may name
	Scope    memory.Scope       // what the answer's readers may read; see Readable
	Skip     []memory.MessageID // never found: the question, and messages shown anyway
	// Session holds the messages before the question, oldest first. A question that refers back is searched
	// together with those of them that are in Skip.
	Session  []memory.Message
	ReplyTo  memory.MessageID // the message of Session that the question replies to; 0: none
	Limit    int              // of hits; 0: DefaultLimit
	IsSearch bool             // the question plainly looks for something that was said
	// Behind, if not nil, reports messages that are found only if nothing else is, such as requests to Hark.
	Behind func(*memory.Message) bool
	// Proxied, if not nil, reports whether webhooks in a channel speak for people.
	Proxied func(memory.ChannelID) bool
	// Opened is set if some readers may not know what was said before the scope begins. Word counts and
	// segments then leave that out.
	Opened bool
	// Local keeps the search within this process: no text goes to a server. It uses full text, and vectors
	// only if the question's vector is made here.
	Local bool
	// Named returns a text with names and dates in place of tags, as far as the answer's readers may know them. It is
	// called by several goroutines. nil: tags have no words.
	Named func(said string) string
	// Repeats also returns, last, messages that only repeat the question or a better hit, or are Behind; for
	// measuring.
	Repeats bool
}

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
		r.recalled = &recalled{query: r.recalled.query, question: r.recalled.question, most: r.recalled.most}
	}
	return r
}

// Gate returns the features behind Declined, in the order of GateNames; nil if none were needed.
func (r Result) Gate() []float64 { return r.gate.values }

// SmallTalk reports whether the question asks for nothing that could have been said.
func (r Result) SmallTalk() bool { return r.Declined && r.gate.values == nil }

// Worth splits the hits into those worth showing a model and the rest. A declined question keeps its best
// five, for the model to judge; possible small talk keeps one, and small talk none.
func (r Result) Worth() (worth, left []Hit) {
	n := len(r.Hits)
	switch v := r.gate.values; {
	case !r.Declined:
	case r.SmallTalk():
		n = 0
	case v[gateChatter]+v[gateYou]+v[gateStates] > 0:
		n = min(1, n)
	default:
		n = min(gateHits, n)
	}
	return r.Hits[:n], r.Hits[n:]
}

// MatchesWords reports whether h was found by the words of the question or of the one before it. Author and time
// suffice only if the question asks for nothing else.
func (r Result) MatchesWords(h Hit) bool {
	is := func(kind string) bool {
		return slices.ContainsFunc(h.Why, func(w Reason) bool { return w.Kind == kind })
	}
	if r.recalled != nil && r.recalled.question.whoOrWhen() { // its other words only ask, or say when
		return r.recalled.question.matchesNamesAndDates(&h.Message) || !r.recalled.question.words && is("answers")
	}
	return is("words") || is("answers")
}

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
