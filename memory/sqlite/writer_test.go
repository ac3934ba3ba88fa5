package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/memory"
	"hark/memory/memorytest"
)

// queued waits until so many batches wait for the turn, which the caller holds.
func queued(s *Store, n int) {
	for {
		s.writer.mu.Lock()
		waiting := len(s.writer.waiting)
		s.writer.mu.Unlock()
		if waiting == n {
			return
		}
		runtime.Gosched()
	}
}

// Batches that wait while another is written are committed together; each caller learns of its own.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	const n = 60
	s := open(t, t.TempDir())
	s.writer.turn <- struct{}{} // somebody writes
	ctx, cancel := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	outcome := make([]error, n)
	for i := range n {
		callers.Go(func() {
			c := t.Context()
			if i%3 == 0 {
				c = ctx
			}
			outcome[i] = s.Apply(c, posted(general, i, fmt.Sprintf("apples a%dz", i)))
		})
	}
	queued(s, n)
	wantError(t, s.Apply(t.Context(), memory.Posted{}), "no id or no channel")
	cancel()
	queued(s, n-n/3)
	<-s.writer.turn
	callers.Wait()
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

func TestCommitsAreBounded(t *testing.T) {
	t.Parallel()
	var w writer
	for _, n := range []int{maxCommit + 1, 1, maxCommit - 1, 1, 1} {
		w.waiting = append(w.waiting, &batch{events: make([]event, n)})
	}
	for _, want := range []int{1, 2, 2, 0} {
		if got := len(w.take()); got != want {
			t.Errorf("took %d batches, want %d", got, want)
		}
	}
}

// A caller who gives up when the batch is being written already learns how that ended.
func TestGivingUpTooLate(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	s.writer.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Apply(ctx, posted(general, 1, "apples")) }()
	queued(s, 1)
	taken := s.writer.take()
	cancel()
	taken[0].done <- errors.New("as it was")
	if err := <-done; err == nil || err.Error() != "as it was" {
		t.Errorf("got %v", err)
	}
	<-s.writer.turn
}

func TestGivingUpWaitingForTheTurn(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	s.writer.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.KeepTrace(ctx, memory.Trace{Channel: general, Answer: id(1)}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-s.writer.turn
}

// Whatever isn't an event fails by itself, with a sentence, before it disturbs anybody.
func TestBadEvents(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	good := posted(general, 1, "apples")
	for _, c := range []struct {
		bad  memory.Event
		want string
	}{
		{nil, "unknown type <nil>"},
		{&good, "unknown type *memory.Posted"},
		{memory.Posted{Message: memory.Message{ID: 1}}, "no id or no channel"},
		{memory.Posted{Message: memory.Message{Channel: 1}}, "no id or no channel"},
	} {
		wantError(t, s.Apply(t.Context(), good, c.bad), c.want)
	}
	if got := find(t, s, in(general), "apples"); len(got) > 0 {
		t.Error("half a batch was written")
	}
	if err := s.Apply(t.Context()); err != nil {
		t.Errorf("nothing to apply: %v", err)
	}
}

// A panic in the midst of a transaction undoes it, is an error to the others, and leaves the store usable.
func TestAPanicWhileWriting(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), t.TempDir(), Options{Space: memorytest.Embedder{}.Space(), Tokens: func(text string) int {
		if strings.HasPrefix(text, "boom") {
			panic("the counter broke")
		}
		return 1
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	apply(t, s, posted(general, 1, "apples"))
	s.writer.turn <- struct{}{}
	outcomes := make(chan error, 2)
	for _, e := range []memory.Event{posted(general, 2, "apples"), edited(general, 1, "boom")} {
		go func() {
			defer func() {
				if r := recover(); r != nil {
					outcomes <- fmt.Errorf("panic: %v", r)
				}
			}()
			outcomes <- s.Apply(context.Background(), e)
		}()
	}
	queued(s, 2)
	<-s.writer.turn
	for range 2 {
		wantError(t, <-outcomes, "panic")
	}
	apply(t, s, posted(general, 3, "apples"))
	if got := find(t, s, in(general), "apples"); len(got) != 2 {
		t.Errorf("found %v", got)
	}
	checkSound(t, s)
}

// With the file closed under it a store says so; what was acknowledged is there when it is opened again.
func TestWritingToAClosedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	apply(t, s, posted(general, 1, "apples"))
	if err := s.write.Close(); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.Apply(t.Context(), posted(general, 2, "apples")), "write to the database")
	if err := s.Close(); err == nil {
		t.Error("closing says nothing of it")
	}
	again := open(t, dir)
	apply(t, again, posted(general, 2, "apples"))
	if got := find(t, again, in(general), "apples"); len(got) != 2 {
		t.Errorf("found %v", got)
	}
}

// A writer that always has more to do empties the log all the same, after a while.
func TestABusyWriterEmptiesTheLog(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for _, c := range []struct {
		since time.Duration
		clean bool
	}{{0, false}, {2 * longRemoved, true}} {
		s.writer.turn <- struct{}{}
		s.writer.waiting = []*batch{{}}
		s.writer.removed = time.Now().Add(-c.since)
		s.endTurn()
		if got := s.writer.removed.IsZero(); got != c.clean {
			t.Errorf("%s after a removal the log is empty: %v", c.since, got)
		}
	}
	s.writer.waiting = nil
}
