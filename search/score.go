package search

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"hark/internal/text"
	"hark/memory"
)

// sessionGap is the silence after which a new session begins.
const sessionGap = 3 * time.Hour

// read returns the entries of windows that are in scope and recallable. It counts the question's terms in them,
// except in skipped messages; see without.
func (p *pool) read(windows [][]memory.Message, counter *counter) map[memory.ChannelID][]entry {
	streams := map[memory.ChannelID][]entry{}
	var cut []string
	scope := counter.scope
	room := map[memory.ChannelID]int{}
	for _, window := range windows {
		room[window[0].Channel] += len(window)
	}
	for _, window := range windows {
		channel := window[0].Channel
		stream := streams[channel]
		if stream == nil {
			stream = make([]entry, 0, room[channel])
		}
		follows := false // all messages since the last entry were adjacent
		for i := range window {
			m := &window[i]
			at := m.Time()
			if !m.Kind.Recalled() || !scope.Since.IsZero() && at.Before(scope.Since) ||
				!scope.Until.IsZero() && !at.Before(scope.Until) {
				continue
			}
			cut = passages(cut[:0], m.Text())
			from := 0
			follows = follows && isSoonAfter(stream, m)
			for _, passage := range cut {
				stream = append(stream, entry{
					Message: m,
					passage: passage,
					from:    from,
					follows: follows,
				})
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

// without returns the pool without skip, and with the messages that p skipped. Both pools share streams without either.
func (p *pool) without(skip []memory.MessageID, asked question) *pool {
	left := *p
	left.skip = setOf(skip)
	left.streams = make(map[memory.ChannelID][]entry, len(p.streams))
	counter := newCounter(asked)
	for channel, all := range p.streams {
		if isWhole(all, left.skip) {
			left.streams[channel] = all
		} else {
			left.streams[channel] = streamWithout(all, left.skip, counter)
		}
	}
	return &left
}

// isWhole reports whether a stream has nothing to skip, and its terms are counted.
func isWhole(stream []entry, skip map[memory.MessageID]bool) bool {
	for i := range stream {
		if stream[i].counts == nil || len(skip) > 0 && skip[stream[i].ID] {
			return false
		}
	}
	return true
}

func streamWithout(all []entry, skip map[memory.MessageID]bool, counter *counter) []entry {
	stream := make([]entry, 0, len(all))
	follows := true // all since the last that was taken in
	for _, e := range all {
		follows = follows && e.follows
		if skip[e.ID] {
			continue
		}
		if e.counts == nil {
			counter.count(&e)
		}
		e.follows = follows && isSoonAfter(stream, e.Message)
		stream = append(stream, e)
		follows = true
	}
	return stream
}

// isSoonAfter reports whether m belongs to the session of the last entry of a stream.
func isSoonAfter(stream []entry, m *memory.Message) bool {
	n := len(stream)
	return n > 0 && m.Time().Sub(stream[n-1].Time()) <= sessionGap
}

// counter counts a question's terms in messages. It caches results by term.
type counter struct {
	question
	batch *text.Batch
	found map[string]foundTerm
	said  []string  // reused buffer for terms
	room  []float64 // backing array of entries' counts
}

// foundTerm relates a message's term to the question's terms.
type foundTerm struct {
	at   int       // index of the equal term; -1 if none
	like []float64 // similarity to each term; nil if none
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
	said := c.spelled(e.passage)
	terms := c.batch.AppendTerms(c.said[:0], said)
	c.said = terms
	e.counts = c.numbers()
	e.like = c.numbers()
	pairs := 0
	for at, t := range terms {
		if t == text.Unlike {
			continue
		}
		found := c.find(t)
		if i := found.at; i >= 0 {
			e.names |= c.terms[i].names
			e.counts[i]++
			if at+1 < len(terms) && c.pairs[t] == terms[at+1] {
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
		e.words++
		if e.words > longText {
			break
		}
	}
	if at := slices.Index(c.named, e.Author); at >= 0 {
		e.by = namedBit(at)
	}
	e.signs = signsOf(said, c.form != asksAnything || e.by != 0 || len(c.dates) > 0)
}

// numbers returns a zeroed, non-nil slice with one element for each term of the question.
func (c *counter) numbers() []float64 {
	const messages = 100 // allocated at once
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
	at      int // index in its channel's stream
	score   float64
	values  values
}

// score returns all messages in the pool, best first. Messages put behind don't count for the maxima.
func (p *pool) score(query Query, q question) []*ranked {
	n := 0
	for _, stream := range p.streams {
		n += len(stream)
	}
	all := make([]*ranked, 0, n)
	q.event.find(q, p.streams)
	aside := behind(query)
	for _, channel := range slices.Sorted(maps.Keys(p.streams)) {
		stream := p.streams[channel]
		scored := make([]ranked, len(stream))
		for i := range stream {
			r := &scored[i]
			r.entry = &stream[i]
			r.channel = channel
			r.at = i
			r.values = p.features(q, stream, i)
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
		} else if r.score > best[n-1].score { // a message ranks by its best passage
			best[n-1] = r
		}
	}
	slices.SortFunc(best, bestFirst)
	return best
}

func bestFirst(a, b *ranked) int {
	if a.score != b.score { // nearly always; the other comparisons take longer than all of the rest
		return cmp.Compare(b.score, a.score)
	}
	return cmp.Or(cmp.Compare(a.channel, b.channel), cmp.Compare(a.at, b.at))
}

// own returns the BM25 of one message.
func (q question) own(e *entry) float64 { return q.bm25(e.counts, e.length, averageLength) }

// bm25 returns BM25 (https://en.wikipedia.org/wiki/Okapi_BM25) divided by the summed IDF. Names count only if
// there are no other terms.
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

// neighbourhood returns the range of at most before and after neighbours of i in its session.
func neighbourhood(stream []entry, i, before, after int) (first, last int) {
	first = i
	last = i
	for first > max(0, i-before) && stream[first].follows {
		first--
	}
	for last < min(len(stream)-1, i+after) && stream[last+1].follows {
		last++
	}
	return first, last
}

// decay is the factor on a neighbour's words for each step away.
const decay = 0.9

// decayed are the powers of decay.
var decayed = func() (of [neighbours + 1]float64) {
	for i := range of {
		of[i] = math.Pow(decay, float64(i))
	}
	return of
}()

// around returns the BM25 of the neighbourhood stream of i, weighted by decay and with its thread's title, and its
// share of the question.
func (q question) around(stream []entry, i int) (score, covered float64) {
	var all, any [maxTerms]float64
	counts := all[:len(q.terms)]
	found := any[:len(q.terms)]
	length := 0.0
	average := 0.0
	if title := q.titled[stream[i].Channel]; title != nil {
		copy(counts, title.weighed)
		copy(found, title.weighed)
	}
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

// minReason is the least part of a score that is shown.
const minReason = 0.05

// why returns the reasons for r, strongest first.
func (r *ranked) why() []Reason {
	var why []Reason
	for _, reason := range reasons {
		sum := 0.0
		for _, f := range reason.features {
			sum += weights[f] * r.values[f]
		}
		if sum >= minReason {
			why = append(why, Reason{Kind: reason.kind, Weight: sum})
		}
	}
	slices.SortStableFunc(why, func(a, b Reason) int { return cmp.Compare(b.Weight, a.Weight) })
	return why
}

// behind returns a test for messages that only repeat the question or are q.Behind.
func behind(q Query) func(*entry) bool {
	asked := repeats(q)
	return func(e *entry) bool { return asked(e) || q.Behind != nil && q.Behind(e.Message) }
}

// repeats returns a test for messages that only ask the question: somebody's earlier question answers nothing. A
// plain search may quote the words of the message that it looks for.
func repeats(q Query) func(*entry) bool {
	question := text.WithoutHark(q.Text)
	terms := setOf(text.Terms(question))
	same := normalised(question)
	batch := text.NearTo(slices.Collect(maps.Keys(terms)))
	return func(e *entry) bool {
		body := text.WithoutHark(e.Text())
		if !e.signs.asks {
			return !q.IsSearch && same != "" && normalised(body) == same
		}
		return !slices.ContainsFunc(batch.Terms(body), func(t string) bool { return !terms[t] })
	}
}

// features computes the values of the passage at i, without dividing the relative ones.
func (p *pool) features(q question, stream []entry, i int) (v values) {
	e := &stream[i]
	first, last := neighbourhood(stream, i, neighbours, neighbours)
	v[featureFar], v[featureCovered] = q.around(stream[first:last+1], i-first)
	if e.words > longText { // a long text needs no context
		v[featureFar] = q.own(e)
	}
	var room [maxTerms]float64
	near := room[:len(e.like)]
	if title := q.titled[e.Channel]; title != nil {
		copy(near, title.weighed)
	}
	v[featureLike] = q.share(larger(near, e.like))
	for j := max(first, i-3); j <= min(last, i+3); j++ {
		larger(near, stream[j].like)
	}
	v[featureLikeNear] = q.share(near)
	v[featurePairs] = e.pairs
	if e.by != 0 {
		v[featureAuthor] = 1
		v[featureSelf] = bit(e.signs.self)
		v[featureSubject] = bit(len(q.named) > 1 && e.Author == q.named[0])
	} else {
		v[featureSpokenOf] = bit(e.names != 0)
	}
	if len(q.named) > 0 {
		var there namedSet
		for j := first; j <= last; j++ {
			there |= stream[j].names | stream[j].by
		}
		v[featureSpokenNear] = there.count() / float64(min(len(q.named), 64))
	}
	q.datesOf(e, &v)
	v[featureEvent] = bit(q.event.matches(e.Time()))
	v[featureLength] = min(1, math.Log(1+float64(e.words))/math.Log(31))
	begins := opening(stream, i)
	if begins > 0 && stream[begins].follows {
		if before := &stream[begins-1]; before.signs.asks && before.Author != e.Author {
			v[featureAnswers] = q.own(before)
		}
	}
	v[featureMeaning] = p.similarity[e.ID]
	v[featureTime] = bit(q.form == asksTime && e.signs.time)
	v[featureNumber] = bit(q.form == asksNumber && e.signs.number)
	v[featureName] = bit(q.form == asksName && e.signs.name)
	v[featureReason] = bit(q.form == asksReason && e.signs.reason)
	return v
}
