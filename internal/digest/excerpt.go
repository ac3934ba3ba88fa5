package digest

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"hark/internal/text"
)

const (
	longPiece = 50 // runes, after which a word is cut
	endSigns  = ".!?…。！？؟"
	closers   = " \n\"')”’»"
	// askedWorth is what a sign in a question is worth, beside one in a statement.
	askedWorth = 0.25
)

// lined returns s without empty lines and extra spaces.
func lined(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		if fields := strings.Fields(line); len(fields) > 0 {
			lines = append(lines, strings.Join(fields, " "))
		}
	}
	return strings.Join(lines, "\n")
}

// piecesOf returns the pieces of s, which is from lined.
func piecesOf(s string) []piece {
	var all []piece
	begins := true
	first := 0
	from := 0
	cut := func(to int) {
		word := s[from:to]
		p := piece{
			from:   from,
			to:     to,
			runes:  utf8.RuneCountInString(word),
			figure: hasFigure(word),
			begins: begins,
		}
		p.worth = worthOf(word, begins)
		if begins {
			first = len(all)
		}
		all = append(all, p)
		last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(word, closers))
		from = to
		begins = strings.HasSuffix(word, "\n") || strings.ContainsRune(endSigns, last)
		if (begins || to == len(s)) && isQuestion(word) {
			for i := first; i < len(all); i++ {
				all[i].asked = true
				all[i].worth = askedWorth * all[i].worth
			}
		}
	}
	state := -1
	rest := s
	for n := 0; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		n++
		to := len(s) - len(rest)
		r, _ := utf8.DecodeLastRuneInString(cluster)
		unspaced := n >= 10 && text.IsUnspaced(r)
		if rest == "" || cluster == " " || cluster == "\n" || strings.ContainsRune("。！？", r) || unspaced ||
			utf8.RuneCountInString(s[from:to]) >= longPiece {
			cut(to)
			n = 0
		}
	}
	return all
}

func worthOf(word string, begins bool) (worth float64) {
	words := text.Words(word)
	for _, sign := range []struct {
		there bool
		worth float64
	}{
		{hasFigure(word), figureWorth}, {hasCue(words, decisionCues),
			decisionWorth}, {hasCue(words, dateCues), dateWorth},
		{!begins && isCapital(word), nameWorth},
	} {
		if sign.there {
			worth += sign.worth
		}
	}
	return worth
}

func isCapital(word string) bool {
	r, n := utf8.DecodeRuneInString(word)
	next, _ := utf8.DecodeRuneInString(word[n:])
	return unicode.IsUpper(r) && unicode.IsLower(next)
}

// excerpt returns the most telling n characters of s, on one line: all of it, or the stretch with the most signs. It
// starts at a sentence if that loses no sign. pieces are those of s.
func excerpt(s string, pieces []piece, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return strings.ReplaceAll(s, "\n", " ")
	}
	var ties [][2]int
	best := -1.0
	worth := 0.0
	runes := 0
	to := 0
	for from := range pieces {
		for to < len(pieces) && runes+pieces[to].runes <= n-2 { // without the two ellipses
			runes = runes + pieces[to].runes
			worth = worth + pieces[to].worth
			to = to + 1
		}
		if to == from { // a piece longer than n
			to = from + 1
			runes = 0
			worth = 0
			continue
		}
		const equal = 1e-9 // sums aren't exact
		if worth > best+equal {
			best = worth
			ties = nil
		}
		if worth > best-equal {
			ties = append(ties, [2]int{from, to})
		}
		if to == len(pieces) {
			break
		}
		runes = runes - pieces[from].runes
		worth = worth - pieces[from].worth
	}
	if len(ties) == 0 {
		return short(s, n)
	}
	at := ties[len(ties)/2]
	for i := len(ties) - 1; i >= 0; i-- {
		if pieces[ties[i][0]].begins {
			at = ties[i]
		}
	}
	cut := strings.TrimSpace(strings.ReplaceAll(s[pieces[at[0]].from:pieces[at[1]-1].to], "\n", " "))
	if at[0] > 0 {
		cut = "…" + cut
	}
	if at[1] < len(pieces) {
		cut += "…"
	}
	return cut
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
