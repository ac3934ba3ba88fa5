package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold makes compatibility forms plain, and removes accents from Latin, Greek and Cyrillic, except that "й" is a
// letter of its own. Capitals stay, because they begin the parts of names.
func fold(s string) string {
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	var base rune
	marks := 0
	for _, r := range norm.NFKD.String(s) {
		switch {
		case isInvisible(r):
			continue
		case r == 'ς':
			r = 'σ'
		case r == 'ß' || r == 'ẞ': // as Swiss and capitals write it
			b.WriteByte('s')
			r = 's'
		}
		if !unicode.Is(unicode.Mn, r) {
			base = r
			marks = 0
			b.WriteRune(r)
			continue
		}
		shortI := r == '\u0306' && marks == 0 && (base == 'и' || base == 'И')
		marks++
		if shortI || marks <= 4 && !unicode.In(base, unicode.Latin, unicode.Greek, unicode.Cyrillic) {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// isInvisible reports whether r changes only the look of a word or an emoji: a soft hyphen, a variation selector
// or the frame of a keycap.
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
