package text

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/porter"
	"github.com/blevesearch/snowballstem/russian"
)

// stem takes a word to what its inflections have in common. The language isn't known, and a question and a message
// must come to the same, so that only the word itself decides: Latin letters are English with some endings of other
// languages, Russian letters are Russian, and words of other scripts stay.
func stem(w string) string { return stemWith(new(snowballstem.Env), w) }

// stemWith is stem in an environment that may have been used before.
func stemWith(env *snowballstem.Env, w string) string {
	if len(w) < 3 {
		return w
	}
	if !isASCII(w) {
		if strings.ContainsFunc(w, func(r rune) bool { return r < 'а' || r > 'я' }) {
			return w
		}
		return snowball(env, w, russian.Stem)
	}
	if base, ok := irregular[w]; ok {
		w = base
	}
	return withoutForeignEnding(english(env, w), w)
}

// snowball is what a stemmer leaves of w.
func snowball(env *snowballstem.Env, w string, stemmer func(*snowballstem.Env) bool) string {
	env.SetCurrent(w)
	stemmer(env)
	return env.Current()
}

// english is Porter's first stemmer, except that a "y" becomes "i" after consonants only: "try" meets
// "tries", and "pay" stays.
func english(env *snowballstem.Env, w string) string {
	s := snowball(env, w, porter.Stem)
	n := len(s) - 1
	switch {
	case n < 2 || w[n] != 'y' || s[n] != 'y' && s[n] != 'i':
		return s
	case isConsonant(w[n-1]):
		return s[:n] + "i"
	}
	return s[:n] + "y"
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
		if isConsonant(stem[n-1]) {
			return stem[:n]
		}
	case 'i': // not that of "party", which was a y
		if isConsonant(stem[n-1]) && strings.HasSuffix(strings.TrimSuffix(word, "s"), "i") {
			return stem[:n]
		}
	case 'n':
		if n >= 5 && stem[n-1] == 'e' && isConsonant(stem[n-2]) {
			return stem[:n-1]
		}
	}
	return stem
}

// wholeStems are frequent stems of English whose end is no ending, or without which they would be other words.
var wholeStems = SetOf("camera chicken china combo disco garden happen hello kitchen kitten listen pasta pizza tempo")

func isConsonant(c byte) bool { return strings.IndexByte("aeiou", c) < 0 }
