package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Cut is the first n characters of s, in code points.
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

// Clip is the first n graphemes of s, or fewer where these are monstrous.
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
