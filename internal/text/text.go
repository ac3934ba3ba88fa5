// Package text splits messages and questions into index terms.
//
// The same text always gives the same terms, and a question finds a message by words only if they share terms.
// Version grows whenever the terms change; an index of an older version must be rebuilt. Begin with Terms and
// QueryTerms.
package text

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/rivo/uniseg"
)

// Version of the terms. An index holds terms of one version only.
const Version = 3

// maxTerm bounds a term, in runes. Longer ones are cut.
const maxTerm = 40

// Terms returns the index terms of s in order, with repeats: words in lower case without accents, stemmed, without
// stop words; single characters and pairs for scripts without spaces; identifiers whole and in parts; links by
// what they name; emoji themselves and by name. Discord's mention tags and time stamps have none.
func Terms(s string) []string { return new(Batch).Terms(s) }

// Batch makes terms of many texts and stems each word once. It keeps all words, so it should be short-lived. The
// zero Batch is ready for use by one goroutine.
type Batch struct {
	stems map[string]string
	env   snowballstem.Env
	near  *beginnings // of the words to stem; nil: all
}

// beginnings is a set of the first two bytes of words, one bit for each pair.
type beginnings [256][4]uint64

func (b *beginnings) add(word string) { b[word[0]][word[1]>>6] |= 1 << (word[1] & 63) }

func (b *beginnings) has(word string) bool { return b[word[0]][word[1]>>6]>>(word[1]&63)&1 != 0 }

// Unlike replaces a word that a Batch of NearTo doesn't stem.
const Unlike = "\x00"

// NearTo returns a Batch for comparing texts with terms. It returns Unlike for each word whose stem can't begin
// like one of them, because stemming is most of the work.
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

// Terms is like the function Terms.
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

// beginsAnew reports whether the stem of a regular word may differ from it in the first two bytes: if only a
// vowel, or a vowel and y, precedes its ending, such as -ed, -ies or -ing.
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

// QueryTerms returns the terms to search for s, each once, in order. It differs from Terms in that single
// characters of unspaced scripts count only if they are alone, and words with dashes only by their parts.
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
			add(Stem(w.text))
		}
	})
	return terms
}

// Words returns the words of s in lower case without accents, unstemmed, stop words included. A run of an
// unspaced script is one word. Identifiers and links are split into their words.
func Words(s string) []string {
	var words []string
	s = fold(withoutTags(s))
	for at := 0; ; {
		var t token
		t, at = next(s, at)
		if t.text == "" {
			return words
		}
		if w := t.word(); w != "" {
			words = append(words, w)
		}
	}
}

// IsStopWord reports whether a word, as Words returns it, is too common to search for.
func IsStopWord(w string) bool { return (len(w) < 2 || stopWordsBegin.has(w)) && stopWords[w] }

// stopWordsBegin rules out most words quickly.
var stopWordsBegin = func() (of beginnings) {
	for w := range stopWords {
		if len(w) > 1 {
			of.add(w)
		}
	}
	return of
}()

// Cut returns the first n code points of s.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		n--
		if n < 0 {
			return s[:i]
		}
	}
	return s
}

// runesEach is how many code points a grapheme may take on average: a family emoji has seven.
const runesEach = 4

// Clip returns the first n graphemes of s, or fewer if they have very many code points, with … if it cuts.
func Clip(s string, n int) string {
	rest := s
	state := -1
	room := n * runesEach
	for range n {
		if rest == "" {
			return s
		}
		var cluster string
		before := rest
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		room -= utf8.RuneCountInString(cluster)
		if room < 0 {
			rest = before
			break
		}
	}
	if rest == "" {
		return s
	}
	return strings.TrimRightFunc(s[:len(s)-len(rest)], unicode.IsSpace) + "…"
}

// relative matches times that depend on when they are said, such as names of weekdays.
var relative = regexp.MustCompile(`(?i)\b(?:today|tonight|tomorrow|yesterday|` +
	`(?:mon|tues|wednes|thurs|fri|satur|sun)day|` +
	`(?:last|this|next|past|coming) (?:\w+ )?(?:morning|afternoon|evening|night|day|week|weekend|month|year|` +
	`spring|summer|autumn|fall|winter|january|february|march|april|may|june|july|august|september|october|` +
	`november|december)|` +
	`(?:minute|hour|day|week|month|year)s? ago|` +
	`in (?:an?|one|two|three|four|five|six|a few|\d+) (?:minute|hour|day|week|month|year)s?|` +
	`heute|gestern|morgen|vorgestern|` +
	`(?:letzte|vorige|diese|nächste|kommende)[nmrs]? (?:woche|monat|jahr|wochenende|nacht)|` +
	`(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|` +
	`hier|aujourd'hui|demain|(?:semaine|mois|année|an) (?:dernière?|prochaine?)|` +
	`hoy|ayer|mañana|(?:semana|mes|año) (?:pasad[oa]|próxim[oa]|que viene))\b` +
	`|今天|昨天|明天|前天|后天|後天|上周|上週|下周|下週|去年|明年|上个月|上個月|下个月|下個月|今日|昨日|明日|先週|来週|先月|来月|来年`)

// SpeaksOfNow reports whether s names a time relative to when it was said: "last year", "today at 5".
func SpeaksOfNow(s string) bool { return relative.MatchString(s) }
