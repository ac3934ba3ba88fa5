package builder

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"hark/internal/text"
)

const (
	ellipsis   = "…"
	middleMark = " [… cut here …] "
	shortMark  = " […] " // if there is no room for that
)

// cutAt returns the bytes of the longest prefix of s with at most limit characters that ends between
// graphemes, without trailing space; len(s) if s fits.
func cutAt(s string, limit int) int {
	if len(s) <= limit {
		return len(s)
	}
	end := runeOffset(s, limit)
	if end == len(s) {
		return end
	}
	return len(strings.TrimRight(s[:graphemeBefore(s, end)], " \t\r\n"))
}

// runeOffset returns the byte offset of the n-th character of s; len(s) if there are no more than n.
func runeOffset(s string, n int) int { return len(text.Cut(s, n)) }

// graphemeBefore returns the last grapheme boundary of s up to end. It walks the graphemes from the nearest
// pair of printable ASCII characters, which always have a boundary between them.
func graphemeBefore(s string, end int) int {
	start := end
	for start > 0 && !(plainASCII(s[start-1]) && start < len(s) && plainASCII(s[start])) {
		start--
	}
	for start < end {
		_, rest, _, _ := uniseg.FirstGraphemeClusterInString(s[start:], -1)
		next := len(s) - len(rest)
		if next > end {
			break
		}
		start = next
	}
	return start
}

// graphemeAfter returns the first grapheme boundary of s from start on.
func graphemeAfter(s string, start int) int {
	at := graphemeBefore(s, start)
	for at < start {
		_, rest, _, _ := uniseg.FirstGraphemeClusterInString(s[at:], -1)
		at = len(s) - len(rest)
	}
	return at
}

func plainASCII(c byte) bool { return c >= ' ' && c < 0x7F }

// shortened returns s with at most limit characters, the mark of the cut included.
func shortened(s string, limit int) string {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	return s[:cutAt(s, limit-1)] + ellipsis
}

// withoutMiddle returns about keep characters of s, from both ends around mark.
func withoutMiddle(s string, keep int, mark string) string {
	runes := utf8.RuneCountInString(s)
	if runes <= keep {
		return s
	}
	head := s[:graphemeBefore(s, runeOffset(s, (keep+1)/2))]
	tail := s[graphemeAfter(s, runeOffset(s, runes-keep/2)):]
	if first, rest, _, _ := uniseg.FirstGraphemeClusterInString(tail, -1); first == " " {
		tail = rest
	}
	return strings.TrimRight(head, " \t\r\n") + mark + tail
}
