package builder

import (
	"strings"

	"hark/builder/escape"
)

const (
	fileChars = 1500 // of a file's contents, shown at first
	fileName  = 80   // most characters of a file's name
)

// The line before a file's contents, which are indented.
const (
	contentsOf  = "[Contents of "
	contentsEnd = "]"
)

// planFiles plans each file as an item; the first are kept.
func (w *work) planFiles(s *section, most size) {
	s.items = len(w.in.Files)
	for i := range w.in.Files {
		f := &w.in.Files[i]
		e := entry{index: i}
		if f.Image > 0 {
			e.fixed.tokens = f.Image
		} else {
			w.scratch = w.appendFileHead(w.scratch[:0], f)
			e.fixed.tokens = w.b.tally.of(w.scratch) + 2
			e.pieces = []piece{w.measure(f.Text, 0, escape.FileText, fileChars)}
		}
		if !w.add(s, e, most) {
			return
		}
	}
}

// imageTokens returns the tokens of the images shown.
func (w *work) imageTokens() (tokens int) {
	s := &w.sections[kindFiles]
	for i := range s.entries[:s.shown] {
		tokens += w.in.Files[s.entries[i].index].Image
	}
	return tokens
}

func (w *work) appendFileHead(dst []byte, f *File) []byte {
	dst = append(dst, contentsOf...)
	name := strings.Map(func(r rune) rune {
		if r == '[' || r == ']' {
			return '_'
		}
		return r
	}, shortened(strings.TrimSpace(f.Name), fileName))
	dst = w.b.escape.AppendSafe(dst, name, escape.NameInLine)
	return append(dst, contentsEnd...)
}
