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
func (t *conversation) interactive(ctx context.Context, in, out *os.File) error {
	screen := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, out}, "")
	if width, height, err := term.GetSize(int(out.Fd())); err == nil {
		_ = screen.SetSize(width, height)
	}
	colour := palette(screen.Escape)
	if os.Getenv("NO_COLOR") != "" {
		colour = palette(&term.EscapeCodes{})
	}
	screen.SetPrompt(colour.prompt(t.place.name))
	t.out, t.warn = screen, screen
	fmt.Fprint(screen, colour.welcome(t))
	// The terminal is raw only while a line is read, so that Ctrl-C stops an answer that takes too long.
	read := func() (string, error) {
		t.stream = colour.writer(screen)
		state, err := term.MakeRaw(int(in.Fd()))
		if err != nil {
			return "", fmt.Errorf("take over the terminal: %w", err)
		}
		defer term.Restore(int(in.Fd()), state)
		line, err := screen.ReadLine()
		if errors.Is(err, term.ErrPasteIndicator) {
			err = nil // a pasted line is a line
		}
		if strings.TrimSpace(line) == "/quit" {
			return "", io.EOF
		}
		return line, err // io.EOF at Ctrl-C and Ctrl-D
	}
	return t.sayAll(ctx, read, func(err error) error {
		fmt.Fprintf(screen, "%shark: %v%s\n", colour.wrong, err, colour.off)
		return nil
	})
}

// colours are the escape codes that the terminal wants.
type colours struct{ name, answer, faint, wrong, off string }

func palette(e *term.EscapeCodes) colours {
	return colours{name: string(e.Cyan), answer: string(e.Green), faint: string(e.Yellow), wrong: string(e.Red), off: string(e.Reset)}
}

func (c colours) prompt(channel string) string {
	return c.name + "#" + printable(channel) + "> " + c.off
}

func (c colours) welcome(t *conversation) string {
	remembered := "What you write is remembered."
	if !t.logs() {
		remembered = "This is a channel of Discord's: you can ask, but nothing you write here is remembered."
	}
	return fmt.Sprintf("%sYou are %s. %s Write \"Name: text\" to speak as somebody else,\n@hark and a question to be answered, /quit or Ctrl-D to end.%s\n",
		c.faint, printable(t.speaker), remembered, c.off)
}

// writer is a stream that shows what is new of a growing text.
func (c colours) writer(w io.Writer) func(text string) {
	shown := 0
	return func(text string) {
		if len(text) > shown {
			fmt.Fprint(w, c.answer+printable(text[shown:])+c.off)
			shown = len(text)
		}
	}
}
