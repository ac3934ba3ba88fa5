package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hark/internal/terminal"
)

// confirm prints told and asks whether to go on, unless yes is set.
func (f *flags) confirm(ctx context.Context, yes bool, told, question string) error {
	if yes {
		return nil
	}
	if told != "" {
		fmt.Fprintln(f.env.stderr, told)
	}
	if f.talk != nil && f.talk.ask != nil {
		agreed, err := f.talk.agrees(ctx, question)
		if err == nil && !agreed {
			err = errors.New("nothing was changed")
		}
		return err
	}
	in, ok := terminal.Of(f.env.stdin)
	if _, shown := terminal.Of(f.env.stderr); !ok || !shown || f.talk != nil {
		return errors.New("there is no terminal to ask on: confirm with --yes")
	}
	fmt.Fprintf(f.env.stderr, "%s [y/N] ", question)
	line, _ := terminal.Await(ctx, func() (string, error) { return bufio.NewReader(in).ReadString('\n') })
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(f.env.stderr)
		return terminal.Interrupted("interrupted; nothing was changed")
	case terminal.SaysYes(line):
		return nil
	}
	return errors.New("nothing was changed")
}
