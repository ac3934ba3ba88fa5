// Package search finds the messages and the people that matter to a question, among what the readers of the
// answer may read.
//
// Every result lies in the query's scope, and nothing outside the scope is read, counted or mentioned.
// Readable returns the channels that a scope may have.
package search

import (
	"slices"
	"strings"
	"time"

	"hark/internal/pattern"
	"hark/internal/text"
	"hark/memory"
)

// DefaultLimit is how many hits a query without a limit gets.
const DefaultLimit = 40

// MaxPeople bounds the participants of a result.
const MaxPeople = 10

// Query is a question, and what is known about where it was asked.
type Query struct {
	Text     string
	Now      time.Time // when it is asked: what was said later isn't found
	Asker    memory.UserID
	Mentions []memory.UserID    // people the question mentions or replies to; Hark isn't one of them
	Guilds   []memory.GuildID   // whose people the question may name
	Scope    memory.Scope       // what the answer's readers may read; see Readable
	Skip     []memory.MessageID // messages that must not be found: the question, and what is shown anyway
	// Session holds the messages before the question, oldest first. A question that refers back is searched
	// together with those of them that are in Skip.
	Session  []memory.Message
	Limit    int  // hits wanted; 0 means DefaultLimit
	IsSearch bool // whether the question plainly looks for something that was said
	// Behind, if not nil, reports messages that are only found if nothing else is, such as requests to Hark.
	Behind func(*memory.Message) bool
	// Opened is set if some readers of the results may not know what was said before the scope begins. Word
	// counts then leave that out, and so do segments that began there.
	Opened bool
	// Local keeps the search within this process: no text goes to a server. It uses full text, and vectors
	// only if the question's vector is made here.
	Local bool
	// Repeats also returns, last, messages that only repeat the question or a better hit, or are Behind. It
	// is for measuring.
	Repeats bool
}

// Result is what was recalled.
type Result struct {
	Hits   []Hit         // best first
	People []Participant // at most MaxPeople: asked about, then the asker, then authors of hits
	Lore   []LoreHit     // at most MaxLore, best first
	// TextOnly is set if only full text was searched: no vectors were ready, or no embedder of their space
	// answered.
	TextOnly bool
	// RerankFailed is why the hits aren't in the reranker's order; nil if they are, or if there is no
	// reranker. It holds no message text.
	RerankFailed error

	// Declined is set if too little of the question was found, or it asks for nothing. Hits still holds the
	// best ones, but they aren't worth showing.
	Declined bool

	gate     gate
	recalled *recalled // for Rerank and SearchOutside
}

// Only returns r without its search state, which takes much memory. Rerank doesn't accept it.
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

// MatchesWords reports whether h was found by the words of the question, or of the one before it, rather than
// by its author or time. Author and time suffice only if the question asks for nothing else.
func (r Result) MatchesWords(h Hit) bool {
	is := func(kind string) bool {
		return slices.ContainsFunc(h.Why, func(w Reason) bool { return w.Kind == kind })
	}
	if r.recalled != nil && r.recalled.question.whoOrWhen() { // its other words only ask, or say when
		return r.recalled.question.matchesNamesAndDates(&h.Message) || !r.recalled.question.words && is("answers")
	}
	return is("words") || is("answers")
}

// IsWorthShowing reports whether a person who searches should see a hit: it has a reason, and its relevance reaches
// Floor. If r was declined, it must share words with the query.
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

// Reason is one reason for a hit.
type Reason struct {
	Kind   string  // "words", "around", "author", "time", "answers", "meaning", …
	Detail string  // the words, name or date to show to a person; may be empty
	Weight float64 // its part of the score
}

// Participant is a person whom the context should introduce.
type Participant struct {
	Person   memory.Person   // with those of their facts that the scope's readers may know
	Presence memory.Presence // within the query's scope only
	Main     bool            // the asker, and whoever the question mentions, names or replies to
}

// event is something that a question orders time by, as "the move" in "where did we work before the move?".
type event struct {
	when  relation
	terms []string // of what it is called; none if the question has no event
	at    time.Time
	known bool // at is
}

// relation is where the messages asked for lie, seen from an event.
type relation int8

const (
	aboutIt relation = iota
	beforeIt
	afterIt
)

var eventAsked = pattern.Of(`(?:^|[^\p{L}])(before|until|after|since|during|when|while)\s+` +
	`(?:(?:the|my|our|your|his|her|their|its|we|i|you|they|he|she|it)\s+)?((?:[\p{L}\d'’-]+\s*){1,4})`)

// eventIn returns the event that a question orders time by. A date is none.
func eventIn(question string, now time.Time) event {
	m := eventAsked().FindStringSubmatch(strings.ToLower(question))
	if m == nil || len(datesIn(m[2], now)) > 0 {
		return event{}
	}
	var e event
	for _, w := range text.Words(m[2]) {
		if text.IsStopWord(w) {
			if len(e.terms) > 0 {
				break // the question goes on with something else
			}
			continue
		}
		e.terms = append(e.terms, text.QueryTerms(w)...)
	}
	e.when = relations[m[1]]
	return e
}

// relations are where what is asked for lies, by the word that says so.
var relations = map[string]relation{"before": beforeIt, "until": beforeIt, "after": afterIt, "since": afterIt}

// find works out when the event was: in the middle of what was said of it by all its words or, where nobody
// did, by all but the last ones.
func (e *event) find(q question, streams map[memory.ChannelID][]entry) {
	var at []int
	for _, term := range e.terms {
		i := slices.IndexFunc(q.terms, func(t weighted) bool { return t.term == term })
		if i < 0 {
			break
		}
		at = append(at, i)
	}
	for ; len(at) > 0 && !e.known; at = at[:len(at)-1] {
		e.findBy(at, streams)
	}
}

func (e *event) findBy(terms []int, streams map[memory.ChannelID][]entry) {
	var times []time.Time
	for _, stream := range streams {
		for i := range stream {
			if !slices.ContainsFunc(terms, func(t int) bool { return stream[i].counts[t] == 0 }) {
				times = append(times, stream[i].Time())
			}
		}
	}
	if len(times) > 0 {
		slices.SortFunc(times, time.Time.Compare)
		e.at, e.known = times[len(times)/2], true
	}
}

// matches reports whether t lies where the question asks for.
func (e *event) matches(t time.Time) bool {
	switch {
	case !e.known:
		return false
	case e.when == beforeIt:
		return t.Before(e.at)
	case e.when == afterIt:
		return t.After(e.at)
	}
	return t.Sub(e.at).Abs() <= 3*day
}
