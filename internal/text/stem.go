package text

import "strings"

// stem takes a word to what its inflections have in common. The language isn't known, and a question and a message
// must come to the same, so that only the word itself decides: Latin letters are English with some endings of other
// languages, Russian letters are Russian, and words of other scripts stay.
func stem(w string) string {
	if len(w) < 3 {
		return w
	}
	if !isASCII(w) {
		return russian(w)
	}
	if base, ok := irregular[w]; ok {
		w = base
	}
	return withoutForeignEnding(porter(w), w)
}

// withoutForeignEnding takes off what Porter leaves of the endings of Italian, Spanish and Portuguese ("gatto, gatti,
// gatta") and of German and Dutch ("Katzen, Katze"), where at least four letters stay.
func withoutForeignEnding(stem, word string) string {
	n := len(stem) - 1
	if n < 4 || wholeStems[stem] || strings.ContainsAny(stem, digits) {
		return stem
	}
	switch stem[n] {
	case 'a', 'o':
		if isConsonant(stem, n-1) {
			return stem[:n]
		}
	case 'i': // not that of "party", which was a y
		if isConsonant(stem, n-1) && strings.HasSuffix(strings.TrimSuffix(word, "s"), "i") {
			return stem[:n]
		}
	case 'n':
		if n >= 5 && stem[n-1] == 'e' && isConsonant(stem, n-2) {
			return stem[:n-1]
		}
	}
	return stem
}

// wholeStems are frequent stems of English whose end is no ending, or without which they would be other words.
var wholeStems = setOf("camera chicken china combo disco garden happen hello kitchen kitten listen pasta pizza tempo")
