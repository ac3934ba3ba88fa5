package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// interactive reads lines with editing and history, and shows answers in colour while they are written.
func (t *conversation) interactive(ctx context.Context, s *screen, i *interrupts) error {
	before, err := term.GetState(int(s.in.Fd()))
	if err != nil {
		return fmt.Errorf("look at the terminal: %w", err)
	}
	defer term.Restore(int(s.in.Fd()), before) // also if a line is still being read
	t.out, t.warn, t.live, t.interrupts = s.out, s.out, s.live(), i
	hello := live{w: s.out, colour: colours{answer: s.colour.faint, off: s.colour.off}, width: t.live.width}
	hello.show(welcome(t))
	hello.end()
	return t.sayAll(ctx, s.read, func(err error) error {
		fmt.Fprintf(s.out, "%shark: %v%s\n", s.colour.wrong, err, s.colour.off)
		return nil
	})
}

// screen is a terminal that lines are read from and answers shown on.
type screen struct {
	in, out *os.File
	term    *term.Terminal // takes what is to be shown while a line may be being read
	colour  colours
}

func newScreen(in, out *os.File, channel string, lookup func(string) (string, bool)) *screen {
	s := &screen{in: in, out: out, term: term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, out}, "")}
	if none, _ := lookup("NO_COLOR"); none == "" {
		s.colour = palette(s.term.Escape)
	}
	s.term.SetPrompt(s.colour.prompt(channel))
	return s
}

// read is the next line; io.EOF at Ctrl-C, Ctrl-D and /quit. The terminal is raw only while a line is read, so
// that Ctrl-C stops an answer that takes too long.
func (s *screen) read() (string, error) {
	state, err := term.MakeRaw(int(s.in.Fd()))
	if err != nil {
		return "", fmt.Errorf("take over the terminal: %w", err)
	}
	defer term.Restore(int(s.in.Fd()), state)
	if width, height, err := term.GetSize(int(s.out.Fd())); err == nil && width > 0 {
		_ = s.term.SetSize(width, height) // it may have changed since the last line
	}
	line, err := s.term.ReadLine()
	switch {
	case errors.Is(err, term.ErrPasteIndicator):
		return line, nil // a pasted line is a line
	case errors.Is(err, io.EOF):
		fmt.Fprint(s.out, "\r\n") // what comes next in the terminal isn't for us
		return "", io.EOF
	case strings.TrimSpace(line) == "/quit":
		return "", io.EOF
	}
	return line, err
}

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
type colours struct{ name, answer, faint, wrong, off string }

func palette(e *term.EscapeCodes) colours {
	return colours{name: string(e.Cyan), answer: string(e.Green), faint: string(e.Yellow), wrong: string(e.Red), off: string(e.Reset)}
}

func (c colours) prompt(channel string) string {
	return c.name + "#" + printable(channel) + "> " + c.off
}

func welcome(t *conversation) string {
	remembered := "What you write is remembered."
	if !t.logs() {
		remembered = "This is a channel of Discord's: you can ask, but nothing you write here is remembered."
	}
	return "You are " + t.speaker + ". " + remembered + " Write \"Name: text\" to speak as somebody else, " +
		"@hark and a question to be answered, /quit or Ctrl-D to end."
}
