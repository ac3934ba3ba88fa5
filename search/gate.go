package search

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"hark/internal/text"
	"hark/memory"
)

var gateNames = [gateCount]string{"constant", "found", "held", "author", "time", "unheard", "terms", "chatter", "you",
	"states"}

// GateNames returns the names of Result.Gate's values, in order.
func GateNames() []string { return gateNames[:] }

// gateOf decides on hits, best first, by nothing outside the scope.
func (p *pool) gateOf(q Query, asked question, hits []Hit) gate {
	own := slices.ContainsFunc(asked.terms, func(t weighted) bool { return t.share == 1 })
	earlier := slices.ContainsFunc(asked.terms, func(t weighted) bool { return t.share < 1 })
	switch {
	case isSmallTalk(q, asked, earlier), !own && !earlier && len(asked.named)+len(asked.dates) == 0:
		return gate{closed: true}
	case earlier && asked.after != "": // decides a follow-up together with its question
		asked = asked.only(asked.after + "\n" + q.Text)
		q.Text = asked.after
	case earlier, !own, len(asked.named) > 0 && asked.whoOrWhen() && wordsSaying(q.Text).topic:
		// depends on an earlier statement, a name or a date
		return gate{}
	}
	v := make([]float64, gateCount)
	v[gateConstant] = 1
	most := map[string]float64{} // the maximum weight of each reason
	bare := false
	n := 0
	for _, t := range asked.terms {
		n += int(bit(t.idf > 0))
	}
	for _, hit := range hits[:min(gateHits, len(hits))] {
		for _, why := range hit.Why {
			most[why.Kind] = max(most[why.Kind], why.Weight)
		}
		stream := p.streams[hit.Message.Channel]
		at, _ := slices.BinarySearchFunc(stream, hit.Message.ID, func(e entry, id memory.MessageID) int {
			return cmp.Compare(e.ID, id)
		})
		for ; at < len(stream) && stream[at].ID == hit.Message.ID; at++ { // each passage
			e := &stream[at]
			bare = bare || n <= bareTerms && asked.share(asked.heldBy(e)) > 0.99 ||
				asked.rareIn(e) >= rareTerms
		}
	}
	v[gateFound] = most["words"] + most["around"]/2 + most["meaning"]
	v[gateAuthor] = most["author"]
	v[gateTime] = most["time"]
	heard := p.heard(q, asked)
	rare := true
	about := subjects(withoutBid(q.Text))
	unheard := 0.0
	all := 0.0
	for i, t := range asked.terms {
		if about[t.term] && t.names == 0 && !smallTerms()[t.term] && !askingTerms[t.term] {
			all += t.idf
			unheard += t.idf * bit(!heard[i])
		}
		rare = rare && (t.names != 0 || heard[i] && t.count <= rarely)
	}
	v[gateHeld] = p.held(q, asked)
	v[gateUnheard] = unheard / max(all, math.SmallestNonzeroFloat64)
	v[gateTerms] = math.Log(1 + float64(n))
	say := wordsSaying(q.Text)
	v[gateChatter] = say.chatter
	v[gateYou] = bit(say.you && !q.IsSearch)
	v[gateStates] = bit((say.me || say.you) && !say.asks)
	if (bare || rare) && say.topic && say.chatter < 0.5 && v[gateYou]+v[gateStates] == 0 {
		return gate{}
	}
	z := 0.0
	for i, w := range gateWeights {
		z += w * v[i]
	}
	return gate{z < 0, v}
}

// only returns q with the terms of s, without small talk. The other terms become weightless names.
func (q question) only(s string) question {
	is := setOf(text.QueryTerms(s))
	q.terms = slices.Clone(q.terms)
	q.idf = 0
	for i := range q.terms {
		if t := &q.terms[i]; is[t.term] && !smallTerms()[t.term] {
			q.idf += t.idf
		} else {
			t.idf = 0
			t.names = namedBit(math.MaxInt)
		}
	}
	return q
}

// heard reports for each term whether it was said, or is too unspecific to be missed. Very rare terms are looked up
// in the messages, because counts include the question.
func (p *pool) heard(q Query, asked question) []bool {
	heard := make([]bool, len(asked.terms))
	for i, t := range asked.terms {
		heard[i] = t.names != 0 || t.count > rarely || smallTerms()[t.term]
		for _, title := range asked.titled {
			heard[i] = heard[i] || title.held[i] > 0
		}
	}
	for _, stream := range p.streams {
		for at := range stream {
			e := &stream[at]
			for i, n := range e.counts {
				if n > 0 && !heard[i] && (q.Behind == nil || !q.Behind(e.Message)) {
					heard[i] = true
				}
			}
		}
	}
	return heard
}

// held returns the largest share of the question, without names, in a message and two on each side in its session.
// Messages put behind don't count.
func (p *pool) held(q Query, asked question) (most float64) {
	const around = 2
	aside := behind(q)
	for _, t := range asked.terms {
		if t.names != 0 {
			asked.idf -= t.idf
		}
	}
	share := func(stream []entry, all bool) float64 {
		var room [maxTerms]float64
		near := room[:len(asked.terms)]
		if title := asked.titled[stream[0].Channel]; title != nil {
			copy(near, title.held)
		}
		for i := range stream {
			if all || !aside(&stream[i]) {
				larger(near, stream[i].like)
			}
		}
		for t := range near {
			if asked.terms[t].names != 0 {
				near[t] = 0
			}
		}
		return asked.share(near)
	}
	for _, stream := range p.streams {
		for at := range stream {
			first, last := neighbourhood(stream, at, around, around)
			if near := stream[first : last+1]; share(near, true) > most {
				most = max(most, share(near, false))
			}
		}
	}
	return most
}

// rareIn counts the terms in e and its thread's title that few messages have.
func (q question) rareIn(e *entry) (n int) {
	title := q.titled[e.Channel]
	for i, t := range q.terms {
		has := e.counts[i] > 0 || title != nil && title.held[i] > 0
		if has && t.names == 0 && t.count <= fewSay && !smallTerms()[t.term] {
			n++
		}
	}
	return n
}

// heldBy returns how much e and its thread's title contain of each term; an author contains their own name.
func (q question) heldBy(e *entry) []float64 {
	title := q.titled[e.Channel]
	named := slices.Contains(q.named, e.Author)
	if !named && title == nil {
		return e.like
	}
	held := slices.Clone(e.like)
	if title != nil {
		larger(held, title.held)
	}
	if !named {
		return held
	}
	for t := range held {
		held[t] = max(held[t], bit(q.terms[t].names != 0))
	}
	return held
}

// smallTerms are the terms of small talk words.
var smallTerms = sync.OnceValue(func() map[string]bool {
	terms := map[string]bool{}
	for _, words := range []map[string]bool{chatter, besides} {
		for w := range words {
			for _, t := range text.QueryTerms(w) {
				terms[t] = true
			}
		}
	}
	return terms
})

// isSmallTalk reports whether a question asks for nothing that could have been said: it greets, thanks, wants
// entertainment, or has no words. earlier is set if it may refer to preceding messages.
func isSmallTalk(q Query, asked question, earlier bool) bool {
	s := wordsSaying(q.Text)
	wants := q.IsSearch || s.asks && s.others
	switch {
	case s.topic || len(asked.named) > 0:
		return false
	case s.words == 0:
		return s.you || !s.asks
	case s.chatter > 0.5:
		return s.you || !wants
	}
	over := slices.ContainsFunc(asked.dates, func(d dateRange) bool { return d.to.Before(q.Now) })
	return !earlier && !over && (s.you || len(asked.dates) == 0 && s.words > 1 && !wants)
}

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
