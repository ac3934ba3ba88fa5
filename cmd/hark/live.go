package main

import (
	"fmt"
	"io"
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
}

// begin makes it ready for another text.
func (l *live) begin() { l.shown, l.word, l.column = 0, "", 0 }

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
			l.flush(&line, width)
			line.WriteByte('\n')
			l.column = 0
		case cluster == " " || cluster == "\t":
			l.flush(&line, width)
			if width == 0 || l.column+1 < width {
				line.WriteByte(' ')
				l.column++
			}
		case columns > 1: // between ideographs a line may end anywhere
			l.flush(&line, width)
			l.word = cluster
			l.flush(&line, width)
		default:
			l.word += cluster
		}
	}
	l.print(line.String())
}

// end shows the rest and ends the line.
func (l *live) end() {
	var line strings.Builder
	l.flush(&line, l.width())
	l.print(line.String())
	fmt.Fprintln(l.w)
}

// flush moves the word to line, or to the next if it doesn't fit.
func (l *live) flush(line *strings.Builder, width int) {
	columns := uniseg.StringWidth(l.word)
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
		fmt.Fprint(l.w, l.colour.answer+s+l.colour.off)
	}
}
