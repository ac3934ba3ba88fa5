package builder

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"

	"hark/internal/text"
)

const (
	ellipsis   = "…"
	middleMark = " [… cut here …] "
	shortMark  = " […] " // where there is no room for that
)

// cutAt is the length in bytes of the longest beginning of s that has at most limit characters, ends between
// two graphemes, and leaves out the space it would end in. It is len(s) if s has no more than limit.
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

// runeOffset is where the n-th character of s begins; len(s) if it has no more than n.
func runeOffset(s string, n int) int { return len(text.Cut(s, n)) }

// graphemeBefore is the last boundary between graphemes of s that is not after end. Between two printable
// ASCII characters there always is one; elsewhere the graphemes are walked from such a place on.
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

// graphemeAfter is the first boundary between graphemes of s that is not before start.
func graphemeAfter(s string, start int) int {
	at := graphemeBefore(s, start)
	for at < start {
		_, rest, _, _ := uniseg.FirstGraphemeClusterInString(s[at:], -1)
		at = len(s) - len(rest)
	}
	return at
}

func plainASCII(c byte) bool { return c >= ' ' && c < 0x7F }

// shortened is s with at most limit characters, the mark of the cut included.
func shortened(s string, limit int) string {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	return s[:cutAt(s, limit-1)] + ellipsis
}

// withoutMiddle is s with about keep of its characters, from both ends, round mark.
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

// foldSpan is how many bytes of a text are looked at for a title, and shortSpan how many at first.
const (
	foldSpan  = 96
	shortSpan = 24
)

// fold is s as its letters and digits look to somebody who reads fast: small ASCII letters, one space for
// whatever stands between them. Full-width and mathematical letters, accents, and the Cyrillic and Greek
// letters that look like Latin ones don't count as others.
func fold(s string) []byte {
	folded := make([]byte, 0, foldSpan)
	space := false
	for _, r := range norm.NFKD.String(s) {
		if r >= utf8.RuneSelf {
			if unicode.Is(unicode.M, r) || isHidden(r) {
				continue
			}
			r = unicode.ToLower(r)
			if like, ok := lookalikes[r]; ok {
				r = like
			}
		}
		switch {
		case r >= 'A' && r <= 'Z':
			r += 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
		case r >= utf8.RuneSelf && unicode.IsLetter(r):
		default:
			space = true
			continue
		}
		if space && len(folded) > 0 {
			folded = append(folded, ' ')
		}
		space = false
		folded = utf8.AppendRune(folded, r)
	}
	return folded
}

// foldEnd is the end of s, of span bytes, folded.
func foldEnd(s string, span int) []byte {
	start := max(0, len(s)-span)
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	return fold(s[start:])
}

// foldBegin is the beginning of s, of span bytes, folded.
func foldBegin(s string, span int) []byte {
	end := min(len(s), span)
	for end < len(s) && !utf8.RuneStart(s[end]) {
		end++
	}
	return fold(s[:end])
}

// lookalikes are small letters of other alphabets that look like Latin ones, large or small.
var lookalikes = map[rune]rune{
	'а': 'a', 'в': 'b', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'һ': 'h', 'н': 'h', 'і': 'i', 'ј': 'j', 'к': 'k', 'м': 'm',
	'о': 'o', 'р': 'p', 'ԛ': 'q', 'ѕ': 's', 'т': 't', 'у': 'y', 'ү': 'y', 'ԝ': 'w', 'х': 'x', 'ѵ': 'v', 'п': 'n',
	'α': 'a', 'β': 'b', 'ε': 'e', 'η': 'n', 'ι': 'i', 'κ': 'k', 'μ': 'm', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'τ': 't',
	'υ': 'u', 'χ': 'x', 'ζ': 'z', 'γ': 'y', 'ı': 'i', 'ⅼ': 'l', 'ո': 'n', 'օ': 'o', 'ս': 'u', 'ꮪ': 's', 'ꭱ': 'r',
	'ʀ': 'r', 'ꜱ': 's', 'ʏ': 'y', 'ᴇ': 'e', 'ᴛ': 't', 'ᴍ': 'm', 'ᴏ': 'o', 'ʟ': 'l', 'ᴜ': 'u', 'ɴ': 'n', 'ɪ': 'i',
	'ᴄ': 'c', 'ᴠ': 'v', 'ǫ': 'q', 'ᴘ': 'p', 'ᴅ': 'd', 'ᴀ': 'a', 'ʜ': 'h', 'ꮯ': 'c', 'ꭲ': 't', 'ꮋ': 'h',
	'ꭺ': 'a', 'ꭼ': 'e', 'ꮇ': 'm', 'ꮮ': 'l', 'ꮍ': 'y', 'ꭹ': 'y', 'ɡ': 'g', 'ɑ': 'a', 'ӏ': 'l', 'ց': 'g', 'ꓢ': 's', 'ꓬ': 'y',
	'ꓔ': 't', 'ꓰ': 'e', 'ꓟ': 'm', 'ꓡ': 'l', 'ꓳ': 'o', 'ꓣ': 'r', 'ꓚ': 'c', 'ꓴ': 'u', 'ꓠ': 'n', 'ꓲ': 'i', 'ꓦ': 'v', 'ꓮ': 'a',
	'ꓑ': 'p', 'ꓧ': 'h', 'ꓫ': 'x', 'ꓓ': 'd', 'ꓐ': 'b',
}

func equalsLike(r rune) bool {
	switch r {
	case '=', '＝', '═', '≡', '﹦', '⹀', '꓿', '゠', '〓', '⩵', '⩶', '₌', '⁼', '🟰':
		return true
	}
	return false
}

func colonLike(r rune) bool {
	switch r {
	case ':', '：', '﹕', '︓', '∶', 'ː', '˸', '꞉', '⁚', '։':
		return true
	}
	return false
}

// bulletLike are the bullets of lists that look like the prompt's, and the signs that trees are drawn with.
func bulletLike(r rune) bool {
	switch r {
	case '•', '‣', '⁃', '∙', '·', '◦', '●', '⦁', '・', '･', '⚫', '᛫', '⸱', '▪', '◾':
		return true
	}
	return r >= 0x2500 && r <= 0x257F
}
