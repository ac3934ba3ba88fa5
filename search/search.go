// Package search finds the messages and the people that matter to a question, among what the readers of the
// answer may read.
//
// Whatever it returns lies in the query's scope, and Readable says what that may be: nothing outside it is
// looked at, counted or told of.
package search

import (
	"time"

	"hark/memory"
)

// DefaultLimit is how many hits are found when a query doesn't say.
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
	// Session is what was said before the question, oldest first: a question that refers back is searched together with
	// what of it is skipped.
	Session []memory.Message
	Limit   int // hits wanted; 0 means DefaultLimit
	// Local keeps the search within this process: no server is given a text. It finds by full text,
	// and by vectors only if the question's is made here.
	Local bool
	// Repeats asks for what only repeats the question or a better hit, too, behind all else: for measuring.
	Repeats bool
}

// Result is what was recalled.
type Result struct {
	Hits   []Hit         // best first
	People []Participant // at most MaxPeople: asked about, then the asker, then authors of hits
	Lore   []LoreHit     // at most MaxLore, best first
	// TextOnly is set when only full text found anything: there were no vectors to search in time, or no
	// embedder for the question in their space that answered.
	TextOnly bool
	// RerankFailed is why the hits aren't in the order of the reranker that there is; nil if they are, or if
	// there is none. It holds nothing of what was said.
	RerankFailed error
}

// Hit is a recalled message with what makes it understandable.
type Hit struct {
	Message   memory.Message
	Excerpt   []memory.Message // Message and its neighbours in the channel, oldest first
	Relevance float64          // in [0, 1]; above 0.8 it most likely answers the question
	Why       []Reason
}

// Reason is something that spoke for a hit.
type Reason struct {
	Kind   string  // "words", "around", "author", "time", "answers", "meaning", …
	Detail string  // the words, the name, the date: what a person would want to see; may be empty
	Weight float64 // its part of the score
}

// Participant is somebody the context should introduce.
type Participant struct {
	Person   memory.Person   // with those of their facts that the scope's readers may know
	Presence memory.Presence // within the query's scope only
	Main     bool            // the asker, and whoever the question mentions, names or replies to
}
