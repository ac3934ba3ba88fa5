package search

import (
	"cmp"
	"maps"
	"math"
	bitset "math/bits"
	"slices"
	"strings"
	"time"

	"hark/internal/text"
	"hark/memory"
)

// question is a query understood.
type question struct {
	scope memory.Scope
	text  string            // with what it refers back to
	after string            // the newest question of that; empty if nothing was asked
	terms []weighted        // to look for, rarest first
	idf   float64           // of all terms together
	words bool              // not all of them are names
	pairs map[string]string // the term that follows a term
	named []memory.UserID
	dates []dateRange
	event event
	form  form
}

// weighted is a term and how much finding it says.
type weighted struct {
	term  string
	share float64 // of its inverse document frequency that counts: less where it was said before the question
	count int     // messages that it is in, as far as they are counted
	idf   float64
	names namedSet // whose name it is, of those whom the question names
}

// whom are some of those whom a question names, by their places; the 64th stands for all after it.
type namedSet uint64

func namedBit(place int) namedSet { return 1 << min(place, 63) }

func (w namedSet) count() float64 { return float64(bitset.OnesCount64(uint64(w))) }

// rarely is in how many messages a misspelt name may be: the question itself is one, and people misspell again.
const rarely = 3

// whoOrWhen reports whether it tells nothing but whom or which time it means.
func (q question) whoOrWhen() bool {
	return len(q.named)+len(q.dates) > 0 && !slices.ContainsFunc(q.terms, func(t weighted) bool {
		return t.names == 0 && !askingTerms[t.term] && (len(q.dates) == 0 || !ofDate(t.term))
	})
}

// ofDate reports whether a term may be of a date: a word of time, a day or a year.
func ofDate(term string) bool {
	return timeTerms()[term] || isYear(term) || len(term) <= 2 && strings.Trim(term, "0123456789") == "" || isOrdinal(term)
}

// means reports whether m was said by or of whom it names, if anybody, and when it asks for, if it does.
func (q question) matchesNamesAndDates(m *memory.Message) bool {
	if len(q.dates) > 0 && q.distance(m.Time()) != 0 {
		return false
	}
	if len(q.named) == 0 || slices.Contains(q.named, m.Author) {
		return true
	}
	said := text.Terms(m.Text())
	return slices.ContainsFunc(q.terms, func(t weighted) bool { return t.names != 0 && slices.Contains(said, t.term) })
}

// unheard are the terms of the question that hardly anybody has used.
func (q question) unheard() []string {
	var terms []string
	for _, t := range q.terms {
		if t.count <= rarely && t.share == 1 {
			terms = append(terms, t.term)
		}
	}
	return terms
}

// pool is what was fetched to be scored.
type pool struct {
	wanted     map[memory.Spot]int // how many messages before and after it are wanted, too
	similarity map[memory.MessageID]float64
	skip       map[memory.MessageID]bool
	streams    map[memory.ChannelID][]entry
	most       [len(relative)]float64 // that any message has of the relative features
}

// entry is a fetched message or, if that is long, a passage of it, with its terms counted.
type entry struct {
	*memory.Message
	passage string
	from    int       // where in the message that begins
	counts  []float64 // of the question's terms, in their order
	like    []float64 // how much it holds each of them, also by terms that begin alike: 0 to 1
	pairs   float64   // share of the question's pairs that it holds
	length  float64   // terms
	words   int
	signs   signs
	names   namedSet // the question names, and it names, too
	by      namedSet // the question names, and who said it
	follows bool     // it follows the entry before it within the same sitting
}

func newPool(q Query) *pool {
	return &pool{
		wanted: map[memory.Spot]int{}, similarity: map[memory.MessageID]float64{}, skip: setOf(q.Skip),
		streams: map[memory.ChannelID][]entry{},
	}
}

// want has a message be read that isn't wanted already, with so many before and after it.
func (p *pool) want(channel memory.ChannelID, id memory.MessageID, reach int) {
	spot := memory.Spot{Channel: channel, Message: id}
	if _, known := p.wanted[spot]; !known {
		p.wanted[spot] = reach
	}
}

// sitting is the silence after which talk in a channel begins anew.
const sessionGap = 3 * time.Hour

