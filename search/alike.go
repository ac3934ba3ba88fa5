package search

import (
	"slices"
	"strings"
	"unicode"

	"hark/internal/text"
)

// shown remembers what has been said, so that nothing is shown twice.
type shown struct {
	exact map[string]bool
	long  []wordSet
}

// wordSet are the words of a text, sorted, each once.
type wordSet []string

const (
	leastCompared = 12  // of texts that may be near-duplicates: in shorter ones every word counts
	nearly        = 0.9 // share of two texts' words that both have
)

// add takes a text in and reports whether it says something new: more than another in a few words only, or
// another number.
func (s *shown) add(normal string) bool {
	if s.exact[normal] {
		return false
	}
	words := wordsOf(normal)
	if len(words) >= leastCompared {
		if slices.ContainsFunc(s.long, words.nearly) {
			return false
		}
		s.long = append(s.long, words)
	}
	if s.exact == nil {
		s.exact = map[string]bool{}
	}
	s.exact[normal] = true
	return true
}

func wordsOf(s string) wordSet {
	words := strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.Is(unicode.M, r)
	})
	slices.Sort(words)
	return slices.Compact(words)
}

// nearly reports whether two texts differ in few words, none of which turns what they say: a number, a "not".
func (a wordSet) nearly(b wordSet) bool {
	if float64(min(len(a), len(b))) < nearly*float64(max(len(a), len(b))) {
		return false
	}
	same, i, j := 0, 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case j == len(b) || i < len(a) && a[i] < b[j]:
			if turns(a[i]) {
				return false
			}
			i++
		case i == len(a) || b[j] < a[i]:
			if turns(b[j]) {
				return false
			}
			j++
		default:
			same, i, j = same+1, i+1, j+1
		}
	}
	return float64(same) >= nearly*float64(len(a)+len(b)-same)
}

func turns(word string) bool {
	return negating[word] || strings.ContainsFunc(word, unicode.IsNumber)
}

// negating are words that turn what a text says. "Don't" is "don" and "t" here.
var negating = text.SetOf(`no not never none nobody nothing neither nor without t cannot cancelled canceled
	nicht kein keine nie pas jamais aucun nunca jamás ni sin`)
