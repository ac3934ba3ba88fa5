package terminal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"golang.org/x/term"
)

// Screen reads lines from a terminal and shows answers on it.
type Screen struct {
	Out    *os.File
	Colour Colours
	Past   *History
	in     *os.File
	keys   *keys

	mu   sync.Mutex
	term *term.Terminal
}

// NewScreen returns a Screen. lookup looks up NO_COLOR.
func NewScreen(in, out *os.File, lookup func(string) (string, bool)) *Screen {
	s := &Screen{
		in:   in,
		Out:  out,
		Past: &History{},
		keys: &keys{in: in},
	}
	s.renew()
	if none, _ := lookup("NO_COLOR"); none == "" {
		s.Colour = palette(s.term.Escape)
	}
	return s
}

// renew makes another term.Terminal: after an error, the old one can't read.
func (s *Screen) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.term = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{s.keys, s.Out}, "")
	s.term.History = s.Past
}

// keys reads what is typed. With clears, Ctrl-C clears the line, or ends the input if the line is empty: keys passes on
// clearLine, and then Ctrl-D if that found the line empty.
type keys struct {
	in     io.Reader
	rest   []byte // typed, and not passed on yet
	asked  bool   // clearLine was passed on last
	empty  bool   // it found the line empty
	clears bool
}

const (
	ctrlC = 3
	ctrlD = 4
	// clearLine stands for a key that keyboards don't have.
	clearLine = 0x1f
)

// Read stops before the next Ctrl-C.
func (k *keys) Read(p []byte) (int, error) {
	if k.asked && k.empty {
		k.asked = false
		k.empty = false
		p[0] = ctrlD
		return 1, nil
	}
	k.asked = false
	if len(k.rest) == 0 {
		buf := make([]byte, len(p))
		n, err := k.in.Read(buf)
		if n == 0 {
			return 0, err
		}
		k.rest = buf[:n]
	}
	n := len(k.rest)
	if i := bytes.IndexByte(k.rest, ctrlC); k.clears && i >= 0 {
		n = i
		if i == 0 {
			k.rest = k.rest[1:]
			k.asked = true
			p[0] = clearLine
			return 1, nil
		}
	}
	n = copy(p, k.rest[:n])
	k.rest = k.rest[n:]
	return n, nil
}

// Keep returns a function that restores the terminal's present state.
func (s *Screen) Keep() (restore func(), err error) {
	state, err := term.GetState(int(s.in.Fd()))
	if err != nil {
		return nil, fmt.Errorf("look at the terminal: %w", err)
	}
	return func() { _ = term.Restore(int(s.in.Fd()), state) }, nil
}

// Write shows text, also while a line is being read.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	t := s.term
	s.mu.Unlock()
	return t.Write(p)
}

// Ask asks a question. History doesn't keep the answer.
func (s *Screen) Ask(question string) (string, error) {
	s.term.SetPrompt(question)
	before := slices.Clone(s.Past.lines)
	s.term.AutoCompleteCallback = nil
	s.keys.clears = false
	line, err := s.read()
	s.Past.lines = before
	if err != nil {
		s.renew()
	}
	return line, err
}

// ReadLine reads a line behind prompt. Tab calls complete with the line and the cursor's position.
func (s *Screen) ReadLine(prompt string, complete func(line string, at int) (string, int, bool)) (string, error) {
	s.term.SetPrompt(prompt)
	s.keys.clears = true
	s.term.AutoCompleteCallback = func(line string, at int, key rune) (string, int, bool) {
		switch key {
		case clearLine:
			s.keys.empty = line == ""
			return "", 0, true
		case '\t':
			return complete(line, at)
		}
		return "", 0, false
	}
	return s.read()
}

// Hint shows a text faintly.
func (s *Screen) Hint(text string) {
	l := NewLive(s.Out, Colours{Answer: s.Colour.Faint, Off: s.Colour.Off}, s.width)
	l.Show(text)
	l.End()
}

// read returns the next line; io.EOF at Ctrl-D, and at Ctrl-C on an empty line. The terminal is raw only meanwhile, so
// that Ctrl-C can stop an answer.
func (s *Screen) read() (string, error) { return readRaw(s.in, s.Out, s.term, s.term.ReadLine) }

// Live returns a Live on the screen.
func (s *Screen) Live() *Live { return NewLive(s.Out, s.Colour, s.width) }

// width returns the screen's columns; 0 if unknown.
func (s *Screen) width() int {
	width, _, err := term.GetSize(int(s.Out.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Colours are escape codes; the zero value has none.
type Colours struct{ Name, Answer, Faint, Dim, Bold, Wrong, Off string }

func palette(e *term.EscapeCodes) Colours {
	return Colours{
		Name:   string(e.Cyan),
		Answer: string(e.Green),
		Faint:  string(e.Yellow),
		Dim:    "\x1b[2m",
		Bold:   "\x1b[1m",
		Wrong:  string(e.Red),
		Off:    string(e.Reset),
	}
}

// History has the lines that the arrow keys call back, in memory only.
type History struct{ lines []string }

// maxHistory bounds History.
const maxHistory = 100

// Add adds a line.
func (p *History) Add(line string) {
	p.lines = append(p.lines, line)
	p.lines = p.lines[max(0, len(p.lines)-maxHistory):]
}

// Len returns the number of lines.
func (p *History) Len() int { return len(p.lines) }

// At returns a line; 0 is the newest.
func (p *History) At(i int) string { return p.lines[len(p.lines)-1-i] }

// Clear removes all lines. The receiver may be nil.
func (p *History) Clear() {
	if p != nil {
		clear(p.lines)
		p.lines = nil
	}
}
