// Package text splits what people write into the terms by which it is indexed and found.
//
// The same text always gives the same terms, and a message can be found by a question only through terms
// that both have. Version grows whenever that changes, so that an index made by an older version is made
// again.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Version of the terms. An index holds terms of one version only.
const Version = 1

// maxTerm bounds a term, in runes: what is longer is cut, so that a hundred thousand letters or combining
// marks are one short term.
const maxTerm = 40

// Terms are the index terms of s in the order of the text, repeated as often as they occur: words in lower
// case without accents, stemmed, stop words left out; single characters and pairs of them for scripts that
// put no spaces between words. Mention tags and time stamps of Discord's give none.
func Terms(s string) []string { return new(Batch).Terms(s) }

// Batch makes terms of many texts, in which words recur: it stems each word once. It keeps the words for as
// long as it lives, which should be no longer than the work at hand. The zero Batch is ready for use, by one
// goroutine at a time.
type Batch struct {
	stems map[string]string
}

// Terms is as the function of the same name.
func (b *Batch) Terms(s string) []string {
	terms := make([]string, 0, len(s)/6+1)
	each(s, func(w word) {
		if w.unspaced {
			terms = appendUnspaced(terms, w.text, true)
		} else if !stopWords[w.text] {
			terms = append(terms, b.stem(w.text))
		}
	})
	return terms
}

func (b *Batch) stem(word string) string {
	if s, ok := b.stems[word]; ok {
		return s
	}
	s := stem(word)
	if b.stems == nil {
		b.stems = map[string]string{}
	}
	b.stems[word] = s
	return s
}

// QueryTerms are the terms to look for s by, each once, in the order of the text: as Terms, but single
// characters of unspaced scripts only where they stand alone, since a pair says more.
func QueryTerms(s string) []string {
	var terms []string
	seen := map[string]bool{}
	add := func(t string) {
		if !seen[t] {
			seen[t] = true
			terms = append(terms, t)
		}
	}
	each(s, func(w word) {
		if w.unspaced {
			for _, t := range appendUnspaced(nil, w.text, utf8.RuneCountInString(w.text) == 1) {
				add(t)
			}
		} else if !stopWords[w.text] {
			add(stem(w.text))
		}
	})
	return terms
}

// Words are the words of s in lower case without accents, stop words included, unstemmed; a run of an
// unspaced script is one word.
func Words(s string) []string {
	var words []string
	each(s, func(w word) { words = append(words, w.text) })
	return words
}

// IsStopWord reports whether a word, as Words gives it, is too common to look for.
func IsStopWord(w string) bool { return stopWords[w] }

// Stem is the term that a word, as Words gives it, is indexed by.
func Stem(w string) string { return stem(w) }

type word struct {
	text     string
	unspaced bool
}

// each calls f for every word of s.
func each(s string, f func(word)) {
	s = fold(withoutTags(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isWordRune(r) || unicode.Is(unicode.M, r) { // a mark without a letter is an emoji's
			i += size
			continue
		}
		start, unspaced := i, IsUnspaced(r)
		i += size
		for i < len(s) {
			r, size = utf8.DecodeRuneInString(s[i:])
			if isApostrophe(r) && !unspaced && i+size < len(s) && isASCIILetter(s[i+size]) {
				i += size
				continue
			}
			if !isWordRune(r) || IsUnspaced(r) != unspaced && !unicode.Is(unicode.M, r) {
				break
			}
			i += size
		}
		if w := s[start:i]; unspaced {
			f(word{w, true})
		} else if w = clip(withoutClitic(w)); w != "" {
			f(word{w, false})
		}
	}
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.M, r)
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' }

func isASCIILetter(c byte) bool { return 'a' <= c && c <= 'z' }

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

// clip cuts a word after maxTerm runes.
func clip(w string) string {
	if len(w) <= maxTerm {
		return w
	}
	n := 0
	for i := range w {
		if n == maxTerm {
			return w[:i]
		}
		n++
	}
	return w
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
			terms = append(terms, clip(run[start:end]))
		}
		if previous >= 0 {
			terms = append(terms, clip(run[previous:end]))
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

// fold takes s to lower case, compatibility forms to plain ones, and accents off Latin, Greek and Cyrillic.
func fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	var base rune
	marks := 0
	// Compatibility forms have no lower case of their own: 𝐁𝐨𝐥𝐝 is plain first, then small.
	for _, r := range strings.ToLower(norm.NFKD.String(s)) {
		switch {
		case isInvisible(r):
			continue
		case r == 'ς':
			r = 'σ'
		}
		if !unicode.Is(unicode.Mn, r) {
			base, marks = r, 0
			b.WriteRune(r)
			continue
		}
		if marks++; marks <= 4 && !unicode.In(base, unicode.Latin, unicode.Greek, unicode.Cyrillic) {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// isInvisible reports whether r changes only how a word or an emoji looks: soft hyphens, variation selectors and
// the frame of keycaps.
func isInvisible(r rune) bool {
	return r == '\u00AD' || '\uFE00' <= r && r <= '\uFE0F' || r == '\u20E3'
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// maxTag bounds a tag, in bytes: the longest, an animated emoji's, has a name of 32 letters and an id of 20.
const maxTag = 64

// withoutTags takes out Discord's markup in angle brackets: <@123>, <@&123>, <#123>, <t:123:R>; of a custom
// emoji, <:name:123>, the name stays.
func withoutTags(s string) string {
	if !strings.Contains(s, "<") {
		return s
	}
	var b strings.Builder
	for {
		open := strings.IndexByte(s, '<')
		if open < 0 {
			break
		}
		near := s[open:min(open+maxTag, len(s))] // so that many brackets aren't read through to the end each
		end := strings.IndexByte(near, '>')
		if end < 0 {
			b.WriteString(s[:open+1])
			s = s[open+1:]
			continue
		}
		if name, ok := tagName(s[open+1 : open+end]); ok {
			b.WriteString(s[:open])
			b.WriteString(" " + name + " ")
			s = s[open+end+1:]
			continue
		}
		b.WriteString(s[:open+1])
		s = s[open+1:]
	}
	b.WriteString(s)
	return b.String()
}

// tagName is what stays of the tag between angle brackets, and whether it is one.
func tagName(tag string) (string, bool) {
	kind := strings.TrimRight(strings.TrimLeft(tag, "@!&#"), "0123456789")
	if kind == "" && strings.ContainsAny(tag, "@#") {
		return "", true
	}
	if strings.HasPrefix(tag, "t:") && len(tag) > 2 && strings.Trim(tag[2:], "-0123456789:tTdDfFR") == "" {
		return "", true
	}
	if parts := strings.Split(tag, ":"); len(parts) == 3 && (parts[0] == "" || parts[0] == "a") &&
		parts[1] != "" && strings.Trim(parts[2], "0123456789") == "" {
		return parts[1], true
	}
	return "", false
}
