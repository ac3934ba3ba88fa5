package tokens

import (
	_ "embed"
	"sort"
	"strings"
	"sync"
)

// The estimate is o200k's count and, for each character, what other vocabularies need beyond it: those of
// 32,000 tokens (Llama 2, Mistral) have few words of any language but English and fall back to bytes, and
// most know digits one by one. Counting o200k's first is what tells words from random letters. The words that
// all know, which most of English is, need nothing beyond it.
//
// The costs are fitted to the largest count that Llama 2, Llama 3, Mistral 7B, Gemma 3, Qwen 3 and cl100k
// give of the texts in testdata/scripts.txt, 68 of them, 46 languages: at least that of each, as nearly as
// one cost for a script can. docs/decisions/0012-tokens.md has how it does on texts that it wasn't fitted to.

// Costs are in hundredths of a token.
const (
	token      = 100
	letterCost = 20  // of an ASCII letter in a word that isn't known: Dutch, Indonesian and Finnish need it
	capital    = 20  // what a capital among those costs beyond that: some know few words in capitals
	signCost   = 10  // of other ASCII
	spaceCost  = 7   // of a space after a space
	breakCost  = 50  // of a control character, such as a line's end
	joinedCost = 70  // of a sign of ASCII between two letters: o200k has the "-talk" of "pep-talk" in one token
	apostrophe = 130 // what an apostrophe there costs beyond that: o200k has "she's" in one token, others in three
	emojiCost  = 230
)

// scripts are the costs of characters beyond ASCII, each up to and without the next.
var scripts = []struct {
	from rune
	cost int
}{
	{0x0080, 60},         // Latin-1
	{0x0100, 85},         // Latin Extended
	{0x0250, 60},         // phonetic signs, combining marks
	{0x0370, 90},         // Greek
	{0x0400, 45},         // Cyrillic as Russian has it
	{0x0460, 185},        // other letters in Cyrillic
	{0x0530, 190},        // Armenian
	{0x0590, 95},         // Hebrew
	{0x0600, 100},        // Arabic
	{0x0700, 150},        // Syriac, Thaana, N'Ko, and others
	{0x0900, 105},        // Devanagari
	{0x0980, 135},        // Bengali, Assamese
	{0x0A00, 270},        // Gurmukhi, Gujarati, Oriya
	{0x0B80, 130},        // Tamil
	{0x0C00, 260},        // Telugu, Kannada, Malayalam
	{0x0D80, 175},        // Sinhala
	{0x0E00, 75},         // Thai
	{0x0E80, 160},        // Lao, Tibetan, Burmese
	{0x10A0, 190},        // Georgian
	{0x1100, 120},        // Ethiopic, Cherokee, and others
	{0x1780, 190},        // Khmer
	{0x1800, 120},        // Mongolian, phonetic extensions, and others
	{0x1E00, 215},        // Latin as Vietnamese has it
	{0x1F00, 150},        // Greek with accents
	{0x2000, 80},         // punctuation, arrows, symbols, drawings
	{0x2E80, 85},         // radicals
	{0x3000, 50},         // CJK punctuation, kana
	{0x3100, 85},         // Bopomofo, ideographs
	{0xA000, 120},        // Yi and others
	{0xAC00, 145},        // Hangul
	{0xD7B0, 120},        // private use, presentation forms, full width
	{0x10000, emojiCost}, // emoji, and whatever is rare
}

// estimate returns what a text of so many tokens by o200k may be for other models: at least one token, since
// o200k has one, and never more than its bytes.
func estimate(s string, o200k int) int {
	return min(len(s), o200k+(surcharge(s)+token-1)/token)
}

// wordList are English words that, with a space before them, are one token for Llama 2, Llama 3, Mistral 7B,
// Gemma 3, Qwen 3, o200k and cl100k: of Llama 2's vocabulary those that are used in Go's comments or in
// people's talk.
//
//go:embed words.txt
var wordList string

var known = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(wordList) {
		words[word] = true
	}
	return words
})

// surcharge returns what s costs beyond o200k's count.
func surcharge(s string) (cost int) {
	digits := 0
	last := ' '
	words := known()
	skip := 0
	for i, r := range s {
		switch {
		case i < skip: // within a known word
		case '0' <= r && r <= '9':
			// o200k has up to three digits in a token, others one.
			digits++
			if digits%3 != 1 {
				cost += token
			}
			last = r
			continue
		case r == ' ':
			if last == ' ' && i > 0 {
				cost += spaceCost
			}
		case isLetter(r):
			if last == ' ' && i > 0 { // at a line's beginning many have it in pieces
				end := wordEnd(s, i)
				if words[s[i:end]] {
					skip = end
					break
				}
			}
			cost += letterCost
			if r <= 'Z' {
				cost += capital
			}
		case r < ' ' && (r == last || last > ' ' && last < 0x80 && !isLetter(last)):
			cost += token // o200k has many lines' ends in a token, and the sign before them
		case r < ' ':
			cost += breakCost
		case r < 0x80 && isLetter(last) && wordEnd(s, i+1) > i+1:
			cost += joinedCost
			if r == '\'' {
				cost += apostrophe
			}
		case r < 0x80:
			cost += signCost
		default:
			cost += costOf(r)
		}
		digits = 0
		last = r
	}
	return cost
}

func isLetter(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' }

// wordEnd returns where the ASCII letters end that stand at i.
func wordEnd(s string, i int) int {
	for i < len(s) && isLetter(rune(s[i])) {
		i++
	}
	return i
}

func costOf(r rune) int {
	return scripts[sort.Search(len(scripts), func(i int) bool { return scripts[i].from > r })-1].cost
}
