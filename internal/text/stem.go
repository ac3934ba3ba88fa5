package text

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/porter"
	"github.com/blevesearch/snowballstem/russian"
)

// Stem returns the index term of a word, as Words returns it: what its inflections have in common. The language is unknown, so only the word decides: Latin
// letters are English with some endings of other languages, Russian letters are Russian, and words of other
// scripts stay.
func Stem(w string) string { return stemWith(new(snowballstem.Env), w) }

// stemWith is Stem with a reusable environment.
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

// snowball returns w as stemmed by stemmer.
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

// withoutForeignEnding removes endings of Italian, Spanish and Portuguese ("gatto, gatti, gatta") and of German
// and Dutch ("Katzen, Katze") that Porter leaves, if at least four letters stay.
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

// wholeStems are frequent English stems that only seem to have such an ending.
var wholeStems = SetOf("camera chicken china combo disco garden happen hello kitchen kitten listen pasta pizza tempo")

func isConsonant(c byte) bool { return strings.IndexByte("aeiou", c) < 0 }

// irregular maps irregular forms of verbs and nouns to their base form.
var irregular = formsOf(`
arise arose arisen; awake awoke awoken; beat beaten; become became; begin began begun; bend bent; bet;
bind bound; bite bit bitten; bleed bled; blow blew blown; break broke broken; breed bred; bring brought;
build built; burn burnt; buy bought; catch caught; child children; choose chose chosen; come came;
creep crept; deal dealt; dig dug; draw drew drawn; dream dreamt; drink drank drunk; drive drove driven;
eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought; find found; flee fled; fly flew flown;
foot feet; forbid forbade forbidden; forget forgot forgotten; forgive forgave forgiven; freeze froze frozen;
get got gotten; give gave given; go went gone goes; grow grew grown; hang hung; hear heard; hide hid hidden;
hold held; keep kept; kneel knelt; know knew known; lay laid; lead led; lean leant; leap leapt;
learn learnt; leave left; lend lent; life lives; light lit; lose lost; make made; man men; mean meant;
meet met; mouse mice; pay paid; person people; ride rode ridden; ring rang rung; rise rose risen;
run ran; say said; see saw seen; seek sought; sell sold; send sent; shake shook shaken; shine shone;
shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept;
slide slid; smell smelt; speak spoke spoken; spend spent; spin spun; stand stood; steal stole stolen;
stick stuck; sting stung; strike struck; swear swore sworn; sweep swept; swim swam swum; swing swung;
take took taken; teach taught; tear tore torn; tell told; think thought; throw threw thrown; tooth teeth;
understand understood; wake woke woken; wear wore worn; weave wove woven; weep wept; wife wives;
win won; woman women; write wrote written
`)
