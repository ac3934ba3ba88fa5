package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hark/internal/lease"
	"hark/memory/sqlstore"
)

// WriteLock implements sqlstore.Engine.
func (e *engine) WriteLock() chan struct{} { return e.writer.lock }

func (e *engine) acquireWriteLock(ctx context.Context) error {
	select {
	case e.writer.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *engine) writing(ctx context.Context, f func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := e.acquireWriteLock(ctx); err != nil {
		return err
	}
	defer e.ReleaseWriteLock(true)
	return e.transact(ctx, f)
}

// Transact implements sqlstore.Engine. ctx doesn't interrupt it: the driver can't tell whether an interrupted
// statement took effect.
func (e *engine) Transact(ctx context.Context, lasting bool, f func(sqlstore.Tx) error) error {
	do := func() error { return e.transact(ctx, func(t *tx) error { return f(t) }) }
	if !lasting {
		return do()
	}
	return e.lastingly(ctx, do)
}

// How a commit is written: to the write-ahead log, which outlives the process, or through to the disk.
const (
	syncAtCheckpoints = "PRAGMA synchronous = 1"
	syncAtCommits     = "PRAGMA synchronous = 2"
)

// lastingly does what commits, and has the commits written through to the disk, with all before them. It isn't a prepared
// statement, because SQLite obeys this pragma when it is prepared.
func (e *engine) lastingly(ctx context.Context, do func() error) error {
	if e.writer.closed {
		return do() // which says so
	}
	ctx = context.WithoutCancel(ctx)
	if _, err := e.write.ExecContext(ctx, syncAtCommits); err != nil {
		return fmt.Errorf("write to the database: %w", explain(err))
	}
	defer func() { _, _ = e.write.ExecContext(ctx, syncAtCheckpoints) }() // if it fails, commits are only slower
	return do()
}

// transact runs f in a transaction that ctx doesn't interrupt. The caller holds the write lock.
func (e *engine) transact(ctx context.Context, f func(*tx) error) error {
	if e.writer.closed {
		return errors.New("write to the database: the store is closed")
	}
	if e.writer.damage != nil {
		return fmt.Errorf("write to the database: %w", e.writer.damage)
	}
	t := &tx{ctx: context.WithoutCancel(ctx), engine: e}
	err := t.run(f)
	if err == nil {
		e.writer.dirty.note()
		if t.Text && e.writer.dirty.at == 0 {
			e.writer.dirty.markUnknown() // another process emptied the log first
		}
		for _, number := range t.zeroed {
			e.writer.dirty.pages.remove(number)
		}
		e.noteRemovals(t)
	}
	if err != nil {
		e.writer.forget() // the caches may hold what wasn't committed
		return fmt.Errorf("write to the database: %w", explain(err))
	}
	return nil
}

func (t *tx) run(f func(*tx) error) error {
	if err := t.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed {
			t.engine.writer.forget()
			_ = t.exec("ROLLBACK") // fails if SQLite has rolled back itself, as on a full disk
		}
	}()
	if err := t.refreshIfChanged(); err != nil {
		return err
	}
	if err := f(t); err != nil {
		return err
	}
	if t.inBulk {
		if err := t.setSecureDelete(true); err != nil {
			return err
		}
	}
	if t.Text && t.engine.writer.zeroed {
		if err := t.exec("DELETE FROM meta WHERE key = '" + zeroedKey + "'"); err != nil {
			return err
		}
		t.engine.writer.zeroed = false
	}
	if err := t.exec("COMMIT"); err != nil {
		return err
	}
	committed = true
	return nil
}

// refreshIfChanged drops the caches if another process has written, and records who writes now.
func (t *tx) refreshIfChanged() error {
	var version int64
	if err := t.row("PRAGMA data_version").Scan(&version); err != nil {
		return err
	}
	e := t.engine
	if e.writer.version == version {
		return nil
	}
	e.writer.version = version
	t.othersWrote = true
	e.writer.dirty.markUnknown()
	var err error
	e.writer.zeroed, err = sqlstore.Found(t.row(readZeroed).Scan(new(int)))
	if err != nil {
		return err
	}
	if err := t.exec("INSERT OR REPLACE INTO meta VALUES ('writer', ?)", e.writer.name); err != nil {
		return err
	}
	return e.Latest(t.ctx, func(q sqlstore.Querier) error { return e.changed(t.ctx, q, everywhere, true) })
}

// noteRemovals notes after a commit that removed text may be in the write-ahead log.
func (e *engine) noteRemovals(t *tx) {
	if t.Text || t.othersWrote {
		e.writer.removals++
		if e.writer.removed.IsZero() {
			e.writer.removed = time.Now()
		}
	}
}

func (w *writer) close() error {
	var errs []error
	for _, s := range w.statements {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// forget makes the next transaction read everything cached again.
func (w *writer) forget() {
	w.version = 0
	w.zeroed = false
}

// longRemoved is how long a writer that is never idle leaves removed text in the write-ahead log.
const longRemoved = 5 * time.Second

// ReleaseWriteLock implements sqlstore.Engine. The last writer before a pause truncates the write-ahead log,
// which may hold removed text.
func (e *engine) ReleaseWriteLock(idle bool) {
	w := &e.writer
	if !w.closed && !w.removed.IsZero() && (idle || time.Since(w.removed) > longRemoved) {
		_ = e.truncateLog(context.Background(), 0) // if it fails, the next write or Pending tries again
	}
	<-w.lock
}

// tryTruncateLog truncates the log, unless an active writer will.
func (e *engine) tryTruncateLog() {
	select {
	case e.writer.lock <- struct{}{}:
		e.ReleaseWriteLock(true)
	default:
	}
}

// truncateLog checkpoints and truncates the write-ahead log. It waits up to wait for readers that began before.
// If one remains, the next write, Pending or open tries again. The caller holds the write lock.
func (e *engine) truncateLog(ctx context.Context, wait time.Duration) error {
	if err := e.setBusyTimeout(ctx, wait); err != nil {
		return err
	}
	defer func() { _ = e.setBusyTimeout(ctx, e.writer.busyTimeout) }()
	e.writer.dirty.note()
	var busy, pages, moved int
	err := e.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	if err == nil && busy > 0 {
		err = errLogInUse
	}
	if err == nil {
		e.writer.removed = time.Time{}
		e.writer.dirty.logTruncated()
	}
	return err
}

func (e *engine) setBusyTimeout(ctx context.Context, wait time.Duration) error {
	_, err := e.write.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", wait.Milliseconds()))
	return err
}

// Leases implements sqlstore.Engine: only one process runs the bot on a data directory.
func (e *engine) Leases() lease.Table { return e.leases }

// Explain implements sqlstore.Engine.
func (e *engine) Explain(err error) error { return explain(err) }

// zeroedKey is in meta while no text was removed since the dirty pages were last zeroed.
const zeroedKey = "zeroed"

const readZeroed = "SELECT 1 FROM meta WHERE key = '" + zeroedKey + "'"

// transact writes: engine.writing, or engine.transact for the holder of the write lock.
type transact func(ctx context.Context, f func(*tx) error) error
