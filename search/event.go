package search

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"hark/internal/text"
	"hark/memory"
)

// event is something that a question orders time by, as "the move" in "where did we work before the move?".
type event struct {
	when  side
	terms []string // of what it is called; none if the question has no event
	at    time.Time
	known bool // at is
}

// side is where the messages asked for lie, seen from an event.
type side int8

const (
	aboutIt side = iota
	beforeIt
	afterIt
)

var eventAsked = regexp.MustCompile(`(?:^|[^\p{L}])(before|until|after|since|during|when|while)\s+` +
	`(?:(?:the|my|our|your|his|her|their|its|we|i|you|they|he|she|it)\s+)?((?:[\p{L}\d'’-]+\s*){1,4})`)

// eventIn is the event that a question orders time by. A date is none.
func eventIn(question string, now time.Time) event {
	m := eventAsked.FindStringSubmatch(strings.ToLower(question))
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
	e.when = sides[m[1]]
	return e
}

// sides are where what is asked for lies, by the word that says so.
var sides = map[string]side{"before": beforeIt, "until": beforeIt, "after": afterIt, "since": afterIt}

// find works out when the event was: in the middle of what was said of it by all its words or, where nobody
// did, by all but the last ones.
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
		e.at, e.known = times[len(times)/2], true
	}
}

// holds reports whether t lies where the question asks for.
func (e *event) holds(t time.Time) bool {
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
