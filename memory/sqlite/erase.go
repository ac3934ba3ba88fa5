package sqlite

import (
	"context"
	"errors"
	"time"
)

// maxDirty is how many pages may be dirty, so that a caller who waits for Erase waits briefly.
const maxDirty = 2000

// Erase implements sqlstore.Engine: it zeroes what was removed and truncates the write-ahead log. Others can write
// meanwhile. Without wait it runs seldom enough not to be felt, even if no text was removed, to leave little work
// for when some is.
func (e *engine) Erase(ctx context.Context, wait bool) error {
	if wait {
		if err := e.check.wait(ctx); err != nil { // the check reads all the while
			return err
		}
		return e.erase(ctx)
	}
	if time.Now().Before(e.eraseAfter) {
		return nil
	}
	due := false
	if err := e.withWriteLock(ctx, func(w *writer) error {
		due = !w.zeroed || !w.dirty.known || w.dirty.pages.count() > maxDirty
		return nil
	}); err != nil || !due {
		return err
	}
	started := time.Now()
	err := e.zeroFreed(ctx, e.writing)
	if err == nil {
		err = e.lockAndTruncateLog(ctx, 0)
	}
	e.eraseAfter = time.Now().Add(restAfterZeroing * time.Since(started))
	if errors.Is(err, errLogInUse) || errors.Is(err, errClosed) {
		return nil
	}
	return explain(err)
}

// erase waits for readers under the write lock, twice as long after each failure.
func (e *engine) erase(ctx context.Context) error {
	zeroed := false
	err := e.withWriteLock(ctx, func(w *writer) error { zeroed = w.zeroed; return nil })
	if err == nil && !zeroed {
		err = e.zeroFreed(ctx, e.writing)
	}
	if err != nil {
		return explain(err)
	}
	end := time.Now().Add(e.writer.busyTimeout)
	for wait := 25 * time.Millisecond; ; wait *= 2 {
		err := e.lockAndTruncateLog(ctx, min(wait, time.Until(end)))
		if !errors.Is(err, errLogInUse) || time.Now().After(end) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

var errClosed = errors.New("the database is closed")

// lockAndTruncateLog truncates the write-ahead log, under the write lock.
func (e *engine) lockAndTruncateLog(ctx context.Context, wait time.Duration) error {
	return e.withWriteLock(ctx, func(w *writer) error {
		w.removed = time.Now() // makes the next writer try again
		return explain(e.truncateLog(ctx, max(0, wait)))
	})
}

func (e *engine) withWriteLock(ctx context.Context, f func(*writer) error) error {
	if err := e.acquireWriteLock(ctx); err != nil {
		return err
	}
	defer func() { <-e.writer.lock }()
	if e.writer.closed {
		return errClosed
	}
	return f(&e.writer)
}

// Rewrite implements sqlstore.Engine: Erase leaves nothing.
func (e *engine) Rewrite(context.Context, []string) error { return nil }