// read are stretches of channels, as far as they are within scope and can be recalled, with the question's terms
// counted in what isn't skipped. What is skipped is in it; see without.
func (p *pool) read(stretches [][]memory.Message, counter *counter) map[memory.ChannelID][]entry {
	streams := map[memory.ChannelID][]entry{}
	var cut []string
	scope := counter.scope
	room := map[memory.ChannelID]int{}
	for _, stretch := range stretches {
		room[stretch[0].Channel] += len(stretch)
	}
	for _, stretch := range stretches {
		channel := stretch[0].Channel
		stream := streams[channel]
		if stream == nil {
			stream = make([]entry, 0, room[channel])
		}
		follows := false // all since the last that was taken in
		for i := range stretch {
			m := &stretch[i]
			at := m.Time()
			if !m.Kind.Recalled() || !scope.Since.IsZero() && at.Before(scope.Since) ||
				!scope.Until.IsZero() && !at.Before(scope.Until) {
				continue
			}
			cut = passages(cut[:0], m.Text())
			from := 0
			for _, passage := range cut {
				stream = append(stream, entry{Message: m, passage: passage, from: from, follows: follows})
				from += len(passage)
				if !p.skip[m.ID] {
					counter.count(&stream[len(stream)-1])
				}
				follows = true
			}
		}
		streams[channel] = stream
	}
	return streams
}

// without is a pool as it was fetched, without what is skipped.
func (p *pool) without(skip []memory.MessageID, asked question) *pool {
	left := *p
	left.skip, left.streams = setOf(skip), make(map[memory.ChannelID][]entry, len(p.streams))
	counter := newCounter(asked)
	for channel, all := range p.streams {
		stream := make([]entry, 0, len(all))
		follows := true // all since the last that was taken in
		for _, e := range all {
			if follows = follows && e.follows; left.skip[e.ID] {
				continue
			}
			if e.counts == nil {
				counter.count(&e)
			}
			e.follows = follows && len(stream) > 0 && e.Time().Sub(stream[len(stream)-1].Time()) <= sessionGap
			stream, follows = append(stream, e), true
		}
		left.streams[channel] = stream
	}
	return &left
}

// BM25's parameters, and the lengths, in terms, that it takes for average: a chat message's and a neighbour's.
const (
	k1            = 1.2
	b             = 0.75
	averageLength = 10.0
	// longTerms is the length, in terms, that a longer message counts as: a fact in it is as good as in a short
	// one, and what stands beside it mustn't be found before it for its words.
	longTerms = 15.0
	longText  = 60 // words; of what is longer the neighbourhood says nothing that it doesn't say itself
)

// counter counts a question's terms in messages. Words recur, so it remembers what it has found out about them.
type counter struct {
	question
	batch *text.Batch
	found map[string]foundTerm
	said  []string  // the terms of the last message, whose room those of the next one take
	room  []float64 // for what entries hold
}

// foundTerm is what a term of a message is to the question.
type foundTerm struct {
	at   int       // its place among the question's terms; -1 if it is none of them
	like []float64 // how much it is like each of them; nil if it is like none
}

func newCounter(q question) *counter {
	c := &counter{question: q, found: map[string]foundTerm{}}
	terms := make([]string, len(q.terms))
	for i, t := range q.terms {
		terms[i] = t.term
	}
	c.batch = text.NearTo(terms)
	return c
}

func (c *counter) count(e *entry) {
	terms := c.batch.AppendTerms(c.said[:0], e.passage)
	c.said = terms
	e.counts, e.like = c.numbers(), c.numbers()
	pairs := 0
	for at, t := range terms {
		if t == text.Unlike {
			continue
		}
		found := c.find(t)
		if i := found.at; i >= 0 {
			e.names |= c.terms[i].names
			if e.counts[i]++; at+1 < len(terms) && c.pairs[t] == terms[at+1] {
				pairs++
			}
		}
		for i, likeness := range found.like {
			e.like[i] = max(e.like[i], likeness)
		}
	}
	if len(c.pairs) > 0 {
		e.pairs = min(1, float64(pairs)/float64(len(c.pairs)))
	}
	e.length = min(float64(len(terms)), longTerms)
	for range strings.FieldsSeq(e.passage) {
		if e.words++; e.words > longText {
			break
		}
	}
	if at := slices.Index(c.named, e.Author); at >= 0 {
		e.by = namedBit(at)
	}
	e.signs = signsOf(e.passage, c.form != asksAnything || e.by != 0 || len(c.dates) > 0)
}

// numbers are as many zeros as the question has terms, and never nil.
func (c *counter) numbers() []float64 {
	const messages = 100 // to make room for at once
	n := len(c.terms)
	if len(c.room) <= n {
		c.room = make([]float64, 2*messages*n)
	}
	numbers := c.room[:n:n]
	c.room = c.room[n:]
	return numbers
}

func (c *counter) find(term string) foundTerm {
	found, known := c.found[term]
	if known {
		return found
	}
	found.at = slices.IndexFunc(c.terms, func(t weighted) bool { return t.term == term })
	for i, t := range c.terms {
		if l := alike(term, t.term); l > 0 {
			if found.like == nil {
				found.like = make([]float64, len(c.terms))
			}
			found.like[i] = l
		}
	}
	c.found[term] = found
	return found
}

