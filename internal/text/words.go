package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
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
	t.text = s[start:i]
	t.end = i
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
	head := w[:i]
	tail := w[i+size:]
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
	previous := -1
	start := -1
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
		previous = start
		start = -1
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
