package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// watch sees what other processes commit, so that nobody is answered from memory what the file no longer says.
type watch struct {
	mu   sync.Mutex
	conn *sql.Conn // of its own: each connection has its own PRAGMA data_version
	seen int64     // its last value
}

// notice throws away what is held in memory if another process has written since. It takes microseconds if
// none has.
func (s *Store) notice(ctx context.Context) error {
	w := &s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	ctx = context.WithoutCancel(ctx) // an interrupted connection is of no use any more
	var version int64
	if err := w.conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version); err != nil {
		return fmt.Errorf("look for the writes of others: %w", explain(err))
	}
	if version == w.seen {
		return nil
	}
	var last string
	if _, err := found(w.conn.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = 'writer'").Scan(&last)); err != nil {
		return fmt.Errorf("look for the writes of others: %w", explain(err))
	}
	// If the last to write was this store itself, it noticed the others then.
	if last != s.writer.name {
		if err := errors.Join(s.loadSpace(ctx), s.reloadLocked(ctx)); err != nil {
			return fmt.Errorf("read what others wrote: %w", explain(err))
		}
		s.wakeUp()
	}
	w.seen = version
	return nil
}

// Version implements memory.Store.
func (s *Store) Version(ctx context.Context) (int64, error) {
	w := &s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	var version int64
	if err := w.conn.QueryRowContext(context.WithoutCancel(ctx), "PRAGMA data_version").Scan(&version); err != nil {
		return 0, fmt.Errorf("look for writes: %w", explain(err))
	}
	return s.published.Load()<<32 | version&(1<<32-1), nil
}

// settle takes what the file says now as noticed, for a store that was alone since it read it.
func (w *watch) settle(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&w.seen)
}

func (w *watch) close() error {
	if w.conn == nil {
		return nil
	}
	return w.conn.Close()
}
