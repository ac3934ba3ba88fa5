package terminal

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/rivo/uniseg"
)

// Live shows a growing text, and breaks its lines between words.
type Live struct {
	w      io.Writer
	colour Colours
	width  func() int

	shown  int    // bytes of the text
	word   string // the unfinished last word
	column int
	marked rendered
	bold   bool // what was printed ended in bold
}

// NewLive returns a Live that writes to w. width returns the columns of a line; 0: no line is broken.
func NewLive(w io.Writer, colour Colours, width func() int) *Live {
	return &Live{
		w:      w,
		colour: colour,
		width:  width,
	}
}

// Begin begins another text.
func (l *Live) Begin() {
	l.shown = 0
	l.word = ""
	l.column = 0
	l.bold = false
	l.marked = rendered{bold: l.colour.Bold, plain: l.colour.Off + l.colour.Answer}
}

// Show shows what was appended to text since the last call.
func (l *Live) Show(text string) {
	if len(text) <= l.shown {
		return
	}
	fresh := Printable(text[l.shown:])
	l.shown = len(text)
	var line strings.Builder
	state := -1
	width := l.width()
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

// Pause ends the current line, so that something else can be shown below.
func (l *Live) Pause() {
	var line strings.Builder
	l.flush(&line, l.width(), true)
	if l.column > 0 {
		line.WriteByte('\n')
	}
	l.print(line.String())
	l.column = 0
}

// End shows the rest and ends the line.
func (l *Live) End() {
	var line strings.Builder
	l.flush(&line, l.width(), true)
	l.print(line.String())
	fmt.Fprintln(l.w)
}

// flush adds the word to line, or to a new line if it doesn't fit. spaced means that the word is finished.
func (l *Live) flush(line *strings.Builder, width int, spaced bool) {
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

func (l *Live) print(s string) {
	if s != "" {
		begin := l.colour.Answer
		if l.bold { // continue in bold
			begin += l.colour.Bold
		}
		l.bold = l.marked.strong
		fmt.Fprint(l.w, begin+s+l.colour.Off)
	}
}

// escapes matches the codes that rendered puts into words.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// rendered shows Markdown on a terminal: bold, quotations with a bar, links by their text. It works word by word, for
// growing answers.
type rendered struct {
	bold, plain string // escape codes; may be empty
	strong      bool   // within **
	slanted     bool   // in a line that begins with *
	code        bool   // within a block of code
	spelled     bool   // within `
	begun       bool   // the line has a word
}

var (
	escaped = regexp.MustCompile(`\\([\\*_~|<>\[\]@:` + "`" + `])`)
	target  = regexp.MustCompile(`\]\(<?([^()<>\s]+)>?\)`)
)

// discordLink begins links that a terminal doesn't show.
const discordLink = "https://discord.com/channels/"

func (r *rendered) newline() {
	r.begun = false
	r.slanted = false
}

// word returns a word as it is shown. spaced means that a space or a line's end follows.
func (r *rendered) word(w string, spaced bool) string {
	first := !r.begun
	r.begun = true
	switch {
	case first && strings.HasPrefix(w, "```"):
		r.code = !r.code
		return w
	case r.code:
		return w
	case first && w == ">":
		r.begun = false // the quoted line begins behind it
		return "│"
	}
	if strings.Contains(w, "`") || r.spelled {
		if strings.Count(w, "`")%2 == 1 {
			r.spelled = !r.spelled
		}
		return w
	}
	if first && len(w) > 1 && w[0] == '*' && w[1] != '*' && w[1] != ' ' {
		r.slanted = true
		w = w[1:]
	}
	if r.slanted && strings.HasSuffix(w, "*") && !strings.HasSuffix(w, "**") {
		r.slanted = false
		w = strings.TrimSuffix(w, "*")
	}
	w = r.marks(w, spaced)
	w = target.ReplaceAllStringFunc(w, func(link string) string {
		if address := target.FindStringSubmatch(link)[1]; !strings.HasPrefix(address, discordLink) {
			return "] (" + address + ")"
		}
		return "]"
	})
	return escaped.ReplaceAllString(w, "$1")
}

// marks makes text between ** bold. A ** between spaces is an operator: 2 ** 3.
func (r *rendered) marks(w string, spaced bool) string {
	if w == "**" && spaced && !r.strong {
		return w
	}
	parts := strings.Split(w, "**")
	var b strings.Builder
	for i, part := range parts {
		if i > 0 && strings.HasSuffix(parts[i-1], `\`) {
			b.WriteString("**")
		} else if i > 0 {
			r.strong = !r.strong
			if r.strong {
				b.WriteString(r.bold)
			} else {
				b.WriteString(r.plain)
			}
		}
		b.WriteString(part)
	}
	return b.String()
}
