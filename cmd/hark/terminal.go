package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"hark/internal/exports"
)

// toTheMinute is the form of times.
const toTheMinute = "2006-01-02 15:04"

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

// printJSON prints v for people and machines: what could drive a terminal is escaped, as JSON allows.
func printJSON(w io.Writer, v any) error {
	var text strings.Builder
	e := exports.NewEncoder(&text)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	var safe strings.Builder
	for _, r := range text.String() {
		if r != '\n' && drives(r) {
			fmt.Fprintf(&safe, "\\u%04x", r)
			continue
		}
		safe.WriteRune(r)
	}
	_, err := io.WriteString(w, safe.String())
	return err
}

// oneLine is s as printable, in one line.
func oneLine(s string) string { return strings.Join(strings.Fields(printable(s)), " ") }

// below is a text as it stands below its heading.
func below(text string) string {
	return "        " + strings.ReplaceAll(printable(text), "\n", "\n        ")
}

// printHit prints something that was found under a heading, and why.
func printHit(w io.Writer, heading, text string, why []string) {
	fmt.Fprintf(w, "%s\n%s\n", heading, below(text))
	if len(why) > 0 {
		fmt.Fprintf(w, "        (%s)\n", printable(strings.Join(why, "; ")))
	}
}

// bar is a progress bar on stderr, if that is a terminal; else nothing is shown. bytes says that it counts them.
func (f *flags) bar(total int64, what string, bytes bool) *progressbar.ProgressBar {
	var out io.Writer = io.Discard
	if t, ok := terminalOf(f.env.stderr); ok {
		out = t
	}
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(bytes),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetSpinnerChangeInterval(0), // else a goroutine turns it that races with us and never ends
	)
}

// progress shows how far some work is that tells how much there is.
func (f *flags) progress(what string) func(done, total int) {
	var bar *progressbar.ProgressBar
	return func(done, total int) {
		if bar == nil {
			bar = f.bar(int64(total), what, false)
		}
		_ = bar.Set(done)
	}
}

// words are names to choose from.
func words[T ~string](names []T) []string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = string(n)
	}
	return all
}

// listed are names to choose from, with commas between them.
func listed[T ~string](names []T) string { return strings.Join(words(names), ", ") }

// count is a number of things, with what one is called, and what several are if not one with an s.
type count struct {
	n         int
	one, many string
}

// there are those of all that aren't 0, each as "1 message" or "2 messages".
func there(all ...count) (some []string) {
	for _, c := range all {
		if c.n > 0 {
			some = append(some, counted(c.n, c.one, cmp.Or(c.many, c.one+"s")))
		}
	}
	return some
}

// plural is "1 message" or "2 messages".
func plural(n int, noun string) string { return counted(n, noun, noun+"s") }

// counted is "1 summary" or "2 summaries".
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
