package search

import (
	bitset "math/bits"
	"slices"
	"strings"
	"time"

	"hark/internal/text"
	"hark/memory"
)

// spelled returns a text with words for its tags.
func (q question) spelled(said string) string {
	if q.tags == nil || !strings.Contains(said, "<") {
		return said
	}
	return q.tags(said)
}

// namedSet is a set of people named in the question, one bit each; the 64th bit stands for all further ones.
type namedSet uint64

func namedBit(place int) namedSet { return 1 << min(place, 63) }

func (w namedSet) count() float64 { return float64(bitset.OnesCount64(uint64(w))) }

const (
	countLimit  = 20000 // messages; more frequent terms count as this frequent
	maxTerms    = 16    // terms of a question that are searched, the rarest
	nameShare   = 0.5   // factor on the weight of a term that is a known person's name
	askingShare = 0.3   // factor on the weight of a term that only asks
)

// askingTerms are terms that ask for something. They are rarer in and near answers than other terms of the same
// frequency.
var askingTerms = setOf(text.Terms(`anyone anybody someone somebody everyone everybody
	mention ask say talk share happen kind type hobby photo activity`))

// OnlyAsks reports whether a term asks for something without saying what.
func OnlyAsks(term string) bool { return askingTerms[term] }

// rarely is the most messages with a misspelt name, the question included.
const rarely = 3

// whoOrWhen reports whether the question has only names and dates.
func (q question) whoOrWhen() bool {
	return len(q.named)+len(q.dates) > 0 && !slices.ContainsFunc(q.terms, func(t weighted) bool {
		return t.names == 0 && !askingTerms[t.term] && (len(q.dates) == 0 || !ofDate(t.term))
	})
}

// ofDate reports whether a term may belong to a date: a word of time, a day or a year.
func ofDate(term string) bool {
	return timeTerms()[term] || isYear(term) || isOrdinal(term) ||
		len(term) <= 2 && strings.Trim(term, "0123456789") == ""
}

// unheard returns the question's terms that hardly anybody has used.
func (q question) unheard() []string {
	var terms []string
	for _, t := range q.terms {
		if t.count <= rarely && t.share == 1 {
			terms = append(terms, t.term)
		}
	}
	return terms
}

// question is an analysed query.
type question struct {
	scope  memory.Scope
	text   string     // with the turns that it refers to
	after  string     // the newest question of those turns; empty if none
	terms  []weighted // search terms, rarest first
	titles titles
	titled map[memory.ChannelID]*titled // threads in scope whose titles have some of the terms
	idf    float64                      // sum over all terms
	words  bool                         // some term isn't a name
	pairs  map[string]string            // the term that follows a term
	named  []memory.UserID
	dates  []dateRange
	event  event
	form   form
	tags   func(said string) string // see Query.Named
}

// weighted is a weighted term.
type weighted struct {
	term  string
	share float64 // factor on its IDF: less for terms of earlier turns
	count int     // messages with it, up to a limit
	idf   float64
	names namedSet // the people named in the question whose name it is
}

// event is what a question relates time to, such as "the move" in "where did we work before the move?".
type event struct {
	when  relation
	terms []string // of its name; none if the question has no event
	at    time.Time
	known bool // at is
}

// relation is when the messages asked for were said, relative to an event.
type relation int8

// titles are those of a scope's threads.
type titles struct {
	indexes []*titleIndex
	scope   map[memory.ChannelID]bool
	since   memory.MessageID // threads made earlier don't count
}

// setOf returns the set of a list's elements.
func setOf[T comparable](list []T) map[T]bool {
	set := make(map[T]bool, len(list))
	for _, one := range list {
		set[one] = true
	}
	return set
}

// people are the members of the guilds asked about.
type people struct {
	guilds   []members
	readable map[memory.ChannelID]bool
	aliases  map[string][]memory.UserID // by word; only aliases from readable facts
}

// roster indexes a guild's people by name.
type roster struct {
	at        map[memory.UserID]int      // indices in the list
	named     map[string][]memory.UserID // by word of the names that everybody may know
	withFacts []int                      // indices of people with facts
}

// loreIndex is a guild's lore prepared for questions.
type loreIndex struct {
	words  []loreWords      // by place in the list
	places map[string][]int // by term: the lore that has it in a name or the text
}

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

// members are the people of a guild.
type members struct {
	*roster
	list []memory.Person
}

// loreWords are the words of the names of lore.
type loreWords struct {
	name     calledName
	aliases  []calledName // given, and made from the name, but for its initials
	initials string       // lower-case initials of the name; empty if it has none or they are a stop word
	phrases  []string     // of all names and the initials, each once
	terms    []string     // search terms of the name
	count    int          // words of the name
	stems    []string     // of the name's words that aren't stop words
	length   int          // bytes of these words
}

// calledName is a name prepared for comparison.
type calledName struct {
	phrase         string // empty if it has only stop words
	word           string // its only word; empty if it has several
	beginsAnywhere bool   // in a script without spaces
	endsAnywhere   bool
}
