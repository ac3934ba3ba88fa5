package text

import "strings"

// porter takes the endings off an English word in lower-case ASCII, after M. F. Porter, "An algorithm for suffix
// stripping", Program 14 (1980), with the author's own later departures (https://tartarus.org/martin/PorterStemmer/).
// It is ours because every word that is logged, embedded or searched passes through it.
func porter(word string) string {
	if len(word) <= 2 {
		return word
	}
	w := strings.TrimSuffix(word, "s")
	switch {
	case strings.HasSuffix(word, "sses"), strings.HasSuffix(word, "ies"):
		w = word[:len(word)-2]
	case strings.HasSuffix(word, "ss"):
		w = word
	}
	w = withoutPastOrGerund(w)
	if n := len(w) - 1; n > 1 && w[n] == 'y' && isConsonant(w, n-1) { // as his second algorithm has it: "buy" stays
		w = w[:n] + "i"
	}
	w = replaceEnding(w, step2, 0)
	w = replaceEnding(w, step3, 0)
	w = withoutLongEnding(w)
	if n := len(w) - 1; n > 0 && w[n] == 'e' {
		if m := measure(w[:n]); m > 1 || m == 1 && !endsShort(w[:n]) {
			w = w[:n]
		}
	}
	if n := len(w) - 1; n > 0 && w[n] == 'l' && w[n-1] == 'l' && measure(w[:n]) > 1 {
		w = w[:n]
	}
	return w
}

// ending is an ending and what takes its place.
type ending struct{ old, new string }

// The endings of steps 2 and 3. Of those that fit, the longest counts, and stands before the shorter.
var (
	step2 = []ending{
		{"ational", "ate"}, {"ization", "ize"}, {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"},
		{"tional", "tion"}, {"biliti", "ble"}, {"entli", "ent"}, {"ousli", "ous"}, {"ation", "ate"}, {"alism", "al"},
		{"aliti", "al"}, {"iviti", "ive"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"}, {"alli", "al"},
		{"ator", "ate"}, {"logi", "log"}, {"bli", "ble"}, {"eli", "e"},
	}
	step3 = []ending{
		{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ness", ""}, {"ful", ""},
	}
	step4 = []ending{
		{"ement", ""}, {"ance", ""}, {"ence", ""}, {"able", ""}, {"ible", ""}, {"ment", ""}, {"ant", ""}, {"ent", ""},
		{"ism", ""}, {"ate", ""}, {"iti", ""}, {"ous", ""}, {"ive", ""}, {"ize", ""}, {"ion", ""}, {"al", ""},
		{"er", ""}, {"ic", ""}, {"ou", ""},
	}
)

// replaceEnding replaces the ending that w has, if more than least measures stand before it.
func replaceEnding(w string, endings []ending, least int) string {
	for _, e := range endings {
		if stem, ok := strings.CutSuffix(w, e.old); ok {
			if measure(stem) > least {
				return stem + e.new
			}
			return w
		}
	}
	return w
}

func withoutLongEnding(w string) string {
	if stem, ok := strings.CutSuffix(w, "ion"); ok && !strings.HasSuffix(stem, "s") && !strings.HasSuffix(stem, "t") {
		return w
	}
	return replaceEnding(w, step4, 1)
}

// withoutPastOrGerund takes off "eed", "ed" and "ing", and mends what is left.
func withoutPastOrGerund(w string) string {
	if stem, ok := strings.CutSuffix(w, "eed"); ok {
		if measure(stem) > 0 {
			return stem + "ee"
		}
		return w
	}
	stem, ok := strings.CutSuffix(w, "ed")
	if !ok {
		stem, ok = strings.CutSuffix(w, "ing")
	}
	if !ok || !hasVowel(stem) {
		return w
	}
	n := len(stem)
	switch {
	case strings.HasSuffix(stem, "at"), strings.HasSuffix(stem, "bl"), strings.HasSuffix(stem, "iz"):
		return stem + "e"
	case n > 1 && stem[n-1] == stem[n-2] && isConsonant(stem, n-1):
		if c := stem[n-1]; c == 'l' || c == 's' || c == 'z' {
			return stem
		}
		return stem[:n-1]
	case measure(stem) == 1 && endsShort(stem):
		return stem + "e"
	}
	return stem
}

func isConsonant(w string, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !isConsonant(w, i-1)
	}
	return true
}

func hasVowel(w string) bool {
	for i := range len(w) {
		if !isConsonant(w, i) {
			return true
		}
	}
	return false
}

// measure counts the changes from vowels to consonants in w.
func measure(w string) (m int) {
	before := true
	for i := range len(w) {
		consonant := w[i] != 'a' && w[i] != 'e' && w[i] != 'i' && w[i] != 'o' && w[i] != 'u' &&
			(w[i] != 'y' || i == 0 || !before)
		if consonant && !before {
			m++
		}
		before = consonant
	}
	return m
}

// endsShort reports whether w ends in consonant, vowel, consonant, the last not w, x or y.
func endsShort(w string) bool {
	n := len(w)
	return n > 2 && isConsonant(w, n-1) && !isConsonant(w, n-2) && isConsonant(w, n-3) &&
		w[n-1] != 'w' && w[n-1] != 'x' && w[n-1] != 'y'
}
