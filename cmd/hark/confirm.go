package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
)

// confirm tells what is to be done and asks whether to go on, unless that was said with --yes.
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
	in, ok := terminalOf(f.env.stdin)
	if _, shown := terminalOf(f.env.stderr); !ok || !shown || f.talk != nil {
		return errors.New("nobody can be asked here whether to go on: say so with --yes")
	}
	fmt.Fprintf(f.env.stderr, "%s [y/N] ", question)
	line, _ := soon(ctx, func() (string, error) { return bufio.NewReader(in).ReadString('\n') })
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(f.env.stderr)
		return interrupted("interrupted; nothing was changed")
	case saysYes(line):
		return nil
	}
	return errors.New("nothing was changed")
}

// saysYes reports whether a line agrees.
func saysYes(line string) bool {
	line = strings.TrimSpace(line)
	return strings.EqualFold(line, "y") || strings.EqualFold(line, "yes")
}

// soon is what read returns, unless ctx is done before. A read that never returns is left behind: the process ends then.
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
