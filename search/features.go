package search

import (
	"math"
	"slices"
	"time"

	"hark/memory"
)

// feature numbers what is known of a message as an answer to a question. All lie in [0, 1], but for
// featureAnswers, which is BM25 divided by the summed inverse document frequency of the question's terms, so that it
// compares between questions: at most k1 + 1. Of a long message they are those of its best passage.
type feature int

const (
	featureFar        feature = iota // BM25 of it and the eight before and after it, as a share of the most
	featureCovered                   // share of the question's inverse document frequency that is found there at all
	featureLike                      // and in itself, also by words that begin alike, as a share of the most
	featureLikeNear                  // and in itself or in the three before and after it
	featurePairs                     // share of the neighbouring terms of the question that are neighbours in it
	featureAuthor                    // it is by somebody whom the question names
	featureSelf                      // it is, and speaks of its author
	featureSubject                   // it is by the one who is named first, of several
	featureSpokenOf                  // it is by somebody else, and speaks of somebody whom the question names
	featureSpokenNear                // share of those named who speak or are named in it or the eight before and after it
	featureWeek                      // 1 at the date asked for, falling to 1/e within a week
	featureDateSaid                  // it tells a date that is asked for
	featureEvent                     // it was said before or after what is asked for so, as far as that can be told
	featureLength                    // logarithm of its words, 1 from 30 on
	featureAnswers                   // BM25 of the message before, if that is somebody else's question
	featureMeaning                   // likeness of its segment's vector to the question's, if it is among the nearest
	featureTime                      // a time is asked for, and it tells one
	featureNumber                    // a number is asked for, and it tells one
	featureName                      // a name is asked for, and it tells one
	featureReason                    // a reason is asked for, and it gives one
	featureCount
)

var featureNames = [featureCount]string{"far", "covered", "like", "likeNear", "pairs", "author", "self", "subject",
	"spokenOf", "spokenNear", "week", "dateSaid", "event", "length", "answers", "meaning", "time", "number", "name",
	"reason"}

// relative are the features that are shares of the most that any message has: how well the best fits depends on the
// question. The most counts as leastMost at least: what hardly fits doesn't become a full match by being the best.
var relative = [...]feature{featureFar, featureLike}

const leastMost = 0.3

// FeatureNames are the names of a Candidate's features, in their order.
func FeatureNames() []string { return featureNames[:] }

// values are a message's features.
type values [featureCount]float64

func (v *values) score() float64 {
	score := 0.0
	for i, w := range weights {
		score += w * v[i]
	}
	return score
}

// features computes those of the passage at i; the relative ones aren't divided yet.
func (p *pool) features(q question, stream []entry, i int) (v values) {
	e := &stream[i]
	first, last := neighbourhood(stream, i, neighbours, neighbours)
	v[featureFar], v[featureCovered] = q.around(stream[first:last+1], i-first)
	if e.words > longText { // it says itself what it is about
		v[featureFar] = q.own(e)
	}
	v[featureLike] = q.share(e.like)
	var room [maxTerms]float64
	near := room[:len(e.like)]
	for j := max(first, i-3); j <= min(last, i+3); j++ {
		for t, likeness := range stream[j].like {
			near[t] = max(near[t], likeness)
		}
	}
	v[featureLikeNear] = q.share(near)
	v[featurePairs] = e.pairs
	if e.by != 0 {
		v[featureAuthor], v[featureSelf] = 1, bit(e.signs.self)
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

// distance is how far t is from the nearest date asked for; 0 within it.
func (q question) distance(t time.Time) time.Duration {
	nearest := time.Duration(1<<63 - 1)
	for _, d := range q.dates {
		nearest = min(nearest, d.distance(t))
	}
	return nearest
}

// datesOf sets the features of e that have to do with the dates asked for.
func (q question) datesOf(e *entry, v *values) {
	if len(q.dates) == 0 {
		return
	}
	days := q.distance(e.Time()).Hours() / 24
	v[featureWeek] = math.Exp(-days / 7)
	if !e.signs.time {
		return
	}
	for _, said := range datesIn(e.Content, e.Time()) {
		if said.open || said.length() > 32*day {
			continue // "this year" says little
		}
		if slices.ContainsFunc(q.dates, said.overlaps) {
			v[featureDateSaid] = 1
		}
	}
}

// share is the share of the question's inverse document frequency that was found, each term as far as found says.
func (q question) share(found []float64) float64 {
	if q.idf == 0 {
		return 0
	}
	sum := 0.0
	for t, part := range found {
		sum += q.terms[t].idf * min(part, 1)
	}
	return sum / q.idf
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Candidate is a message that a search scored.
type Candidate struct {
	Message  memory.MessageID
	Features []float64 // in the order of FeatureNames
	Score    float64
}

// Ingredient is a part of what messages are ranked by: features that have one thing to say.
type Ingredient struct {
	Name     string
	Features []int // their places in a Candidate's Features
}

// Ingredients are all that messages are ranked by, each feature in one of them: what people are told as reasons, and
// whatever else there is by itself.
func Ingredients() []Ingredient {
	var all []Ingredient
	left := make([]bool, featureCount)
	for i := range left {
		left[i] = true
	}
	for _, r := range reasons {
		in := Ingredient{Name: r.kind}
		for _, f := range r.features {
			in.Features = append(in.Features, int(f))
			left[f] = false
		}
		all = append(all, in)
	}
	for f, name := range featureNames {
		if left[f] {
			all = append(all, Ingredient{Name: name, Features: []int{f}})
		}
	}
	return all
}

// Without is c's score if an ingredient had no say in it.
func (c Candidate) Without(in Ingredient) float64 {
	score := 0.0
	for f, value := range c.Features {
		if !slices.Contains(in.Features, f) {
			score += weights[f] * value
		}
	}
	return score
}
