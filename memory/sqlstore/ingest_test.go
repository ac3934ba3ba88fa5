package sqlstore

import (
	"context"
	"errors"
	"sync"
	"testing"

	"hark/memory"
)

func TestCommitsAreBounded(t *testing.T) {
	t.Parallel()
	var w ingest
	for _, n := range []int{maxCommit + 1, 1, maxCommit - 1, 1, 1} {
		w.waiting = append(w.waiting, &batch{events: make([]event, n)})
	}
	for _, want := range []int{1, 2, 2, 0} {
		if got := len(w.take()); got != want {
			t.Errorf("took %d batches, want %d", got, want)
		}
	}
}

// busy is an engine that somebody else writes to.
type busy struct {
	Engine
	turn chan struct{}
}

func (b busy) WriteLock() chan struct{} { return b.turn }
func (b busy) Watch(func(ctx context.Context, q Querier, guilds []memory.GuildID, writing bool) error) {
}

// waits is a context that tells when somebody begins to wait for its end.
type waits struct {
	context.Context
	began func()
}

func (w waits) Done() <-chan struct{} {
	w.began()
	return w.Context.Done()
}

// A caller who gives up when the batch is being written already learns how that ended.
func TestGivingUpTooLate(t *testing.T) {
	t.Parallel()
	s := New(busy{turn: make(chan struct{}, 1)}, Options{Tokens: func(string) int { return 0 }})
	s.engine.WriteLock() <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	began, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- s.Apply(waits{ctx, sync.OnceFunc(func() { close(began) })}, memory.Heard{Guild: 1, Channel: 2, ID: 3})
	}()
	<-began
	taken := s.ingest.take()
	cancel()
	taken[0].done <- errors.New("as it was")
	if err := <-done; err == nil || err.Error() != "as it was" {
		t.Errorf("got %v", err)
	}
}
