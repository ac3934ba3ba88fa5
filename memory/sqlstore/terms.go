package sqlstore

import (
	"hark/internal/text"
	"hark/memory"
)

// indexTerms returns a message's full-text entry.
func indexTerms(batch *text.Batch, m memory.Message) string {
	if !m.Kind.Recalled() {
		return ""
	}
	return Hashes(batch.Terms(m.Text()))
}

// Hashes returns the hashes of terms, separated by spaces.
func Hashes(terms []string) string {
	var b []byte
	for i, term := range terms {
		if i > 0 {
			b = append(b, ' ')
		}
		b = appendHash(b, term)
	}
	return string(b)
}

// appendHash appends 40 bits of a term's FNV-1a hash in letters and digits, which are always one token.
func appendHash(b []byte, term string) []byte {
	sum := uint64(14695981039346656037)
	for i := range len(term) {
		sum = (sum ^ uint64(term[i])) * 1099511628211
	}
	return appendLetters(b, sum^sum>>32)
}

const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

// appendLetters appends the lowest 40 bits of a hash.
func appendLetters(b []byte, sum uint64) []byte {
	for shift := 35; shift >= 0; shift -= 5 {
		b = append(b, alphabet[sum>>shift&31])
	}
	return b
}

// hashOf returns the bits of which appendLetters made letters.
func hashOf(letters string) (n uint64) {
	for _, c := range []byte(letters) {
		if c >= 'a' {
			n = n<<5 | uint64(c-'a')
		} else {
			n = n<<5 | uint64(c-'2'+26)
		}
	}
	return n
}
