package search

import (
	"math"
	"slices"
	"strings"

	"hark/internal/text"
	"hark/memory"
)

// hits are the best of what was scored, with their excerpts; what says nothing, only repeats the question, or
// says the same as a better one, is left out.
func (p *pool) hits(q Query, scored []ranked) []Hit {
	var hits []Hit
	asked := repeats(q.Text)
	said := map[string]bool{}
	var scores []float64
	var repeated []Hit
	below := math.Inf(-1) // the score of what would be the next hit
	for _, r := range scored {
		if len(hits) == max(q.Limit, DefaultLimit) { // relevance doesn't depend on how many hits are wanted
			below = r.score
			break
		}
		e := &p.streams[r.channel][r.at]
		words := normalised(e.Text())
		if words == "" {
			continue
		}
		if said[words] || asked(e) {
			repeated = append(repeated, Hit{Message: e.Message, Excerpt: p.excerpt(r), Why: r.why})
			continue
		}
		said[words] = true
		hits = append(hits, Hit{Message: e.Message, Excerpt: p.excerpt(r), Why: r.why})
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

// The logistic curve that takes a hit's place among the scores of a result to the probability that it, or a
// direct neighbour, answers the question. It was fitted on the tuning halves of LoCoMo, REALTALK and FriendsQA,
// each counting the same, with the ranking of this package. Scores alone tell little, since their height depends
// on the question; how far a hit stands out tells most:
//
//	relevance   of the first ten hits   right in LoCoMo  REALTALK  FriendsQA
//	0.8 to 1                      155              0.89      0.86       0.79
//	0.6 to 0.8                    439              0.73      0.74       0.62
//	0.4 to 0.6                    767              0.56      0.57       0.45
//	0.2 to 0.4                  3,052              0.31      0.38       0.23
//	0 to 0.2                   18,587              0.13      0.13       0.09
const (
	relevanceBase  = -1.8
	relevanceField = 1.0  // for each point of score above the field
	relevanceNext  = 1.3  // for each point above the hit after it
	relevanceRank  = -0.5 // times the logarithm of the rank, the best being 1
	field          = 10   // the hit that stands for what merely resembles the question
	fieldScore     = 2.3  // its median score, where there are fewer hits
)

// relevances are those of hits with the given scores, best first, and nothing better than below after them.
// They never rise with the rank: what is true of a hit is true of those above it.
func relevances(scores []float64, below float64) []float64 {
	low := fieldScore
	if len(scores) >= field {
		low = scores[field-1]
	}
	out := make([]float64, len(scores))
	for i, score := range slices.Backward(scores) {
		next := max(below, min(fieldScore, score))
		if i+1 < len(scores) {
			next = scores[i+1]
		}
		z := relevanceBase + relevanceField*(score-low) + relevanceNext*(score-next) + relevanceRank*math.Log(float64(1+i))
		out[i] = 1 / (1 + math.Exp(-z))
		if i+1 < len(out) {
			out[i] = max(out[i], out[i+1])
		}
	}
	return out
}
