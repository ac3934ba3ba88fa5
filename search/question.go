package search

import (
	"cmp"
	"context"
	"math"
	bitset "math/bits"
	"slices"
	"strings"

	"hark/internal/text"
	"hark/memory"
)

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

// spelled returns a text with words for its tags.
func (q question) spelled(said string) string {
	if q.tags == nil || !strings.Contains(said, "<") {
		return said
	}
	return q.tags(said)
}

// weighted is a weighted term.
type weighted struct {
	term  string
	share float64 // factor on its IDF: less for terms of earlier turns
	count int     // messages with it, up to a limit
	idf   float64
	names namedSet // the people named in the question whose name it is
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

// understand analyses q: its terms with their weights, and the people and dates in it.
func (e *Engine) understand(ctx context.Context, q Query, known people) (question, error) {
	turns, after := earlier(q)
	asked := question{scope: q.Scope, text: withEarlier(q.Text, turns), after: after,
		named: known.namedIn(q.Text), tags: q.Named}
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
	there, err := e.titlesIn(ctx, q)
	if err != nil {
		return asked, err
	}
	n, err := e.weigh(ctx, q, there, asked.terms)
	if err != nil {
		return asked, err
	}
	if len(asked.named) == 0 {
		asked.named = known.namedEarlier(q.Text, turns)
	}
	if misspelt := known.misspelt(q.Text, asked.unheard()); len(misspelt) > 0 {
		asked.named = appendNew(asked.named, misspelt...)
		if err := e.addNames(ctx, q, there, &asked, known.terms(misspelt)); err != nil {
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
	asked.titles = there
	asked.titled = there.matching(asked.terms)
	return asked, nil
}

// weigh sets how many messages and titles have each term, and returns how many there are.
func (e *Engine) weigh(ctx context.Context, q Query, there titles, terms []weighted) (all int, err error) {
	all, err = e.weighMessages(ctx, q, terms)
	for i := range terms {
		terms[i].count += there.count(terms[i].term)
	}
	return all + there.number(), err
}

// weighMessages sets each term's message count and returns the number of messages.
func (e *Engine) weighMessages(ctx context.Context, q Query, terms []weighted) (messages int, err error) {
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

// weighSince is weigh for a scope before which nothing may count.
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
func (e *Engine) addNames(ctx context.Context, q Query, there titles, asked *question, names []string) error {
	var terms []weighted
	for _, name := range names {
		if !slices.ContainsFunc(append(asked.terms, terms...), func(t weighted) bool { return t.term == name }) {
			terms = append(terms, weighted{term: name, share: 1})
		}
	}
	_, err := e.weigh(ctx, q, there, terms)
	asked.terms = append(asked.terms, terms...)
	return err
}

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

// matchesNamesAndDates reports whether m fits the people named, if any, and the dates, if any.
func (q question) matchesNamesAndDates(m *memory.Message) bool {
	if len(q.dates) > 0 && q.distance(m.Time()) != 0 {
		return false
	}
	if len(q.named) == 0 || slices.Contains(q.named, m.Author) {
		return true
	}
	said := text.Terms(q.spelled(m.Text()))
	return slices.ContainsFunc(q.terms, func(t weighted) bool { return t.names != 0 && slices.Contains(said, t.term) })
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
