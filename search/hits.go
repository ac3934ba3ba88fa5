package search

import (
	"math"
	"slices"
	"strings"

	"hark/internal/text"
	"hark/memory"
)

// hits are the best of what was scored, with their excerpts; what only repeats the question, or says the same
// as a better one, is left out.
func (p *pool) hits(q Query, scored []ranked) []Hit {
	var hits []Hit
	asked := repeats(q.Text)
	said := map[string]bool{}
	for _, r := range scored {
		if len(hits) == q.Limit {
			break
		}
		e := &p.streams[r.channel][r.at]
		if asked(e) {
			continue
		}
		if words := normalised(e.Text()); words != "" {
			if said[words] {
				continue
			}
			said[words] = true
		}
		hits = append(hits, Hit{Message: e.Message, Excerpt: p.excerpt(r), Relevance: relevance(r.score), Why: r.why})
	}
	return hits
}

// repeats tells of a message whether it asks what the question asks, in no more words: people ask the same
// twice, and the first time answers nothing.
func repeats(question string) func(*entry) bool {
	terms := map[string]bool{}
	for _, t := range text.Terms(question) {
		terms[t] = true
	}
	same := normalised(question)
	return func(e *entry) bool {
		body := e.Text()
		if !e.asks {
			return same != "" && normalised(body) == same
		}
		return !slices.ContainsFunc(text.Terms(body), func(t string) bool { return !terms[t] })
	}
}

// normalised is s without what doesn't change what it says.
func normalised(s string) string {
	return strings.TrimRight(strings.Join(strings.Fields(strings.ToLower(s)), " "), ".!… ")
}

// excerpt is a hit's message with the one before and the one after it in the same sitting.
func (p *pool) excerpt(r ranked) []memory.Message {
	stream := p.streams[r.channel]
	first, last := r.at, r.at
	if stream[r.at].joined && r.at > 0 {
		first--
	}
	if last+1 < len(stream) && stream[last+1].joined {
		last++
	}
	var excerpt []memory.Message
	for _, e := range stream[first : last+1] {
		excerpt = append(excerpt, e.Message)
	}
	return excerpt
}

// relevance is a score as a probability. The curve was fitted to how often messages of a score, or their
// direct neighbours, answer the question.
func relevance(score float64) float64 {
	return 1 / (1 + math.Exp(-(score-relevanceHalf)/relevanceWidth))
}

const (
	relevanceHalf  = 3.0
	relevanceWidth = 0.6
)
