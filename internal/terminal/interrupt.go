package terminal

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync/atomic"
)

// Interrupts decides what Ctrl-C ends: the command, or a part of it that Aside began.
type Interrupts struct {
	end atomic.Pointer[context.CancelFunc] // ends that part; nil if there is none
}

// Watch returns a context that ends at the first interrupt outside of Aside. The next one ends the process.
func (i *Interrupts) Watch(ctx context.Context) context.Context {
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

// take ends what Aside began, and reports whether there is something.
func (i *Interrupts) take() bool {
	end := i.end.Load()
	if end == nil {
		return false
	}
	(*end)()
	return true
}

// Aside returns a context that an interrupt ends instead of the command, until done is called.
func (i *Interrupts) Aside(ctx context.Context) (_ context.Context, done func()) {
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

// Interrupted is the error of a command that a signal ended. It says what became of the work.
type Interrupted string

func (s Interrupted) Error() string { return string(s) }

// Is makes it a context.Canceled.
func (Interrupted) Is(target error) bool { return target == context.Canceled }

// CutShort returns err, or Interrupted(became) if ctx has ended.
func CutShort(ctx context.Context, err error, became string) error {
	if err != nil && ctx.Err() != nil {
		return Interrupted(became)
	}
	return err
}

// Interruption returns what to say of a command that a signal ended with err.
func Interruption(err error) string {
	if interrupted, ok := errors.AsType[Interrupted](err); ok {
		return string(interrupted)
	}
	return "interrupted"
}
