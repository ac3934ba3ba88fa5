// Package terminal asks at a terminal, reads lines with editing, shows answers as they grow, and makes text safe to
// show. It imports nothing of Hark.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// Of returns stream as a terminal; false if it is none.
func Of(stream any) (*os.File, bool) {
	f, ok := stream.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// readRaw reads a line, typed or pasted. The terminal is raw only meanwhile.
func readRaw(in *os.File, out io.Writer, t *term.Terminal, read func() (string, error)) (string, error) {
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return "", fmt.Errorf("take over the terminal: %w", err)
	}
	defer term.Restore(int(in.Fd()), state)
	if width, height, err := term.GetSize(int(in.Fd())); err == nil && width > 0 {
		_ = t.SetSize(width, height) // it may have changed since the last line
	}
	line, err := read()
	if errors.Is(err, term.ErrPasteIndicator) {
		return line, nil
	}
	if errors.Is(err, io.EOF) { // Ctrl-C or Ctrl-D: leave the line to what comes next
		fmt.Fprint(out, "\r\n")
	}
	return line, err
}

// Printable replaces control characters, which could drive a terminal, and those that reorder text.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case Unprintable(r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// Unprintable reports whether r could drive a terminal instead of being shown by it.
func Unprintable(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// OneLine returns Printable(s) in one line.
func OneLine(s string) string { return strings.Join(strings.Fields(Printable(s)), " ") }

// SaysYes reports whether a line agrees.
func SaysYes(line string) bool {
	line = strings.TrimSpace(line)
	return strings.EqualFold(line, "y") || strings.EqualFold(line, "yes")
}

// Await returns what read returns, or ctx's error if ctx ends first. Then read still runs: the process must end.
func Await(ctx context.Context, read func() (string, error)) (string, error) {
	type line struct {
		text string
		err  error
	}
	next := make(chan line, 1)
	go func() {
		text, err := read()
		next <- line{text, err}
	}()
	select {
	case l := <-next:
		return l.text, l.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
