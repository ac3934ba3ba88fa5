package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/porter"
	"github.com/blevesearch/snowballstem/russian"
)

// token is a run of letters and digits as written, without accents.
type token struct {
	text       string
	start, end int  // its place in the text
	unspaced   bool // of a script without spaces between words
	humps      bool // has capitals after its beginning
	apostrophe bool // has one
}

// Classes of bytes, so that plain text needs no Unicode tables.
const (
	other = iota
	small
	capital
	digit
	wide // part of a rune that isn't ASCII
)

var classes = func() (of [256]uint8) {
	for c := range of {
		switch {
		case 'a' <= c && c <= 'z':
			of[c] = small
		case 'A' <= c && c <= 'Z':
			of[c] = capital
		case '0' <= c && c <= '9':
			of[c] = digit
		case c >= utf8.RuneSelf:
			of[c] = wide
		}
	}
	return of
}()

// next returns the first token of s, which is folded, at or after i, and where it ends; an empty one if there is
// none.
func next(s string, i int) (token, int) {
	for i < len(s) {
		if classes[s[i]] != wide {
			if classes[s[i]] != other {
				return tokenAt(s, i)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if isWordRune(r) && !unicode.Is(unicode.M, r) { // a mark without a letter is an emoji's
			return tokenAt(s, i)
		}
		i += size
	}
	return token{}, len(s)
}

// tokenAt returns the token that begins at start.
func tokenAt(s string, start int) (token, int) {
	r, i := utf8.DecodeRuneInString(s[start:])
	t := token{start: start, unspaced: IsUnspaced(r)}
	for i += start; i < len(s); {
		class := classes[s[i]]
		if class != wide && class != other && !t.unspaced {
			t.humps = t.humps || class == capital
			i++
			continue
		}
		if class == other && s[i] != '\'' {
			break
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if isApostrophe(r) && !t.unspaced && i+size < len(s) && isASCIILetter(s[i+size]) {
			t.apostrophe = true
			i += size + 1
			continue
		}
		if !isWordRune(r) || IsUnspaced(r) != t.unspaced && !unicode.Is(unicode.M, r) {
			break
		}
		t.humps = t.humps || unicode.IsUpper(r)
		i += size
	}
	t.text, t.end = s[start:i], i
	return t, i
}

// word returns the token as a word: in lower case, without clitics, cut to maxTerm. It may be empty.
func (t token) word() string {
	if t.unspaced {
		return t.text
	}
	w := strings.ToLower(t.text)
	if t.apostrophe {
		w = withoutClitic(w)
	}
	return Cut(w, maxTerm)
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.M, r)
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' }

func isASCIILetter(c byte) bool { return classes[c] == small || classes[c] == capital }

// IsUnspaced reports whether r belongs to a script without spaces between words, or, like Hangul, with endings
// that hide the word.
func IsUnspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー'
}

// withoutClitic returns "caroline" for "caroline's" and "did" for "didn't".
func withoutClitic(w string) string {
	i := strings.LastIndexFunc(w, isApostrophe)
	if i < 0 {
		return w
	}
	_, size := utf8.DecodeRuneInString(w[i:])
	head, tail := w[:i], w[i+size:]
	switch tail {
	case "s", "re", "ve", "ll", "d", "m":
		return withoutClitic(head)
	case "t":
		if negated, ok := negations[head]; ok {
			return negated
		}
	}
	return strings.Map(func(r rune) rune {
		if isApostrophe(r) {
			return -1
		}
		return r
	}, w)
}

// negations are verbs by their form before "'t".
var negations = map[string]string{
	"isn": "is", "aren": "are", "wasn": "was", "weren": "were", "don": "do", "doesn": "does", "didn": "did",
	"can": "can", "couldn": "could", "won": "will", "wouldn": "would", "shouldn": "should", "haven": "have",
	"hasn": "has", "hadn": "had", "mustn": "must", "needn": "need",
}

// appendUnspaced appends the pairs of neighbouring characters of run, and with singles each character too. Marks
// belong to the character before them.
func appendUnspaced(terms []string, run string, singles bool) []string {
	previous, start := -1, -1
	emit := func(end int) {
		if start < 0 {
			return
		}
		if singles {
			terms = append(terms, Cut(run[start:end], maxTerm))
		}
		if previous >= 0 {
			terms = append(terms, Cut(run[previous:end], maxTerm))
		}
		previous, start = start, -1
	}
	for i, r := range run {
		if start >= 0 && unicode.Is(unicode.M, r) {
			continue
		}
		emit(i)
		start = i
	}
	emit(len(run))
	return terms
}

// stem returns what a word's inflections have in common. The language is unknown, so only the word decides: Latin
// letters are English with some endings of other languages, Russian letters are Russian, and words of other
// scripts stay.
func stem(w string) string { return stemWith(new(snowballstem.Env), w) }

// stemWith is stem with a reusable environment.
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

// stopWords are left out of the index and of questions: they are in every text, or in every link. Those of other
// languages are found to be common by counting, because many are content words of another ("die", "war", "fast").
var stopWords = SetOf(`
www com
a about above after again against all also am an and any are as at be because been before being below
between both but by can could did do does doing down during each few for from further had has have having
he her here hers herself him himself his how i if in into is it its itself just me more most my myself no nor
not now of off on once only or other our ours ourselves out over own same she should so some such than that
the their theirs them themselves then there these they this those through to too under until up very was we
were what when where which while who whom why will with would you your yours yourself yourselves
`)

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

// SetOf returns the set of words in a list.
func SetOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// formsOf reads "base form form; base form; …".
func formsOf(table string) map[string]string {
	forms := map[string]string{}
	for _, row := range strings.Split(table, ";") {
		words := strings.Fields(row)
		for _, form := range words[1:] {
			forms[form] = words[0]
		}
	}
	return forms
}
