package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/term"
)

// interactive reads lines with editing and history, and shows answers in colour while they are written.
func (t *conversation) interactive(ctx context.Context, s *screen, i *interrupts) error {
	before, err := term.GetState(int(s.in.Fd()))
	if err != nil {
		return fmt.Errorf("look at the terminal: %w", err)
	}
	defer term.Restore(int(s.in.Fd()), before) // also if a line is still being read
	t.out, t.warn, t.live, t.interrupts, t.colour = s.out, s.out, s.live(), i, s.colour
	t.past, t.ask = s.past, s.ask
	complete := func(line string, at int, key rune) (string, int, bool) {
		if key == clearLine {
			s.keys.empty = line == ""
			return "", 0, true
		}
		if key != '\t' {
			return "", 0, false
		}
		return t.complete(ctx, line, at, func(words []string) { fmt.Fprintln(s, printable(strings.Join(words, "  "))) })
	}
	hello := live{w: s.out, colour: colours{answer: s.colour.faint, off: s.colour.off}, width: t.live.width}
	hello.show(welcome(t))
	hello.end()
	read := func() (string, error) {
		s.term.SetPrompt(s.colour.prompt(t.speaker, t.place.name))
		s.term.AutoCompleteCallback, s.keys.clears = complete, true
		return s.read()
	}
	return t.sayAll(ctx, read, func(err error) error {
		fmt.Fprintf(s.out, "%shark: %v%s\n", s.colour.wrong, err, s.colour.off)
		return nil
	})
}

// screen is a terminal that lines are read from and answers shown on.
type screen struct {
	in, out *os.File
	colour  colours
	past    *pastLines
	keys    *keys

	mu   sync.Mutex
	term *term.Terminal
}

func newScreen(in, out *os.File, lookup func(string) (string, bool)) *screen {
	s := &screen{in: in, out: out, past: &pastLines{}, keys: &keys{in: in}}
	s.renew()
	if none, _ := lookup("NO_COLOR"); none == "" {
		s.colour = palette(s.term.Escape)
	}
	return s
}

// renew begins anew with reading: where no line came, the terminal would never read another.
func (s *screen) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.term = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{s.keys, s.out}, "")
	s.term.History = s.past
}

// keys are what is typed. With clears, Ctrl-C takes back a line that has begun, and ends the input where there is
// none: the terminal is given clearLine, and the end if that found the line empty.
type keys struct {
	in     io.Reader
	rest   []byte // typed, and not given to the terminal yet
	asked  bool   // clearLine was given last
	empty  bool   // it found the line empty
	clears bool
}

const (
	ctrlC = 3
	ctrlD = 4
	// clearLine is a key that no keyboard has a use for.
	clearLine = 0x1f
)

// Read gives no more than up to the next Ctrl-C.
func (k *keys) Read(p []byte) (int, error) {
	if k.asked && k.empty {
		k.asked, k.empty = false, false
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
		if n = i; i == 0 {
			k.rest, k.asked = k.rest[1:], true
			p[0] = clearLine
			return 1, nil
		}
	}
	n = copy(p, k.rest[:n])
	k.rest = k.rest[n:]
	return n, nil
}

// Write shows what may come while a line is being read.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	t := s.term
	s.mu.Unlock()
	return t.Write(p)
}

// ask is the answer to a question, in one line.
func (s *screen) ask(question string) (string, error) {
	s.term.SetPrompt(question)
	before := slices.Clone(s.past.lines)
	s.term.AutoCompleteCallback, s.keys.clears = nil, false
	line, err := s.read()
	if s.past.lines = before; err != nil {
		s.renew()
	}
	return line, err
}

// read is the next line; io.EOF at Ctrl-D, and at Ctrl-C where nothing is typed yet. The terminal is raw only
// while a line is read, so that Ctrl-C stops an answer that takes too long.
func (s *screen) read() (string, error) { return typed(s.in, s.out, s.term, s.term.ReadLine) }

// live shows answers on the screen.
func (s *screen) live() *live {
	return &live{w: s.out, colour: s.colour, width: func() int {
		width, _, err := term.GetSize(int(s.out.Fd()))
		if err != nil {
			return 0
		}
		return width
	}}
}

// colours are the escape codes that the terminal wants; none by default.
type colours struct{ name, answer, faint, dim, bold, wrong, off string }

func palette(e *term.EscapeCodes) colours {
	return colours{name: string(e.Cyan), answer: string(e.Green), faint: string(e.Yellow), dim: "\x1b[2m",
		bold: "\x1b[1m", wrong: string(e.Red), off: string(e.Reset)}
}

func (c colours) prompt(speaker, channel string) string {
	return c.name + oneLine(speaker) + " #" + oneLine(channel) + "> " + c.off
}

func welcome(t *conversation) string {
	remembered := "What you write is remembered."
	if !t.logs() {
		remembered = "This is a channel of Discord's: you can ask, but nothing you write here is remembered."
	}
	return "You are " + t.speaker + ". " + remembered + " Write \"Name: text\" to speak as somebody else, " +
		"@hark and a question to be answered, /help for what else there is, /quit or Ctrl-D to end."
}
