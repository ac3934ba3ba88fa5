package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// Asker asks at a terminal, or reads answers from a pipe, one a line.
type Asker struct {
	// Back makes the answer "back" to any question ErrBack.
	Back     bool
	Out      io.Writer
	in       io.Reader
	terminal *os.File       // in; nil if it is no terminal
	line     *term.Terminal // reads from terminal
}

// NewAsker returns an Asker that writes its questions to out.
func NewAsker(in io.Reader, out io.Writer) *Asker {
	a := &Asker{in: in, Out: out}
	if t, ok := Of(in); ok {
		a.terminal = t
		a.line = term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{t, a.Out}, "")
	}
	return a
}

var errUnanswered = errors.New("the answers ended too soon; nothing was written")

// ErrUnwritten means that Ctrl-C, Ctrl-D or a signal ended the questions.
const ErrUnwritten = Interrupted("interrupted; nothing was written")

// ErrBack means that somebody wants the question before, see Asker.Back.
var ErrBack = errors.New("back to the question before")

// Ask returns the answer to a question, trimmed. A secret isn't shown while it is typed.
func (a *Asker) Ask(ctx context.Context, question string, secret bool) (string, error) {
	question += ": "
	var line string
	var err error
	if a.terminal == nil {
		line, err = Await(ctx, func() (string, error) { return a.read(question) })
	} else {
		// raw before the question, so that no early keys are shown
		line, err = readRaw(a.terminal, a.Out, a.line, func() (string, error) {
			return Await(ctx, func() (string, error) {
				if secret {
					return a.line.ReadPassword(question)
				}
				a.line.SetPrompt(question)
				return a.line.ReadLine()
			})
		})
	}
	switch {
	case err != nil && ctx.Err() != nil:
		fmt.Fprint(a.Out, "\r\n")
		return "", ErrUnwritten
	case errors.Is(err, io.EOF): // Ctrl-C or Ctrl-D
		return "", ErrUnwritten
	}
	answer := strings.TrimSpace(line)
	if err == nil && a.Back && strings.EqualFold(answer, "back") {
		return "", ErrBack
	}
	return answer, err
}

func (a *Asker) read(question string) (string, error) {
	fmt.Fprintln(a.Out, question)
	line, err := bufio.NewReader(bytewise{a.in}).ReadString('\n')
	switch {
	case err == io.EOF && line == "":
		return "", errUnanswered
	case err == io.EOF:
		err = nil
	}
	return line, err
}

// bytewise reads single bytes, to leave what follows a line to other readers.
type bytewise struct{ io.Reader }

func (b bytewise) Read(p []byte) (int, error) { return b.Reader.Read(p[:min(1, len(p))]) }

// Yes asks a yes-or-no question. An empty answer means usual.
func (a *Asker) Yes(ctx context.Context, question string, usual bool) (bool, error) {
	choices := " [y/N]"
	if usual {
		choices = " [Y/n]"
	}
	for {
		answer, err := a.Ask(ctx, question+choices, false)
		if err != nil {
			return false, err
		}
		switch {
		case answer == "":
			return usual, nil
		case SaysYes(answer):
			return true, nil
		case strings.EqualFold(answer, "n"), strings.EqualFold(answer, "no"):
			return false, nil
		}
		fmt.Fprintln(a.Out, "Please write y or n.")
	}
}

// Choose asks for one of options, by number or by words of it, and returns its index. An empty answer means usual. It
// also takes one of more names, which it doesn't list: their indexes follow those of options.
func (a *Asker) Choose(ctx context.Context, question string, options []string, usual int, more ...string) (int, error) {
	fmt.Fprintln(a.Out, question)
	for i, option := range options {
		fmt.Fprintf(a.Out, "  %d  %s\n", i+1, option)
	}
	for {
		answer, err := a.Ask(ctx, fmt.Sprintf("Number or name [%d]", usual+1), false)
		if err != nil {
			return 0, err
		}
		if answer == "" {
			return usual, nil
		}
		for i, name := range more {
			if SameName(name, answer) {
				return len(options) + i, nil
			}
		}
		chosen := optionOf(options, answer)
		if chosen >= 0 {
			return chosen, nil
		}
		fmt.Fprintln(a.Out, "Please write a number or a name from the list.")
	}
}

// SameName reports whether two names differ at most in case, spaces and punctuation, as "LM-Studio" and "lm studio" do.
func SameName(a, b string) bool { return plain(a) == plain(b) }

func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// optionOf returns the index of the option that an answer means: its number, all of it, what it begins with, or words
// that no other option has; -1 if it means none.
func optionOf(options []string, answer string) int {
	answer = strings.ToLower(answer)
	var begin, within []int
	for i, option := range options {
		option = strings.ToLower(option)
		words := " " + option
		switch {
		case answer == strconv.Itoa(i+1), answer == option:
			return i
		case strings.HasPrefix(option, answer):
			begin = append(begin, i)
		case strings.Contains(words, " "+answer):
			within = append(within, i)
		}
	}
	switch {
	case len(begin) == 1:
		return begin[0]
	case len(begin) == 0 && len(within) == 1:
		return within[0]
	}
	return -1
}

// maxListed bounds the names that Name lists.
const maxListed = 40

// Name asks for a name, or a number in names. An empty answer means usual, or the only name.
func (a *Asker) Name(ctx context.Context, question string, names []string, usual string) (string, error) {
	shown := names[:min(len(names), maxListed)]
	for i, n := range shown {
		fmt.Fprintf(a.Out, "  %2d  %s\n", i+1, OneLine(n))
	}
	if len(names) > 0 {
		question += " (number or name)"
	}
	if more := len(names) - len(shown); more > 0 {
		fmt.Fprintf(a.Out, "      and %d more, by their names\n", more)
	}
	if usual == "" && len(names) == 1 {
		usual = names[0]
	}
	if usual != "" {
		question += " [" + OneLine(usual) + "]"
	}
	for {
		answer, err := a.Ask(ctx, question, false)
		if err != nil {
			return "", err
		}
		if answer == "" {
			answer = usual
		}
		n, err := strconv.Atoi(answer)
		switch {
		case answer == "" && len(shown) > 0:
			fmt.Fprintf(a.Out, "Please write a number from 1 to %d, or a name.\n", len(shown))
		case answer == "":
			fmt.Fprintln(a.Out, "An answer is needed.")
		case err == nil && 1 <= n && n <= len(shown):
			return shown[n-1], nil
		case err == nil && len(shown) > 0:
			fmt.Fprintf(a.Out, "Please write a number from 1 to %d, or a name.\n", len(shown))
		default:
			return answer, nil
		}
	}
}
