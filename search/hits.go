package search

import (
	"math"
	"slices"

	"hark/memory"
)

// hits returns the best scored messages. It leaves out empty messages, repeats of the question, and duplicates of
// better hits or of the session.
func (p *pool) hits(q Query, scored []*ranked) []Hit {
	var hits []Hit
	aside := behind(q)
	var said seenTexts
	for _, m := range q.Session {
		if p.skip[m.ID] {
			said.add(normalised(m.Text()))
		}
	}
	var scores []float64
	var repeated []Hit
	below := math.Inf(-1) // the score of the first message that isn't a hit
	for _, r := range scored {
		if len(hits) == max(q.Limit, DefaultLimit) { // relevance doesn't depend on the limit
			below = r.score
			break
		}
		e := r.entry
		words := normalised(e.Text())
		if words == "" || len(q.Scope.Authors) > 0 && !slices.Contains(q.Scope.Authors, e.Author) {
			continue
		}
		hit := Hit{
			Message: *e.Message,
			Excerpt: p.excerpt(r, aside),
			From:    e.from,
			To:      e.from + len(e.passage),
			Why:     r.why(),
			score:   r.score,
		}
		if aside(e) || !said.add(words) {
			repeated = append(repeated, hit)
			continue
		}
		hits = append(hits, hit)
		scores = append(scores, r.score)
	}
	for i, relevance := range relevances(scores, below) {
		hits[i].Relevance = relevance
	}
	if q.Repeats {
		hits = append(hits, repeated...)
	}
	return hits[:min(q.Limit, len(hits))]
}

// starOdds is the factor of a star on a message's odds. It is set by hand, because no data set has stars.
const starOdds = 4.0

// odds are a hit's, with its star.
func odds(h Hit) float64 {
	o := h.Relevance / (1 - min(h.Relevance, mostRelevant))
	if h.Message.Starred {
		o *= starOdds
	}
	return o
}

// starredFirst moves starred hits up by their odds. Relevances move with their hits.
func starredFirst(hits []Hit) []Hit {
	moved := slices.Clone(hits)
	// only stars move hits; the others keep their order
	for i := 1; i < len(moved); i++ {
		for j := i; j > 0 && moved[j].Message.Starred && odds(moved[j]) > odds(moved[j-1]); j-- {
			moved[j], moved[j-1] = moved[j-1], moved[j]
		}
	}
	for i, h := range moved {
		if h.Message.Starred {
			moved[i].Why = append([]Reason{{Kind: "starred"}}, h.Why...)
		}
	}
	return moved
}

// excerpt returns a hit's message with one before and one after it in the same session, preferably the message that
// it replies to and one that answers it and isn't aside.
func (p *pool) excerpt(r *ranked, aside func(*entry) bool) []memory.Message {
	stream := p.streams[r.channel]
	first := opening(stream, r.at)
	last := r.at
	for last+1 < len(stream) && stream[last+1].isSameMessage(&stream[r.at]) {
		last++
	}
	from, _ := neighbourhood(stream, first, neighbours, 0)
	var excerpt []memory.Message
	if from < first {
		excerpt = append(excerpt, *repliedTo(stream[from:first], stream[r.at].ReplyTo))
	}
	excerpt = append(excerpt, *stream[r.at].Message)
	if _, to := neighbourhood(stream, last, 0, neighbours); last < to {
		excerpt = append(excerpt, *answering(stream[last+1:to+1], stream[r.at].Message, aside))
	}
	return excerpt
}

// repliedTo returns the message with that id, else the last one.
func repliedTo(before []entry, id memory.MessageID) *memory.Message {
	for i := range before {
		if before[i].ID == id {
			return before[i].Message
		}
	}
	return before[len(before)-1].Message
}

// answering returns the reply to m, else a mention of its author before they speak again, else the next message.
func answering(after []entry, m *memory.Message, aside func(*entry) bool) *memory.Message {
	for i := range after {
		if after[i].ReplyTo == m.ID && !aside(&after[i]) {
			return after[i].Message
		}
	}
	others := false // others have spoken
	for i := range after {
		e := &after[i]
		switch {
		case e.Author != m.Author && e.ReplyTo == 0 && slices.Contains(e.Mentions, m.Author) && !aside(e):
			return e.Message
		case e.Author == m.Author && others:
			return after[0].Message
		}
		others = others || e.Author != m.Author
	}
	return after[0].Message
}

// Field is the rank of a hit that is merely similar.
const Field = 10

// Standings returns for each score, best first, how far it stands out: its lead over the score at Field (over field,
// if there are fewer), its lead over the next, and the logarithm of its rank. below bounds the score after the last.
// Absolute scores depend on the question.
func Standings(scores []float64, below, field float64) [][3]float64 {
	low := field
	if len(scores) >= Field {
		low = scores[Field-1]
	}
	standings := make([][3]float64, len(scores))
	for i, score := range scores {
		next := max(below, min(field, score))
		if i+1 < len(scores) {
			next = scores[i+1]
		}
		standings[i] = [3]float64{score - low, score - next, math.Log(float64(1 + i))}
	}
	return standings
}

// mostRelevant caps the relevance: no lead is certain.
const mostRelevant = 0.99

// relevances returns for each score, best first, the probability that the hit or a direct neighbour answers the
// question. It never rises with the rank. below bounds the score after the last.
func relevances(scores []float64, below float64) []float64 {
	out := make([]float64, len(scores))
	for i, s := range slices.Backward(Standings(scores, below, fieldScore)) {
		z := curve[0] + curve[1]*s[0] + curve[2]*s[1] + curve[3]*s[2]
		out[i] = min(mostRelevant, 1/(1+math.Exp(-z)))
		if i+1 < len(out) {
			out[i] = max(out[i], out[i+1])
		}
	}
	return out
}
