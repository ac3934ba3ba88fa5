package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync/atomic"
)

// interrupts is what Ctrl-C does: it ends the command, or what the command has set aside for it.
type interrupts struct {
	end atomic.Pointer[context.CancelFunc] // of what Ctrl-C ends instead of the command; nil for nothing
}

// watch returns a context that ends at the first interrupt that nothing smaller takes. The second ends the process.
func (i *interrupts) watch(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	go func() {
		defer cancel()
		defer signal.Stop(signals)
		for {
			select {
			case <-signals:
			case <-ctx.Done():
				return
			}
			if !i.take() {
				return
			}
		}
	}()
	return ctx
}

// take ends what stands aside for it, and reports whether there is something.
func (i *interrupts) take() bool {
	end := i.end.Load()
	if end == nil {
		return false
	}
	(*end)()
	return true
}

// aside returns a context that an interrupt ends instead of the command, until done is called.
func (i *interrupts) aside(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	if i == nil {
		return ctx, cancel
	}
	i.end.Store(&cancel)
	return ctx, func() {
		i.end.Store(nil)
		cancel()
	}
}

// interrupted is that a command was told to end. It says what has become of its work.
type interrupted string

func (s interrupted) Error() string { return string(s) }

// Is makes it a context.Canceled.
func (interrupted) Is(target error) bool { return target == context.Canceled }

// cutShort is err, or what has become of the work if a command failed because it was told to end.
func cutShort(ctx context.Context, err error, became string) error {
	if err != nil && ctx.Err() != nil {
		return interrupted(became)
	}
	return err
}

// interruption is the sentence about a command that was told to end, whatever it was doing.
func interruption(err error) string {
	if told, ok := errors.AsType[interrupted](err); ok {
		return string(told)
	}
	return "interrupted"
}
