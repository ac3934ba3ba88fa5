package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"hark/memory"
	"hark/memory/sqlstore"
)

// Watch implements sqlstore.Engine.
func (e *engine) Watch(changed func(ctx context.Context, q sqlstore.Querier, guilds []memory.GuildID,
	writing bool) error) {
	e.changed = changed
}

// everywhere is which guilds' cached state may have changed: a file doesn't say.
var everywhere = []memory.GuildID{memory.Everywhere}

// Notice implements sqlstore.Engine. It takes microseconds if nobody has written.
func (e *engine) Notice(ctx context.Context) error {
	w := &e.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	ctx = context.WithoutCancel(ctx) // interrupting would make the connection useless
	var version int64
	if err := w.version.QueryRowContext(ctx).Scan(&version); err != nil {
		return fmt.Errorf("look for the writes of others: %w", explain(err))
	}
	if version == w.seen {
		return nil
	}
	var last string
	if _, err := sqlstore.Found(w.conn.QueryRowContext(ctx,
		"SELECT value FROM meta WHERE key = 'writer'").Scan(&last)); err != nil {
		return fmt.Errorf("look for the writes of others: %w", explain(err))
	}
	// If this engine wrote last, it noticed the others then.
	if last != e.writer.name {
		err := w.read(ctx, func(q sqlstore.Querier) error { return e.changed(ctx, q, everywhere, false) })
		if err != nil {
			return fmt.Errorf("read what others wrote: %w", explain(err))
		}
	}
	w.seen = version
	return nil
}

// Latest implements sqlstore.Engine.
func (e *engine) Latest(ctx context.Context, read func(sqlstore.Querier) error) error {
	e.watch.mu.Lock()
	defer e.watch.mu.Unlock()
	return e.watch.read(ctx, read)
}

func (w *watch) read(ctx context.Context, read func(sqlstore.Querier) error) error {
	tx, err := w.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return read(watched{tx})
}

// watched is a transaction of watch's.
type watched struct{ *sql.Tx }

// In implements sqlstore.Querier.
func (w watched) In(memory.GuildID) sqlstore.Querier { return w }

// settle takes the file's version as seen, for a store that was alone so far.
func (w *watch) settle(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.version.QueryRowContext(ctx).Scan(&w.seen)
}

// close waits for a running Notice, which uses the statement.
func (w *watch) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.version == nil {
		return nil
	}
	return errors.Join(w.version.Close(), w.conn.Close())
}
