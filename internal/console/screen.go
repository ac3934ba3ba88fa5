package console

import (
	"context"
	"fmt"
	"strings"

	"hark/internal/terminal"
)

// interactive reads lines with editing and history, and shows answers in colour while they are written.
func (t *Talk) interactive(ctx context.Context, s *terminal.Screen) error {
	restore, err := s.Keep()
	if err != nil {
		return err
	}
	defer restore() // also if a line is still being read
	t.Out = s.Out
	t.Warn = s.Out
	t.live = s.Live()
	t.interrupts = t.Aside
	t.colour = s.Colour
	t.past = s.Past
	t.ask = s.Ask
	complete := func(line string, at int) (string, int, bool) {
		return t.complete(ctx, line, at, func(words []string) {
			fmt.Fprintln(s, terminal.Printable(strings.Join(words, "  ")))
		})
	}
	s.Hint(welcome(t))
	read := func() (string, error) {
		prompt := terminal.OneLine(t.Speaker) + " #" + terminal.OneLine(t.Place.Name) + "> "
		return s.ReadLine(s.Colour.Name+prompt+s.Colour.Off, complete)
	}
	return t.sayAll(ctx, read, func(err error) error {
		fmt.Fprintf(s.Out, "%shark: %v%s\n", s.Colour.Wrong, err, s.Colour.Off)
		return nil
	})
}

func welcome(t *Talk) string {
	remembered := "What you write is remembered."
	if !t.logs() {
		remembered = "This is a channel of Discord's: you can ask, but nothing you write here is remembered."
	}
	return "You are " + t.Speaker + ". " + remembered + " Write \"Name: text\" to speak as somebody else, " +
		"@hark and a question to be answered, /help for what else there is, /quit or Ctrl-D to end."
}
