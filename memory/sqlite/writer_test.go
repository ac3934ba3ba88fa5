package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/internal/wait"
	"hark/memory"
	"hark/memory/memorytest"
)

type waitingContext struct {
	context.Context
	waits chan struct{} // closed then
	once  func()
}

func waiting(ctx context.Context) *waitingContext {
	c := &waitingContext{Context: ctx, waits: make(chan struct{})}
	c.once = sync.OnceFunc(func() { close(c.waits) })
	return c
}

func (c *waitingContext) Done() <-chan struct{} {
	c.once()
	return c.Context.Done()
}

// queue applies an event in another goroutine, and returns once it waits for the write lock, which the
// caller holds.
func queue(t *testing.T, ctx context.Context, s *Store, e memory.Event) <-chan error {
	t.Helper()
	done, waits := make(chan error, 1), waiting(ctx)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("panic: %v", r)
			}
		}()
		done <- s.Apply(waits, e)
	}()
	wait.For(t, "a batch to wait for the turn", waits.waits)
	return done
}

// Batches that wait during a write are committed together, and each caller gets its own result.
func TestConcurrentGroupCommit(t *testing.T) {
	t.Parallel()
	const n = 60
	s := open(t, emptyDir(t))
	s.engine.writer.lock <- struct{}{} // somebody writes
	ctx, cancel := context.WithCancel(t.Context())
	outcomes := make([]<-chan error, n)
	for i := range n {
		c := t.Context()
		if i%3 == 0 {
			c = ctx
		}
		outcomes[i] = queue(t, c, s, posted(general, i, fmt.Sprintf("apples a%dz", i)))
	}
	if err := s.Apply(t.Context(), memory.Posted{}); !errors.Is(err, memory.ErrRefused) {
		t.Error(err)
	}
	cancel()
	outcome := make([]error, n)
	for i := 0; i < n; i += 3 {
		outcome[i] = wait.For(t, "who gave up", outcomes[i])
	}
	<-s.engine.writer.lock
	for i := range n {
		if i%3 > 0 {
			outcome[i] = wait.For(t, "a batch to be written", outcomes[i])
		}
	}
	for i, err := range outcome {
		if i%3 == 0 {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the caller of batch %d gave up and got %v", i, err)
			}
		} else if err != nil {
			t.Errorf("batch %d: %v", i, err)
		}
		want := 1
		if i%3 == 0 {
			want = 0
		}
		if got := find(t, s, in(general), fmt.Sprintf("a%dz", i)); len(got) != want {
			t.Errorf("message %d is found %d times, want %d", i, len(got), want)
		}
	}
	checkSound(t, s)
}

// A panic in a transaction undoes it, is an error to the others, and leaves the store usable.
func TestConcurrentPanic(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), emptyDir(t), Options{Space: memorytest.Embedder{}.Space(),
		Tokens: func(text string) int {
			if strings.HasPrefix(text, "boom") {
				panic("the counter broke")
			}
			return 1
		}})
	must(t, err)
	defer s.Close()
	apply(t, s, posted(general, 1, "apples"))
	s.engine.writer.lock <- struct{}{}
	outcomes := []<-chan error{queue(t, bg, s, posted(general, 2, "apples")),
		queue(t, bg, s, edited(general, 1, "boom"))}
	<-s.engine.writer.lock
	for _, outcome := range outcomes {
		if err := wait.For(t, "what was queued", outcome); err == nil {
			t.Error("a panic is no error")
		}
	}
	apply(t, s, posted(general, 3, "apples"))
	if got := find(t, s, in(general), "apples"); len(got) != 2 {
		t.Errorf("found %v", got)
	}
	checkSound(t, s)
}

// A writer that is never idle still truncates the log after a while.
func TestABusyWriterEmptiesTheLog(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	for _, c := range []struct {
		since time.Duration
		clean bool
	}{{-time.Hour, false}, {2 * longRemoved, true}} {
		s.engine.writer.lock <- struct{}{}
		s.engine.writer.removed = time.Now().Add(-c.since)
		s.engine.ReleaseWriteLock(false)
		if got := s.engine.writer.removed.IsZero(); got != c.clean {
			t.Errorf("%s after a removal the log is empty: %v", c.since, got)
		}
	}
}
