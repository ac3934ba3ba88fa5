package digest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hark/internal/text"
)

const (
	mostLines    = 12  // with short ones
	shortestCut  = 80  // characters of a cut message at least
	noveltyWorth = 0.8 // of what a message tells that isn't quoted yet
)

type room struct {
	turns []said
	shown map[int]bool
	known map[string]bool // what is quoted already
	left  int             // characters
}

// quotedOf returns the messages to quote in so many characters, in order of time: what tells most, and, as there is
// room, short statements and questions with a figure, the latest first, and more of what was cut.
func quotedOf(turns []said, all []quoting, characters int) []said {
	r := room{
		turns: turns,
		shown: map[int]bool{},
		known: map[string]bool{},
		left:  characters,
	}
	var order []int
	for len(r.shown) < mostQuotes {
		best := -1
		most := 0.0
		for i, q := range all {
			if info := r.worth(q); info > most {
				best = i
				most = info
			}
		}
		if best < 0 {
			break
		}
		if q := all[best]; r.add(q) {
			order = append(order, q.at)
		}
		all = slices.Delete(all, best, best+1)
	}
	if len(order) == 0 {
		return nil
	}
	for _, takes := range []func(said) bool{isShortStatement, asksWithFigure} {
		for i := len(turns) - 1; i >= 0 && len(r.shown) < mostLines; i-- {
			if !turns[i].toHark && takes(turns[i]) && r.isNew(turns[i]) && turns[i].runes() <= r.left {
				r.show(i)
			}
		}
	}
	for _, i := range order {
		if wider := turns[i].cut(utf8.RuneCountInString(turns[i].text) +
			r.left); wider.runes() <= turns[i].runes()+r.left {
			r.left += turns[i].runes() - wider.runes()
			turns[i] = wider
		}
	}
	var quoted []said
	for i, t := range turns {
		if r.shown[i] {
			quoted = append(quoted, t)
		}
	}
	return quoted
}

// worth returns how much a quoting tells beside the quoted ones; 0 if nothing.
func (r *room) worth(q quoting) float64 {
	keys := keysOf(r.turns[q.at])
	if r.shown[q.at] || !r.isNew(r.turns[q.at]) && (r.shown[q.asked] || !r.isNew(r.turns[q.asked])) {
		return 0
	}
	fresh := 0
	for _, k := range keys {
		if !r.known[k] {
			fresh++
		}
	}
	// An unanswered question has no information, and is the only quoting.
	return max(q.info, 1e-9) * (1 - noveltyWorth + noveltyWorth*float64(fresh)/float64(max(1, len(keys))))
}

// add shows a quoting, cut if need be, if it fits.
func (r *room) add(q quoting) bool {
	need := r.turns[q.at].runes()
	if q.asked != q.at && !r.shown[q.asked] {
		need += r.turns[q.asked].runes()
	}
	if need > r.left {
		n := utf8.RuneCountInString(r.turns[q.at].text) - (need - r.left)
		if n < shortestCut {
			return false
		}
		r.turns[q.at] = r.turns[q.at].cut(n)
	}
	r.show(q.asked)
	r.show(q.at)
	return true
}

func (r *room) show(i int) {
	if r.shown[i] {
		return
	}
	r.shown[i] = true
	r.left -= r.turns[i].runes()
	for _, k := range allKeys(r.turns[i]) {
		r.known[k] = true
	}
}

func (r *room) isNew(t said) bool {
	return slices.ContainsFunc(keysOf(t), func(k string) bool { return !r.known[k] })
}

// keysOf returns what a message tells, to recognise it: its terms, its figures as written, and a denial. What
// people say of themselves differs by author.
func keysOf(t said) []string {
	keys := plainKeys(t)
	if hasCue(t.words, ownCues) {
		for i := range keys {
			keys[i] = t.Author.String() + " " + keys[i]
		}
	}
	return keys
}

// allKeys returns what a message makes known, as said by anybody and by its author.
func allKeys(t said) []string {
	keys := plainKeys(t)
	for _, k := range slices.Clone(keys) {
		keys = append(keys, t.Author.String()+" "+k)
	}
	return keys
}

func plainKeys(t said) []string {
	keys := slices.Concat(t.terms, figuresIn(markup().ReplaceAllString(t.text, "")))
	if hasCue(t.words, denialCues) || strings.Contains(t.text, "n't") || strings.Contains(t.text, "n’t") {
		keys = append(keys, "not")
	}
	return keys
}

// isShortStatement reports whether t is a few words that tell something: "Divorced."
func isShortStatement(t said) bool {
	return !t.asks && slices.ContainsFunc(t.words, func(w string) bool {
		letters := strings.ContainsFunc(w, unicode.IsLetter)
		long := utf8.RuneCountInString(w) > 3 || strings.ContainsFunc(w, text.IsUnspaced)
		return letters && long && !text.IsStopWord(w) && !smallTalk[w]
	})
}

// asksWithFigure reports whether t is a question that may tell: "I ran it in 25:50, can you believe it?"
func asksWithFigure(t said) bool { return t.asks && hasFigure(t.text) }
