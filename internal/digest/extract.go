package digest

import (
	"math"
	"slices"
	"unicode/utf8"

	"hark/internal/text"
	"hark/memory"
)

// Lengths of quotes in a summary, in characters.
const (
	saidLength = 200 // more, where there is room left
	saidName   = 30
	mostQuotes = 8
	between    = " · " // two messages
)

type quoting struct {
	asked, at int // indices in the session; the same if there is no question
	info      float64
}

func saidIn(m memory.Message, name string, bot func(memory.UserID) bool) said {
	t := said{
		Message: m,
		name:    short(name, saidName),
		whole:   lined(m.Text()),
	}
	t.pieces = piecesOf(t.whole)
	sentences := 0
	for _, p := range t.pieces {
		t.figure = t.figure || p.figure && !p.asked
		if p.begins {
			sentences++
		}
	}
	// A statement beside a question counts: "I ran it in 25:50. And you?"
	t.asks = isQuestion(t.whole) && !t.figure
	addressed := m.Guild == memory.DirectGuild || slices.ContainsFunc(m.Mentions, bot) || text.SpeaksToHark(t.whole)
	t.toHark = addressed && (t.asks || sentences == 1 && text.Asks(t.whole))
	return t.cut(saidLength)
}

// cut returns t with at most n characters quoted.
func (t said) cut(n int) said {
	t.text = excerpt(t.whole, t.pieces, n)
	t.line = t.name + ": " + t.text
	spoken := text.WithoutHark(t.text)
	t.words = text.Words(spoken)
	t.terms = text.Terms(spoken)
	slices.Sort(t.terms)
	t.terms = slices.Compact(t.terms)
	return t
}

func (t said) runes() int { return utf8.RuneCountInString(t.line + between) }

// quotings returns what can be quoted and tells anything. among counts the messages with each term.
func quotings(turns []said, among map[string]int) []quoting {
	var all []quoting
	unanswered := -1
	for i, t := range turns {
		q := quoting{asked: answered(turns, i), at: i}
		tells := false
		q.info, tells = information(turns, q, among)
		switch {
		case !tells || t.toHark:
		case t.asks:
			unanswered = i
		default:
			all = append(all, q)
		}
	}
	if len(all) == 0 && unanswered >= 0 {
		return []quoting{{asked: unanswered, at: unanswered}}
	}
	return all
}

// answered returns the index of the question that message i answers: what it replies to, or somebody else's right
// before it; else i.
func answered(turns []said, i int) int {
	at := i - 1
	if turns[i].ReplyTo != 0 {
		at = slices.IndexFunc(turns[:i], func(t said) bool { return t.ID == turns[i].ReplyTo })
	}
	if turns[i].asks || at < 0 || !turns[at].asks || turns[at].toHark || turns[at].Author == turns[i].Author {
		return i
	}
	return at
}

// information returns how much a quoting tells: how rare its terms are in the session, by its length, and its
// figures, dates, names, decisions and statements about oneself. It tells nothing without a figure, or a word and
// two terms, one of its own.
func information(turns []said, q quoting, among map[string]int) (info float64, tells bool) {
	t := turns[q.at]
	terms := t.terms
	words := len(t.words)
	if q.asked != q.at {
		terms = slices.Concat(terms, turns[q.asked].terms)
		words = words + len(turns[q.asked].words)
		slices.Sort(terms)
		terms = slices.Compact(terms)
	}
	for _, term := range terms {
		info += math.Log(1+float64(len(turns))/float64(among[term])) / math.Log(1+float64(len(turns)))
	}
	info /= float64(settled + words)
	for _, sign := range []struct {
		there bool
		worth float64
	}{
		{t.figure, figureWorth}, {t.Starred, starWorth}, {hasCue(t.words, decisionCues),
			decisionWorth}, {hasCue(t.words, dateCues), dateWorth},
		{hasCue(t.words, ownCues), ownWorth}, {hasName(t.text), nameWorth},
	} {
		if sign.there {
			info += sign.worth
		}
	}
	return info + lateWorth*float64(q.at+1)/float64(len(turns)), len(t.words) > 0 && len(t.terms) > 0 &&
		len(terms) >= 2 || t.figure
}
