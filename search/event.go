package search

import (
	"slices"
	"strings"
	"time"

	"hark/internal/pattern"
	"hark/internal/text"
	"hark/memory"
)

const (
	aboutIt relation = iota
	beforeIt
	afterIt
)

var eventAsked = pattern.Of(`(?:^|[^\p{L}])(before|until|after|since|during|when|while)\s+` +
	`(?:(?:the|my|our|your|his|her|their|its|we|i|you|they|he|she|it)\s+)?((?:[\p{L}\d'’-]+\s*){1,4})`)

// eventIn returns a question's event. A date is none.
func eventIn(question string, now time.Time) event {
	m := eventAsked().FindStringSubmatch(strings.ToLower(question))
	if m == nil || len(datesIn(m[2], now)) > 0 {
		return event{}
	}
	var e event
	for _, w := range text.Words(m[2]) {
		if text.IsStopWord(w) {
			if len(e.terms) > 0 {
				break // the question goes on with something else
			}
			continue
		}
		e.terms = append(e.terms, text.QueryTerms(w)...)
	}
	e.when = relations[m[1]]
	return e
}

// relations by word; other words mean aboutIt.
var relations = map[string]relation{"before": beforeIt, "until": beforeIt, "after": afterIt, "since": afterIt}

// find estimates when the event was: the median time of messages with all its words or, if there are none, with
// all but the last ones.
func (e *event) find(q question, streams map[memory.ChannelID][]entry) {
	var at []int
	for _, term := range e.terms {
		i := slices.IndexFunc(q.terms, func(t weighted) bool { return t.term == term })
		if i < 0 {
			break
		}
		at = append(at, i)
	}
	for ; len(at) > 0 && !e.known; at = at[:len(at)-1] {
		e.findBy(at, streams)
	}
}

func (e *event) findBy(terms []int, streams map[memory.ChannelID][]entry) {
	var times []time.Time
	for _, stream := range streams {
		for i := range stream {
			if !slices.ContainsFunc(terms, func(t int) bool { return stream[i].counts[t] == 0 }) {
				times = append(times, stream[i].Time())
			}
		}
	}
	if len(times) > 0 {
		slices.SortFunc(times, time.Time.Compare)
		e.at = times[len(times)/2]
		e.known = true
	}
}

// matches reports whether t fits the question's relation to the event.
func (e *event) matches(t time.Time) bool {
	switch {
	case !e.known:
		return false
	case e.when == beforeIt:
		return t.Before(e.at)
	case e.when == afterIt:
		return t.After(e.at)
	}
	return t.Sub(e.at).Abs() <= 3*day
}
