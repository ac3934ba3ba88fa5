package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/rivo/uniseg"
)

// live shows a growing text, broken between words where a line ends.
type live struct {
	w      io.Writer
	colour colours
	width  func() int // of a line, in columns; 0 if unknown, and then nothing is broken

	shown  int    // bytes of the text
	word   string // at its end, not yet shown because it may go on
	column int
	marked rendered
	bold   bool // whether what was printed ended in bold
}

// begin makes it ready for another text.
func (l *live) begin() {
	l.shown, l.word, l.column, l.bold = 0, "", 0, false
	l.marked = rendered{bold: l.colour.bold, plain: l.colour.off + l.colour.answer}
}

// show shows what is new of text.
func (l *live) show(text string) {
	if len(text) <= l.shown {
		return
	}
	fresh := printable(text[l.shown:])
	l.shown = len(text)
	var line strings.Builder
	state, width := -1, l.width()
	for fresh != "" {
		var cluster string
		var columns int
		cluster, fresh, columns, state = uniseg.FirstGraphemeClusterInString(fresh, state)
		switch {
		case cluster == "\n":
			l.flush(&line, width, true)
			line.WriteByte('\n')
			l.column = 0
			l.marked.newline()
		case cluster == " " || cluster == "\t":
			l.flush(&line, width, true)
			if width == 0 || l.column+1 < width {
				line.WriteByte(' ')
				l.column++
			}
		case columns > 1: // between ideographs a line may end anywhere
			l.flush(&line, width, false)
			l.word = cluster
			l.flush(&line, width, false)
		default:
			l.word += cluster
		}
	}
	l.print(line.String())
}

// pause ends the line that has begun, for something else to be shown below it.
func (l *live) pause() {
	var line strings.Builder
	l.flush(&line, l.width(), true)
	if l.column > 0 {
		line.WriteByte('\n')
	}
	l.print(line.String())
	l.column = 0
}

// end shows the rest and ends the line.
func (l *live) end() {
	var line strings.Builder
	l.flush(&line, l.width(), true)
	l.print(line.String())
	fmt.Fprintln(l.w)
}

// flush moves the word to line, or to the next if it doesn't fit; spaced says that the word ends there.
func (l *live) flush(line *strings.Builder, width int, spaced bool) {
	if l.word != "" {
		l.word = l.marked.word(l.word, spaced)
	}
	columns := uniseg.StringWidth(escapes.ReplaceAllString(l.word, ""))
	if l.word != "" && width > 0 && l.column > 0 && l.column+columns > width {
		line.WriteByte('\n')
		l.column = 0
	}
	line.WriteString(l.word)
	l.word = ""
	l.column += columns
	if width > 0 && l.column > width {
		l.column = (l.column-1)%width + 1 // the terminal broke the word
	}
}

func (l *live) print(s string) {
	if s != "" {
		begin := l.colour.answer
		if l.bold { // what was printed before went on in bold
			begin += l.colour.bold
		}
		l.bold = l.marked.strong
		fmt.Fprint(l.w, begin+s+l.colour.off)
	}
}

// escapes are the codes that rendered puts into words.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")
