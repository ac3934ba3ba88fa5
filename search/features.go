package search

import (
	"math"
	"slices"
	"time"

	"hark/memory"
)

// feature is the index of a feature. Values lie in [0, 1], except that featureAnswers is at most k1 + 1. BM25 is
// divided by the summed IDF of the question's terms, so that questions compare. A long message has the values of
// its best passage.
type feature int

const (
	featureFar        feature = iota // BM25 of it and eight neighbours on each side, as a share of the maximum
	featureCovered                   // share of the question's IDF that is found there
	featureLike                      // share of the IDF in it, by words that begin alike, as a share of the maximum
	featureLikeNear                  // the same, for it and three neighbours on each side
	featurePairs                     // share of the question's term pairs that it contains
	featureAuthor                    // its author is named in the question
	featureSelf                      // that, and it speaks of its author
	featureSubject                   // its author is the first of several named
	featureSpokenOf                  // another author, and it mentions somebody named in the question
	featureSpokenNear                // share of those named who speak or are named within eight messages
	featureWeek                      // 1 at the date asked for, falling to 1/e within a week
	featureDateSaid                  // it mentions a date asked for
	featureEvent                     // it lies before or after the event, as asked, if that is known
	featureLength                    // logarithm of its words, 1 from 30 on
	featureAnswers                   // BM25 of the preceding message, if that is another person's question
	featureMeaning                   // similarity of its segment's vector, if among the nearest
	featureTime                      // asks for a time, and it has one
	featureNumber                    // asks for a number, and it has one
	featureName                      // asks for a name, and it has one
	featureReason                    // asks for a reason, and it gives one
	featureCount
)

var featureNames = [featureCount]string{"far", "covered", "like", "likeNear", "pairs", "author", "self", "subject",
	"spokenOf", "spokenNear", "week", "dateSaid", "event", "length", "answers", "meaning", "time", "number", "name",
	"reason"}

// relative features are shares of the maximum over all messages, because the height of a good match depends on the
// question. The maximum counts as at least leastMost, so that the best of bad matches isn't a full match.
var relative = [...]feature{featureFar, featureLike}

const leastMost = 0.3

// FeatureNames returns the names of a Candidate's features, in order.
func FeatureNames() []string { return featureNames[:] }

// values holds a message's features.
type values [featureCount]float64

func (v *values) score() float64 {
	score := 0.0
	for i, w := range weights {
		score += w * v[i]
	}
	return score
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

// distance returns how far t is from the nearest date asked for; 0 within it.
func (q question) distance(t time.Time) time.Duration {
	nearest := time.Duration(1<<63 - 1)
	for _, d := range q.dates {
		nearest = min(nearest, d.distance(t))
	}
	return nearest
}

// datesOf sets the date features of e.
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

// share returns the share of the question's IDF that was found, with found in [0, 1] for each term.
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

// larger sets each number of a to the larger one of a and b, and returns a.
func larger(a, b []float64) []float64 {
	for i, n := range b {
		a[i] = max(a[i], n)
	}
	return a
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Candidate is a scored message.
type Candidate struct {
	Message  memory.MessageID
	Features []float64 // in the order of FeatureNames
	Score    float64
}

// Ingredient is a named group of features.
type Ingredient struct {
	Name     string
	Features []int // their places in a Candidate's Features
}

// Ingredients returns a partition of the features: the reasons that people see, and the other features alone.
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

// Without returns c's score without an ingredient.
func (c Candidate) Without(in Ingredient) float64 {
	score := 0.0
	for f, value := range c.Features {
		if !slices.Contains(in.Features, f) {
			score += weights[f] * value
		}
	}
	return score
}
