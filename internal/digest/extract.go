package digest

import (
	"math"
	"slices"
	"strings"
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

// said is a message of a session, with what is weighed of it.
type said struct {
	memory.Message
	name   string // of the author, cut
	whole  string // as lined gives it
	pieces []piece
	text   string // what is quoted of it, on one line
	line   string // with its author's name
	words  []string
	terms  []string // each once
	asks   bool
	figure bool // outside questions
	toHark bool // asked: that is Hark's to answer
}

type quoting struct {
	asked, at int // indices in the session; the same if there is no question
	info      float64
}

// extracted sums up a session by its most informative messages, word for word, in order of time; nil if none tells
// anything. A question is quoted with its answer, and alone only if nothing else tells anything, or there is room.
// Topics and kind come from the quotes, so that nothing else is a source.
func extracted(session []memory.Message, name func(memory.UserID) string,
	bot func(memory.UserID) bool) *memory.Summary {
	quoted := highlights(session, name, bot, memory.MaxSummaryText)
	if len(quoted) == 0 {
		return nil
	}
	s := &memory.Summary{}
	var lines []string
	for _, t := range quoted {
		lines = append(lines, t.line)
		s.Sources = append(s.Sources, memory.SourcesOf([]memory.Message{t.Message})...)
	}
	s.Text, s.Topics, s.Kind = strings.Join(lines, between), topicsOf(quoted), kindOfSession(quoted)
	return s
}

// Quote is a message with its quoted text.
type Quote struct {
	memory.Message
	Text string
}

// Quotes returns the most telling messages, in order of time, in so many characters; if none tells anything, the
// newest few.
func Quotes(messages []memory.Message, people memory.People, characters, few int) []Quote {
	best := highlights(messages, people.Name, people.IsBot, characters)
	if len(best) == 0 {
		for _, m := range messages[max(0, len(messages)-few):] {
			best = append(best, saidIn(m, people.Name(m.Author), people.IsBot))
		}
	}
	return Each(best, func(s said) Quote { return Quote{s.Message, s.text} })
}

// highlights returns the most informative messages, in order of time, in so many characters.
func highlights(session []memory.Message, name func(memory.UserID) string, bot func(memory.UserID) bool,
	characters int) []said {
	turns := make([]said, len(session))
	among := map[string]int{}
	for i, m := range session {
		turns[i] = saidIn(m, name(m.Author), bot)
		for _, term := range turns[i].terms {
			among[term]++
		}
	}
	return quotedOf(turns, quotings(turns, among), characters)
}

func saidIn(m memory.Message, name string, bot func(memory.UserID) bool) said {
	t := said{Message: m, name: short(name, saidName), whole: lined(m.Text())}
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
	t.words, t.terms = text.Words(spoken), text.Terms(spoken)
	slices.Sort(t.terms)
	t.terms = slices.Compact(t.terms)
	return t
}

func (t said) runes() int { return utf8.RuneCountInString(t.line + between) }

// short returns about n characters of s on one line, in graphemes and in code points.
func short(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	for graphemes := n; ; graphemes /= 2 {
		if cut := text.Clip(s, graphemes); utf8.RuneCountInString(cut) <= n+1 || graphemes == 0 {
			return cut
		}
	}
}

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

// What adds to a message's words, which are worth 1 at most, if there are many and each is said nowhere else.
const (
	figureWorth   = 1.0
	starWorth     = 1.0
	decisionWorth = 0.8
	dateWorth     = 0.5
	ownWorth      = 0.4 // about oneself
	nameWorth     = 0.3
	lateWorth     = 0.4 // for the session's last message, less for earlier ones
	// settled is added to a message's word count, so that two rare words aren't worth more than a sentence.
	settled = 4
)

// information returns how much a quoting tells: how rare its terms are in the session, by its length, and its
// figures, dates, names, decisions and statements about oneself. It tells nothing without a figure, or a word and
// two terms, one of its own.
func information(turns []said, q quoting, among map[string]int) (info float64, tells bool) {
	t := turns[q.at]
	terms, words := t.terms, len(t.words)
	if q.asked != q.at {
		terms, words = slices.Concat(terms, turns[q.asked].terms), words+len(turns[q.asked].words)
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
