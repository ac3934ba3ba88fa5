package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
)

// confirm asks whether to go on, unless that was said with --yes.
func (f *flags) confirm(ctx context.Context, yes bool, question string) error {
	if yes {
		return nil
	}
	if f.talk != nil && f.talk.ask != nil {
		return f.talk.confirm(ctx, question)
	}
	in, ok := terminalOf(f.env.stdin)
	if _, shown := terminalOf(f.env.stderr); !ok || !shown || f.talk != nil {
		return errors.New("nobody can be asked here whether to go on: say so with --yes")
	}
	fmt.Fprintf(f.env.stderr, "%s [y/N] ", question)
	answer := make(chan string, 1)
	go func() { // is left behind when ctx is done: the process ends then
		line, _ := bufio.NewReader(in).ReadString('\n')
		answer <- line
	}()
	select {
	case line := <-answer:
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return nil
		}
		return errors.New("nothing was changed")
	case <-ctx.Done():
		fmt.Fprintln(f.env.stderr)
		return interrupted("interrupted; nothing was changed")
	}
}
