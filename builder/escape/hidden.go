package escape

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lineBreak reports whether r ends a line for any reader: models know them all.
func lineBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x1C, 0x1D, 0x1E, 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// SplitLines cuts s at every line break; the lines may be empty.
func SplitLines(s string) []string {
	lines := make([]string, 0, 8)
	for {
		i := strings.IndexFunc(s, lineBreak)
		if i < 0 {
			return append(lines, s)
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		lines = append(lines, s[:i])
		s = s[i+n:]
	}
}

// trimLine removes spaces from a line's end and, without indent, from its beginning.
func trimLine(line string, indent bool) string {
	line = strings.TrimRightFunc(line, unicode.IsSpace)
	if !indent {
		return strings.TrimLeftFunc(line, unicode.IsSpace)
	}
	return line
}

// IsHidden reports whether r can't be seen, or changes how its neighbours are seen.
func IsHidden(r rune) bool {
	switch {
	case r < ' ':
		return r != '\t'
	case r < 0x7F:
		return false
	case r <= 0x9F, r == 0xAD, r == 0x34F, r == 0x61C, r == 0x70F, r == 0x115F, r == 0x1160:
		return true
	case r == 0x17B4, r == 0x17B5, r >= 0x180B && r <= 0x180F:
		return true
	case r >= 0x200B && r <= 0x200F, r >= 0x2028 && r <= 0x202E, r >= 0x2060 && r <= 0x206F:
		return true
	case r == 0x3164, r == 0xFFA0, r == 0xFEFF, r >= 0xFFF0 && r <= 0xFFFB:
		return true
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0x1BCA0 && r <= 0x1BCA3, r >= 0x1D173 && r <= 0x1D17A,
		r >= 0xE0000 && r <= 0xE0FFF:
		return true
	}
	return false
}

// hidden makes a run of invisible characters visible, unless they are needed.
func (l suspicion) hidden(i int, r rune, n int) edit {
	if Needed(l.line, i, r, n) {
		return edit{}
	}
	if r == 0xAD {
		return edit{n, "-", false} // a soft hyphen, as in text copied from the web
	}
	end := i + n
	for end < len(l.line) {
		next, width := utf8.DecodeRuneInString(l.line[end:])
		if !IsHidden(next) || Needed(l.line, end, next, width) {
			break
		}
		end += width
	}
	return edit{end - i, HiddenMark, false}
}

const (
	joiner    = '\u200D'
	nonJoiner = '\u200C'
	blackFlag = '\U0001F3F4'
)

// Needed reports whether the invisible character r, of n bytes at i, belongs there: a joiner between emoji or in
// a script with joiners, a variation of the sign before it, the region of a flag.
func Needed(line string, i int, r rune, n int) bool {
	before, _ := utf8.DecodeLastRuneInString(line[:i])
	after, _ := utf8.DecodeRuneInString(line[i+n:])
	switch {
	case r == joiner && emojiPart(before) && emojiPart(after):
		return true
	case r == joiner || r == nonJoiner:
		return joinedScript(before) && (joinedScript(after) || r == joiner && !IsHidden(after))
	case r == 0xFE0E || r == 0xFE0F:
		return before != utf8.RuneError && (emojiPart(before) && before != 0xFE0F ||
			strings.ContainsRune("0123456789#*©®", before))
	case r >= 0xFE00 && r <= 0xFE0D:
		return unicode.Is(unicode.Han, before) || unicode.Is(unicode.Sm, before)
	case r >= 0xE0100 && r <= 0xE01EF:
		return unicode.Is(unicode.Han, before)
	case r >= 0xE0020 && r <= 0xE007F:
		return flagRegion(line, i)
	case r >= 0x180B && r <= 0x180F:
		return unicode.Is(unicode.Mongolian, before)
	}
	return false
}

// flagRegion reports whether the tag at i is one of the at most six that name a black flag's region.
func flagRegion(line string, i int) bool {
	for range 7 {
		before, n := utf8.DecodeLastRuneInString(line[:i])
		if before == blackFlag {
			return true
		}
		if before < 0xE0020 || before >= 0xE007F {
			return false
		}
		i -= n
	}
	return false
}

// emojiPart reports whether r can stand beside a joiner in an emoji.
func emojiPart(r rune) bool {
	return r >= 0x1F000 && r < 0x1FB00 || r >= 0x2190 && r < 0x2C00 || r == 0xFE0F || r == 0x203C || r == 0x2049 ||
		r == 0x2122 || r == 0x2139 || r == 0x3030 || r == 0x303D || r == 0x3297 || r == 0x3299
}

// joinedScript reports whether r is of a script that is written with joiners.
func joinedScript(r rune) bool {
	return r >= 0x600 && r < 0xE00 || r >= 0xF00 && r < 0x10A0 || r >= 0x1780 && r < 0x18B0 ||
		r >= 0xFB50 && r < 0xFE00 || r >= 0xFE70 && r < 0xFEFF
}

// startsLoose reports whether s begins with a character that joins the one before it.
func startsLoose(s string) bool {
	if s == "" || s[0] < utf8.RuneSelf {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.Is(unicode.M, r) && !IsHidden(r) || r >= 0x1F3FB && r <= 0x1F3FF
}
