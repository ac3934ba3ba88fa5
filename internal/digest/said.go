package digest

import (
	"strings"
	"unicode/utf8"

	"hark/internal/text"
	"hark/memory"
)

// said is a message of a session, with what is weighed of it.
type said struct {
	memory.Message
	name   string // of the author, cut
	whole  string // as lined gives it
	pieces []piece
	text   string // what is quoted of it, on one line
	line   string // with its author's name
	words  []string
	terms  []string // each once
	asks   bool
	figure bool // outside questions
	toHark bool // asked: that is Hark's to answer
}

// short returns about n characters of s on one line, in graphemes and in code points.
func short(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	for graphemes := n; ; graphemes /= 2 {
		if cut := text.Clip(s, graphemes); utf8.RuneCountInString(cut) <= n+1 || graphemes == 0 {
			return cut
		}
	}
}

// piece is a word with the space after it; of a script without spaces, or a very long word, a part of it.
type piece struct {
	from, to int // bytes
	runes    int
	worth    float64 // by its signs
	figure   bool
	begins   bool // a sentence
	asked    bool // in a question
}
