package main

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

// terminalOf is the terminal that stream is; false if it is none.
func terminalOf(stream any) (*os.File, bool) {
	f, ok := stream.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// typed reads a line at a terminal, which is raw only meanwhile. A pasted line is a line.
func typed(in *os.File, out io.Writer, t *term.Terminal, read func() (string, error)) (string, error) {
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
	if errors.Is(err, io.EOF) { // Ctrl-C or Ctrl-D: what comes next in the terminal isn't for us
		fmt.Fprint(out, "\r\n")
	}
	return line, err
}

// printable is s without what could drive a terminal: control characters and those that reorder text.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case drives(r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// drives reports whether r could drive a terminal instead of being shown by it.
func drives(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// oneLine is s as printable, in one line.
func oneLine(s string) string { return strings.Join(strings.Fields(printable(s)), " ") }

// saysYes reports whether a line agrees.
func saysYes(line string) bool {
	line = strings.TrimSpace(line)
	return strings.EqualFold(line, "y") || strings.EqualFold(line, "yes")
}

// soon is what read returns, unless ctx is done before: then read is left behind, and the process ends.
func soon(ctx context.Context, read func() (string, error)) (string, error) {
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
