package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a run of letters and digits as it was written, but for accents.
type token struct {
	text       string
	start, end int  // where it stands
	unspaced   bool // it is of a script without spaces between words
	humps      bool // capitals come after its beginning
}

// Classes of bytes, so that the plain text of chat is read without asking Unicode about every letter.
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

// next is the first token of s, which is folded, at or after i, and where it ends; an empty one at the end.
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

// tokenAt is the token that begins at start.
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
		r, size := utf8.DecodeRuneInString(s[i:])
		if isApostrophe(r) && !t.unspaced && i+size < len(s) && isASCIILetter(s[i+size]) {
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

// word is the token as a word: in lower case, without clitics, not too long; empty if that leaves nothing.
func (t token) word() string {
	if t.unspaced {
		return t.text
	}
	return Cut(withoutClitic(strings.ToLower(t.text)), maxTerm)
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.M, r)
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' }

func isASCIILetter(c byte) bool { return classes[c] == small || classes[c] == capital }

// IsUnspaced reports whether r belongs to a script that is written without spaces between words, or, as
// Hangul, with endings that hide the word.
func IsUnspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー'
}

// withoutClitic takes "caroline's" to "caroline" and "didn't" to "did".
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

// negations are verbs before "'t", as in "can't", by what is left of them there.
var negations = map[string]string{
	"isn": "is", "aren": "are", "wasn": "was", "weren": "were", "don": "do", "doesn": "does", "didn": "did",
	"can": "can", "couldn": "could", "won": "will", "wouldn": "would", "shouldn": "should", "haven": "have",
	"hasn": "has", "hadn": "had", "mustn": "must", "needn": "need",
}

// appendUnspaced appends the pairs of neighbouring characters of run, and each single one too if singles.
// Marks belong to the character before them.
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
