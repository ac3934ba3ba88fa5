package text

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/runenames"
)

// emojiIn calls f for the emoji in s, which holds no words, and for the words of their names. One that is
// repeated at once says nothing more. Of a sequence, such as a family, each member is told by itself; skin
// tones aren't told.
func emojiIn(s string, f func(word)) {
	if isASCII(s) {
		return
	}
	last := ""
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		name := ""
		if isRegional(r) {
			second, more := utf8.DecodeRuneInString(s[i+size:])
			if name = flags[regionOf(r, second)]; name != "" {
				size += more
				name = "flag " + name
			}
		} else if isEmoji(r) {
			name = strings.ToLower(runenames.Name(r))
		}
		emoji := s[i : i+size]
		if i += size; name == "" || emoji == last {
			continue
		}
		last = emoji
		f(word{emoji, false})
		for _, w := range strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '-' }) {
			if !looks[w] {
				f(word{w, false})
			}
		}
	}
}

// looks are words of emoji's names in Unicode that tell how one looks or is classed; few would look for it by them.
var looks = SetOf("sign symbol face black white heavy medium")

// isEmoji reports whether r is a picture by itself: not a letter in a frame, a skin tone, a line of a box or an arrow.
func isEmoji(r rune) bool {
	switch {
	case r < 0x231A:
		return false
	case r < 0x1F000:
		return r <= 0x231B || 0x23E9 <= r && r <= 0x23FA || 0x2600 <= r && r <= 0x27BF || r == 0x2B50 || r == 0x2B55
	case r < 0x1F300:
		return r == 0x1F004 || r == 0x1F0CF
	}
	return r <= 0x1FAFF && !(0x1F3FB <= r && r <= 0x1F3FF) && !(0x1F700 <= r && r <= 0x1F7DF) &&
		!(0x1F800 <= r && r <= 0x1F8FF)
}

func isRegional(r rune) bool { return '🇦' <= r && r <= '🇿' }

// regionOf is the region that two regional indicators name, such as "de"; empty if they name none.
func regionOf(first, second rune) string {
	if !isRegional(second) {
		return ""
	}
	return string([]rune{'a' + first - '🇦', 'a' + second - '🇦'})
}
