package escape

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// FoldSpan is how many bytes of a text are looked at for a title, and shortSpan how many at first.
const (
	FoldSpan  = 96
	shortSpan = 24
)

// Fold returns s as its letters and digits look to somebody who reads fast: small ASCII letters, one space
// for whatever stands between them. Full-width and mathematical letters, accents, and the Cyrillic and Greek
// letters that look like Latin ones don't count as others.
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

// foldEnd returns the end of s, of span bytes, folded.
func foldEnd(s string, span int) []byte {
	start := max(0, len(s)-span)
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	return Fold(s[start:])
}

// foldBegin returns the beginning of s, of span bytes, folded.
func foldBegin(s string, span int) []byte {
	end := min(len(s), span)
	for end < len(s) && !utf8.RuneStart(s[end]) {
		end++
	}
	return Fold(s[:end])
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

// bulletLike returns the bullets of lists that look like the prompt's, and the signs that trees are drawn
// with.
func bulletLike(r rune) bool {
	switch r {
	case '•', '‣', '⁃', '∙', '·', '◦', '●', '⦁', '・', '･', '⚫', '᛫', '⸱', '▪', '◾':
		return true
	}
	return r >= 0x2500 && r <= 0x257F
}
