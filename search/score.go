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

// question is a query understood.
type question struct {
	scope memory.Scope
	terms []weighted // to look for, rarest first
	idf   float64    // of all terms together
	named []memory.UserID
	dates []dateRange
}

// idfOf is the inverse document frequency of a term of the question; 0 of one that isn't looked for.
func (q question) idfOf(term string) float64 {
	for _, t := range q.terms {
		if t.term == term {
			return t.idf
		}
	}
	return 0
}

// weighted is a term and how much finding it says.
type weighted struct {
	term string
	idf  float64
}

// pool is what was fetched to be scored.
type pool struct {
	wanted     map[memory.ChannelID][]memory.MessageID
	seen       map[memory.MessageID]bool // in wanted
	similarity map[memory.MessageID]float64
	skip       map[memory.MessageID]bool
	streams    map[memory.ChannelID][]entry
}

// entry is a fetched message, with its terms counted.
type entry struct {
	memory.Message
	counts []float64 // of the question's terms, in their order
	length float64   // terms
	words  int
	asks   bool // it has a question mark
	joined bool // it follows the entry before it within the same sitting
}

func newPool(skip []memory.MessageID) *pool {
	p := &pool{
		wanted: map[memory.ChannelID][]memory.MessageID{}, seen: map[memory.MessageID]bool{},
		similarity: map[memory.MessageID]float64{}, skip: map[memory.MessageID]bool{},
		streams: map[memory.ChannelID][]entry{},
	}
	for _, id := range skip {
		p.skip[id] = true
	}
	return p
}

func (p *pool) want(channel memory.ChannelID, id memory.MessageID) {
	if !p.seen[id] {
		p.seen[id] = true
		p.wanted[channel] = append(p.wanted[channel], id)
	}
}

func (p *pool) channels() []memory.ChannelID { return slices.Sorted(maps.Keys(p.wanted)) }

// sitting is the silence after which talk in a channel begins anew.
const sitting = 3 * time.Hour

