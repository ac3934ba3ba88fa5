// Package text splits what people write into index terms.
//
// The same text always gives the same terms, and a question finds a message by words only if they share terms.
// Version grows whenever the terms change: an index made by an older version is then rebuilt.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/rivo/uniseg"
)

// Version of the terms. An index holds terms of one version only.
const Version = 3

// maxTerm bounds a term, in runes: what is longer is cut, so that a hundred thousand letters or combining
// marks are one short term.
const maxTerm = 40

// Terms returns the index terms of s in the order of the text, repeated as often as they occur: words in
// lower case without accents, stemmed, stop words left out; single characters and pairs of them for scripts
// that put no spaces between words; identifiers whole and in parts; links by what they name; emoji as they
// are and by name. Mention tags and time stamps of Discord's give none.
func Terms(s string) []string { return new(Batch).Terms(s) }

// Batch makes terms of many texts, in which words recur: it stems each word once. It keeps the words for as
// long as it lives, which should be no longer than the work at hand. The zero Batch is ready for use, by one
// goroutine at a time.
type Batch struct {
	stems map[string]string
	env   snowballstem.Env
	near  *beginnings // of the words that are stemmed; nil: all are
}

// beginnings are the first two bytes of some words, a bit for each pair that there can be.
type beginnings [256][4]uint64

func (b *beginnings) add(word string) { b[word[0]][word[1]>>6] |= 1 << (word[1] & 63) }

func (b *beginnings) has(word string) bool { return b[word[0]][word[1]>>6]>>(word[1]&63)&1 != 0 }

// Unlike stands in the place of a word that a Batch of NearTo doesn't stem.
const Unlike = "\x00"

// NearTo returns a Batch for comparing texts with terms. Its Terms has a placeholder for each word whose
// stem can't begin as one of them: stemming is most of the work.
func NearTo(terms []string) *Batch {
	b := &Batch{near: &beginnings{}}
	for _, t := range terms {
		if len(t) > 1 {
			b.near.add(t)
		}
	}
	for form, base := range irregular {
		if b.near.has(base) {
			b.near.add(form)
		}
	}
	return b
}

// Terms is as the function of the same name.
func (b *Batch) Terms(s string) []string { return b.AppendTerms(make([]string, 0, len(s)/6+1), s) }

// AppendTerms appends the terms of s to terms.
func (b *Batch) AppendTerms(terms []string, s string) []string {
	eachTerm(s, false, func(w word) {
		if w.unspaced {
			terms = appendUnspaced(terms, w.text, true)
		} else if !IsStopWord(w.text) {
			terms = append(terms, b.stem(w.text))
		}
	})
	return terms
}

// beginsAnew reports whether the stem of a word that isn't irregular may differ from it in the first two
// bytes: of what has nothing but a vowel, or a vowel and y, before its ending, such as -ed, -ies or -ing.
func beginsAnew(word string) bool {
	return (word[1] == 'y' || len(word) < 6 && (word[1] == 'e' || word[1] == 'i')) && !isConsonant(word[0])
}

func (b *Batch) stem(word string) string {
	if b.near != nil && len(word) > 2 && !b.near.has(word) && !beginsAnew(word) {
		return Unlike
	}
	if s, ok := b.stems[word]; ok {
		return s
	}
	s := stemWith(&b.env, word)
	if b.stems == nil {
		b.stems = map[string]string{}
	}
	b.stems[word] = s
	return s
}

// QueryTerms returns the terms to look for s by, each once, in the order of the text: as Terms, but single
// characters of unspaced scripts only where they stand alone, since a pair says more, and words with dashes
// by their parts.
func QueryTerms(s string) []string {
	var terms []string
	seen := map[string]bool{}
	add := func(t string) {
		if !seen[t] {
			seen[t] = true
			terms = append(terms, t)
		}
	}
	eachTerm(s, true, func(w word) {
		if w.unspaced {
			for _, t := range appendUnspaced(nil, w.text, utf8.RuneCountInString(w.text) == 1) {
				add(t)
			}
		} else if !IsStopWord(w.text) {
			add(stem(w.text))
		}
	})
	return terms
}

// Words returns the words of s in lower case without accents, stop words included, unstemmed; a run of an
// unspaced script is one word. Identifiers and links are the words that they are written with.
func Words(s string) []string {
	var words []string
	s = fold(withoutTags(s))
	for at := 0; ; {
		var t token
		if t, at = next(s, at); t.text == "" {
			return words
		}
		if w := t.word(); w != "" {
			words = append(words, w)
		}
	}
}

// IsStopWord reports whether a word, as Words gives it, is too common to look for.
func IsStopWord(w string) bool { return (len(w) < 2 || stopWordsBegin.has(w)) && stopWords[w] }

// stopWordsBegin spares most words the way to stopWords.
var stopWordsBegin = func() (of beginnings) {
	for w := range stopWords {
		if len(w) > 1 {
			of.add(w)
		}
	}
	return of
}()

// Stem returns the term that a word, as Words gives it, is indexed by.
func Stem(w string) string { return stem(w) }

// Cut returns the first n characters of s, in code points.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// runesEach is how many code points a grapheme may take on average: a family emoji has seven.
const runesEach = 4

// Clip returns the first n graphemes of s, or fewer where these are monstrous.
func Clip(s string, n int) string {
	rest, state, room := s, -1, n*runesEach
	for range n {
		if rest == "" {
			return s
		}
		var cluster string
		before := rest
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if room -= utf8.RuneCountInString(cluster); room < 0 {
			rest = before
			break
		}
	}
	if rest == "" {
		return s
	}
	return strings.TrimRightFunc(s[:len(s)-len(rest)], unicode.IsSpace) + "…"
}
