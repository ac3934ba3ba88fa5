package sqlite

import (
	"context"
	"errors"
	"time"
)

// errReaders says that text that was removed is still in the write-ahead log.
var errReaders = errors.New("somebody has been reading the database for so long that removed text can't be taken out of its write-ahead log: end what reads it and try again")

// Erase implements sqlstore.Engine: it takes what was removed out of the write-ahead log and out of unused
// parts of pages. It waits for other writers, and lets others write meanwhile. Without wait, it does so not
// so often that it would be felt.
func (e *engine) Erase(ctx context.Context, wait bool) error {
	if wait {
		if err := e.check.wait(ctx); err != nil { // which reads all the while
			return err
		}
		return e.erase(ctx)
	}
	if e.isScrubbed() || time.Now().Before(e.rest) {
		return nil
	}
	started := time.Now()
	err := e.eraseOnce(ctx)
	e.rest = time.Now().Add(restAfterScrub * time.Since(started))
	if errors.Is(err, errReaders) || errors.Is(err, errClosed) {
		return nil
	}
	return err
}

func (e *engine) erase(ctx context.Context) error {
	for end := time.Now().Add(e.writer.patience); ; {
		err := e.eraseOnce(ctx)
		if err == nil || errors.Is(err, errClosed) || time.Now().After(end) {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

var errClosed = errors.New("the database is closed")

// eraseOnce is one try. While a reader is in the way, it doesn't look through the pages.
func (e *engine) eraseOnce(ctx context.Context) error {
	if err := e.emptyLog(ctx); err != nil || e.isScrubbed() {
		return err
	}
	if err := e.scrub(ctx, e.writing); err != nil {
		return explain(err)
	}
	return e.emptyLog(ctx)
}

// emptyLog takes what was removed out of the write-ahead log.
func (e *engine) emptyLog(ctx context.Context) error {
	if err := e.takeTurn(ctx); err != nil {
		return err
	}
	defer func() { <-e.writer.turn }()
	if e.writer.closed {
		return errClosed
	}
	e.writer.removed = time.Now() // so that the next to write tries again
	return explain(e.truncateLog(ctx))
}

func (e *engine) isScrubbed() bool {
	e.writer.turn <- struct{}{}
	defer func() { <-e.writer.turn }()
	return e.writer.scrubbed
}