// add takes a channel's fetched messages in, those within scope that can be recalled.
func (p *pool) add(stretch []memory.Message, scope memory.Scope) {
	for _, m := range stretch {
		at := m.Time()
		if !m.Kind.Recalled() || p.skip[m.ID] || !scope.Since.IsZero() && at.Before(scope.Since) || !scope.Until.IsZero() && !at.Before(scope.Until) {
			continue
		}
		stream := p.streams[m.Channel]
		joined := len(stream) > 0 && at.Sub(stream[len(stream)-1].Time()) <= sitting
		p.streams[m.Channel] = append(stream, entry{Message: m, joined: joined})
	}
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

// count counts the question's terms in e.
func (e *entry) count(batch *text.Batch, position map[string]int) {
	e.counts = make([]float64, len(position))
	body := e.Text()
	terms := batch.Terms(body)
	e.length = min(float64(len(terms)), longTerms)
	for _, t := range terms {
		if i, ok := position[t]; ok {
			e.counts[i]++
		}
	}
	e.words = len(strings.Fields(body))
	e.asks = strings.ContainsAny(body, "?？")
}

// ranked is a scored entry.
type ranked struct {
	channel memory.ChannelID
	at      int // in its channel's stream
	score   float64
	why     []Reason
}

// score scores everything in the pool, best first.
func (p *pool) score(q question) []ranked {
	position := map[string]int{}
	for i, t := range q.terms {
		position[t.term] = i
	}
	var all []ranked
	var batch text.Batch
	for _, channel := range p.channels() {
		stream := p.streams[channel]
		for i := range stream {
			stream[i].count(&batch, position)
		}
		for i := range stream {
			r := ranked{channel: channel, at: i}
			r.score, r.why = p.features(q, stream, i).weigh(q, stream[i])
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	return all
}

// features are what is known of one message as an answer to a question. Those of words are BM25 divided by
// the summed inverse document frequency of the question, so that they compare between questions.
type features struct {
	own, near, far float64 // the words of the message, of ±3 and of ±8 round it
	author         float64 // 1 if it is by somebody the question names
	date           float64 // 1 at the date asked for, less the farther away
	length         float64 // 0 to 1
	answers        float64 // own of the message before, if that is somebody else's question
	similarity     float64 // of the segment's vector, if it was among the nearest
	words          []string
}

// features computes those of the message at i.
func (p *pool) features(q question, stream []entry, i int) features {
	e := &stream[i]
	f := features{similarity: p.similarity[e.ID]}
	f.own, f.words = own(q, e)
	f.near, f.far = f.own, f.own
	if e.words <= longText {
		f.near = around(q, stream, i, 3, 0.8)
		f.far = around(q, stream, i, reach, 0.9)
	}
	if i > 0 && e.joined && stream[i-1].asks && stream[i-1].Author != e.Author {
		f.answers, _ = own(q, &stream[i-1])
	}
	if slices.Contains(q.named, e.Author) {
		f.author = 1
	}
	if len(q.dates) > 0 {
		f.date = math.Exp(-q.distance(e.Time()).Hours() / 24 / 7)
	}
	f.length = min(math.Log(1+float64(e.words)), math.Log(31)) / 5
	return f
}

// own is the BM25 of one message, and the words that it holds.
func own(q question, e *entry) (score float64, words []string) {
	if q.idf == 0 {
		return 0, nil
	}
	norm := k1 * (1 - b + b*e.length/averageLength)
	for i, t := range q.terms {
		if n := e.counts[i]; n > 0 {
			score += t.idf * n * (k1 + 1) / (n + norm)
			words = append(words, t.term)
		}
	}
	return score / q.idf, words
}

// around is the BM25 of the text made of the messages within reach of i in the same sitting, each counting
// decay times less than the one nearer.
func around(q question, stream []entry, i, reach int, decay float64) float64 {
	if q.idf == 0 {
		return 0
	}
	counts := slices.Clone(stream[i].counts)
	length, average := stream[i].length, averageLength
	add := func(e *entry, weight float64) {
		for t, n := range e.counts {
			counts[t] += weight * n
		}
		length += weight * e.length
		average += weight * averageLength
	}
	for d, weight := 1, decay; d <= reach && i-d >= 0 && stream[i-d+1].joined; d, weight = d+1, weight*decay {
		add(&stream[i-d], weight)
	}
	for d, weight := 1, decay; d <= reach && i+d < len(stream) && stream[i+d].joined; d, weight = d+1, weight*decay {
		add(&stream[i+d], weight)
	}
	norm := k1 * (1 - b + b*length/average)
	score := 0.0
	for t, n := range counts {
		score += q.terms[t].idf * n * (k1 + 1) / (n + norm)
	}
	return score / q.idf
}

// The weights of the features. They were set by hand and checked with "hark eval".
const (
	authorWeight     = 0.7
	dateWeight       = 1.5
	lengthWeight     = 0.7
	answersWeight    = 0.4
	similarityWeight = 0.5
)

// weigh adds the features up, and tells which mattered.
func (f features) weigh(q question, e entry) (score float64, why []Reason) {
	add := func(kind, detail string, weight float64) {
		score += weight
		if weight > 0 && kind != "" {
			why = append(why, Reason{Kind: kind, Detail: detail, Weight: weight})
		}
	}
	add("words", strings.Join(f.words, " "), f.own)
	add("around", "", f.near+f.far)
	add("author", "", authorWeight*f.author)
	add("time", "", dateWeight*f.date)
	add("answers", "", answersWeight*f.answers)
	add("meaning", "", similarityWeight*f.similarity)
	add("", "", lengthWeight*f.length)
	slices.SortStableFunc(why, func(a, b Reason) int { return cmp.Compare(b.Weight, a.Weight) })
	return score, why
}
