package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"hark/internal/wait"
)

// Removed text stays in the write-ahead log only while somebody reads, and whoever waits gets an error.
func TestALogThatCannotBeEmptied(t *testing.T) {
	t.Parallel()
	dir := written(t)
	s, err := quick(t, dir)
	must(t, err)
	reader := raw(t, dir)
	execute(t, reader, "BEGIN")
	execute(t, reader, "SELECT count(*) FROM message")
	apply(t, s, deleted(general, 3))
	wantError(t, s.engine.erase(bg))
	s.engine.writer.lock <- struct{}{}
	ended, cancel := context.WithCancel(bg)
	cancel()
	if err := s.engine.erase(ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-s.engine.writer.lock
	s.engine.writer.busyTimeout = wait.Limit
	if err := s.engine.erase(&endsAfter{Context: bg, asked: 1}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.engine.writer.busyTimeout = time.Millisecond
	execute(t, reader, "ROLLBACK")
	if err := s.engine.erase(bg); err != nil || !s.engine.writer.removed.IsZero() {
		t.Error(err)
	}
	if info, err := os.Stat(filepath.Join(dir, FileName+"-wal")); err != nil || info.Size() != 0 {
		t.Errorf("the log: %v, %v", info, err)
	}
	closed(t, s)
	if err := s.engine.erase(bg); err == nil {
		t.Error("the log of a closed file was emptied")
	}
}

// Overlapping readers don't prevent truncating the log.
func TestTheLogIsEmptiedBesideManyReaders(t *testing.T) {
	t.Parallel()
	s := open(t, written(t))
	end := reading(t, s)
	ctx, stop := context.WithCancel(bg)
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			next, err := s.engine.read.BeginTx(bg, nil)
			if err == nil {
				err = next.QueryRow("SELECT count(*) FROM message").Scan(new(int))
			}
			if err != nil {
				t.Error(err)
				return
			}
			end()
			end = func() { _ = next.Rollback() }
		}
		end()
	})
	defer running.Wait()
	defer stop()
	for n := range 5 {
		apply(t, s, deleted(general, n))
		must(t, s.engine.erase(bg))
	}
}

// endsAfter is a context that ends after it was checked some times.
type endsAfter struct {
	context.Context
	asked int
}

func (c *endsAfter) Done() <-chan struct{} {
	ended := make(chan struct{})
	if c.asked--; c.asked < 0 {
		close(ended)
	}
	return ended
}

func (c *endsAfter) Err() error { return context.Canceled }
