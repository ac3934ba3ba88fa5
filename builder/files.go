package builder

import (
	"hark/builder/escape"
	"strings"
)

// File is what the question brings with it beside its text: the contents of a text, or an image, which is
// shown to the model beside the prompt.
type File struct {
	Name  string
	Text  string // its contents; empty: an image, of which the prompt has nothing but the tokens
	Image int    // tokens that the image takes; 0: a text
}

// fileChars is how many characters of a file's contents are shown before there is room for more.
const fileChars = 1500

// fileName is how much of a file's name is shown, in characters.
const fileName = 80

// The lines that stand before a file's contents. They begin at the beginning of a line, the contents never
// do.
const (
	contentsOf  = "[Contents of "
	contentsEnd = "]"
)

// planFiles has each file be an item: the first are kept.
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

// imageTokens returns those of the images that go with the prompt.
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

// appendFiles writes the contents of the files that are texts.
func (w *work) appendFiles() {
	s := &w.sections[kindFiles]
	begun := false
	for i := range s.entries[:s.shown] {
		e := &s.entries[i]
		f := &w.in.Files[e.index]
		if f.Image > 0 {
			continue
		}
		w.gap()
		if !begun {
			w.section(SectionFiles)
			begun = true
		}
		w.buf = w.appendFileHead(w.buf, f)
		w.put(escape.FileText.Newline)
		w.putPiece(&e.pieces[0])
	}
}
