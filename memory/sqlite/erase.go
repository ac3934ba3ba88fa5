package sqlite

import (
	"context"
	"errors"
	"time"
)

// errReaders says that text that was removed is still in the write-ahead log.
var errReaders = errors.New("somebody has been reading the database for so long that removed text can't be taken out of its write-ahead log: end what reads it and try again")

// manyDirty is how many pages may be dirty, so that overwriting them holds up nobody who waits for it.
const manyDirty = 2000

// Erase implements sqlstore.Engine: it takes what was removed out of unused parts of pages and out of the write-ahead
// log. It waits for other writers, and lets others write meanwhile. Without wait, it does so not so often that
// it would be felt, and also if no text was removed, so that there will be little to do when some is.
func (e *engine) Erase(ctx context.Context, wait bool) error {
	if wait {
		if err := e.check.wait(ctx); err != nil { // which reads all the while
			return err
		}
		return e.erase(ctx)
	}
	if time.Now().Before(e.rest) {
		return nil
	}
	due := false
	if err := e.inTurn(ctx, func(w *writer) error {
		due = !w.scrubbed || !w.dirty.known || w.dirty.pages.Count() > manyDirty
		return nil
	}); err != nil || !due {
		return err
	}
	started := time.Now()
	err := e.scrub(ctx, e.writing)
	if err == nil {
		err = e.emptyLog(ctx, 0)
	}
	e.rest = time.Now().Add(restAfterScrub * time.Since(started))
	if errors.Is(err, errReaders) || errors.Is(err, errClosed) {
		return nil
	}
	return explain(err)
}

// erase waits the longer for readers, while nobody writes, the more often one was in the way.
func (e *engine) erase(ctx context.Context) error {
	scrubbed := false
	err := e.inTurn(ctx, func(w *writer) error { scrubbed = w.scrubbed; return nil })
	if err == nil && !scrubbed {
		err = e.scrub(ctx, e.writing)
	}
	if err != nil {
		return explain(err)
	}
	end := time.Now().Add(e.writer.patience)
	for wait := 25 * time.Millisecond; ; wait *= 2 {
		err := e.emptyLog(ctx, min(wait, time.Until(end)))
		if !errors.Is(err, errReaders) || time.Now().After(end) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

var errClosed = errors.New("the database is closed")

// emptyLog takes what was removed out of the write-ahead log.
func (e *engine) emptyLog(ctx context.Context, wait time.Duration) error {
	return e.inTurn(ctx, func(w *writer) error {
		w.removed = time.Now() // so that the next to write tries again
		return explain(e.truncateLog(ctx, max(0, wait)))
	})
}

// inTurn calls f while nobody writes.
func (e *engine) inTurn(ctx context.Context, f func(*writer) error) error {
	if err := e.takeTurn(ctx); err != nil {
		return err
	}
	defer func() { <-e.writer.turn }()
	if e.writer.closed {
		return errClosed
	}
	return f(&e.writer)
}
