package escape

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// FoldSpan is how many bytes of a text are searched for a title, and shortSpan how many at first.
const (
	FoldSpan  = 96
	shortSpan = 24
)

// Fold returns the letters and digits of s in lower case, with one space for whatever is between them. Accents
// are dropped. Full-width, mathematical and lookalike letters become ASCII.
func Fold(s string) []byte {
	folded := make([]byte, 0, FoldSpan)
	space := false
	for _, r := range norm.NFKD.String(s) {
		if r >= utf8.RuneSelf {
			if unicode.Is(unicode.M, r) || IsHidden(r) {
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

// foldEnd returns the last span bytes of s, folded.
func foldEnd(s string, span int) []byte {
	start := max(0, len(s)-span)
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	return Fold(s[start:])
}

// foldBegin returns the first span bytes of s, folded.
func foldBegin(s string, span int) []byte {
	end := min(len(s), span)
	for end < len(s) && !utf8.RuneStart(s[end]) {
		end++
	}
	return Fold(s[:end])
}

// lookalikes are lower-case letters of other alphabets that look like Latin ones.
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

// EqualsLike reports whether r looks like an equals sign.
func EqualsLike(r rune) bool {
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

// bulletLike reports whether r looks like the prompt's bullets or its box-drawing signs.
func bulletLike(r rune) bool {
	switch r {
	case '•', '‣', '⁃', '∙', '·', '◦', '●', '⦁', '・', '･', '⚫', '᛫', '⸱', '▪', '◾':
		return true
	}
	return r >= 0x2500 && r <= 0x257F
}