// ranked is a scored entry.
type ranked struct {
	*entry
	channel memory.ChannelID
	at      int // in its channel's stream
	score   float64
	values  values
}

// score scores everything in the pool, best first. Nothing is compared with what stands behind what members said.
func (p *pool) score(query Query, q question) []*ranked {
	var all []*ranked
	q.event.find(q, p.streams)
	aside := behind(query)
	for _, channel := range slices.Sorted(maps.Keys(p.streams)) {
		stream := p.streams[channel]
		scored := make([]ranked, len(stream))
		for i := range stream {
			r := &scored[i]
			r.entry, r.channel, r.at, r.values = &stream[i], channel, i, p.features(q, stream, i)
			for i, f := range relative {
				if r.values[f] > p.most[i] && !aside(r.entry) {
					p.most[i] = r.values[f]
				}
			}
			all = append(all, r)
		}
	}
	best := all[:0]
	for _, r := range all {
		for i, f := range relative {
			r.values[f] = min(1, r.values[f]/max(p.most[i], leastMost))
		}
		r.score = r.values.score()
		if n := len(best); n == 0 || !r.isSameMessage(best[n-1].entry) {
			best = append(best, r)
		} else if r.score > best[n-1].score { // a message has the place of its best passage
			best[n-1] = r
		}
	}
	slices.SortFunc(best, func(a, b *ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.channel, b.channel), cmp.Compare(a.at, b.at))
	})
	return best
}

// own is the BM25 of one message.
func (q question) own(e *entry) float64 { return q.bm25(e.counts, e.length, averageLength) }

// bm25 is that of a text of which the question's terms are counted (https://en.wikipedia.org/wiki/Okapi_BM25), but for
// names, if there are other terms, divided by the summed inverse document frequency.
func (q question) bm25(counts []float64, length, average float64) float64 {
	if q.idf == 0 {
		return 0
	}
	norm := k1 * (1 - b + b*length/average)
	score := 0.0
	for t, n := range counts {
		if n > 0 && (q.terms[t].names == 0 || !q.words) {
			score += q.terms[t].idf * n * (k1 + 1) / (n + norm)
		}
	}
	return score / q.idf
}

// neighbourhood is from where to where the messages go that were said with the one at i, at most so many
// before and after it.
func neighbourhood(stream []entry, i, before, after int) (first, last int) {
	first, last = i, i
	for first > max(0, i-before) && stream[first].follows {
		first--
	}
	for last < min(len(stream)-1, i+after) && stream[last+1].follows {
		last++
	}
	return first, last
}

// decay is how much less than the one nearer a neighbour's words count.
const decay = 0.9

// decayed is decay to the power of its index.
var decayed = func() (of [neighbours + 1]float64) {
	for i := range of {
		of[i] = math.Pow(decay, float64(i))
	}
	return of
}()

// around is the BM25 of the text made of stream, of which the words count less the farther they are from the
// message at i, and how much of the question is in it at all.
func (q question) around(stream []entry, i int) (score, covered float64) {
	var all, any [maxTerms]float64
	counts, found := all[:len(q.terms)], any[:len(q.terms)]
	length, average := 0.0, 0.0
	for j := range stream {
		weight := decayed[max(i-j, j-i)]
		for t, n := range stream[j].counts {
			counts[t] += weight * n
			found[t] += n
		}
		length += weight * stream[j].length
		average += weight * averageLength
	}
	return q.bm25(counts, length, average), q.share(found)
}

// reasons are the features that people are told of, by what they are told.
var reasons = []struct {
	kind     string
	features []feature
}{
	{"words", []feature{featureLike, featurePairs}},
	{"around", []feature{featureFar, featureCovered, featureLikeNear}},
	{"author", []feature{featureAuthor, featureSelf, featureSubject}},
	{"name", []feature{featureSpokenOf, featureSpokenNear}},
	{"time", []feature{featureWeek, featureDateSaid, featureEvent}},
	{"answers", []feature{featureAnswers}},
	{"form", []feature{featureTime, featureNumber, featureName, featureReason}},
	{"meaning", []feature{featureMeaning}},
}

// minReason is the least part of a score that people are told of: a date years away is worth next to nothing,
// but not nothing.
const minReason = 0.05

// why tells what spoke for r, most first.
func (r *ranked) why() []Reason {
	var why []Reason
	for _, reason := range reasons {
		sum := 0.0
		for _, f := range reason.features {
			sum += weights[f] * r.values[f]
		}
		if sum < minReason {
			continue
		}
		why = append(why, Reason{Kind: reason.kind, Weight: sum})
	}
	slices.SortStableFunc(why, func(a, b Reason) int { return cmp.Compare(b.Weight, a.Weight) })
	return why
}
