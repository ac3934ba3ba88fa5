package builder

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// titleSpan is how many bytes a title can have at most, in letters of four bytes that look like its own.
const titleSpan = 4 * titleMost

// escaper knows the titles and marks that mustn't be forged.
type escaper struct {
	titles  []string // folded
	letters []string // the same without spaces
	marks   []string // the words among them, folded
	tag     string   // before earlier context, as bracketed gives it
}

func newEscaper(l Labels) *escaper {
	e := &escaper{titles: []string{
		"system instructions", "previous context", "current session", "current query",
		"system role", "recent conversation", "previous context from long term memory",
	}}
	for _, title := range l.titles() {
		e.titles = append(e.titles, string(fold(title)))
	}
	for _, title := range e.titles {
		e.letters = append(e.letters, strings.ReplaceAll(title, " ", ""))
	}
	for _, mark := range l.marks() {
		if folded := string(fold(mark)); folded != "" {
			e.marks = append(e.marks, folded)
		}
	}
	if open := strings.IndexByte(l.EarlierMark, '['); open >= 0 {
		e.tag = bracketed(l.EarlierMark[open+1:])
	}
	return e
}

// isTitle reports whether the line is a title and nothing else but signs.
func (l suspicion) isTitle() bool {
	line := strings.TrimFunc(l.line, func(r rune) bool { return r < utf8.RuneSelf && !inWord(r) })
	return len(line) <= titleSpan && l.isWhole(fold(line))
}

// isWhole takes no notice of spaces: some languages write none between words, and letters can be set apart.
func (l suspicion) isWhole(folded []byte) bool {
	return slices.ContainsFunc(l.letters, func(letters string) bool { return hasLetters(folded, letters) })
}

// hasLetters reports whether folded is letters but for spaces.
func hasLetters(folded []byte, letters string) bool {
	for _, c := range folded {
		if c == ' ' {
			continue
		}
		if letters == "" || letters[0] != c {
			return false
		}
		letters = letters[1:]
	}
	return letters == ""
}

// marked reports whether the line begins with a mark of the history, as far as it is a word, and byte i isn't far.
func (l suspicion) marked(i int) bool {
	if i > openSpan {
		return false
	}
	begin := string(foldBegin(l.line[:i]))
	for _, mark := range l.marks {
		if rest, ok := strings.CutPrefix(begin, mark); ok && (rest == "" || rest[0] == ' ') {
			return true
		}
	}
	return false
}
