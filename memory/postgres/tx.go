package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"hark/internal/lease"
	"hark/memory"
	"hark/memory/sqlstore"
)

// tx is a write transaction.
type tx struct {
	querier
	conn    *sql.Conn // of tx
	tx      *sql.Tx
	ctx     context.Context
	queued  pgx.Batch                    // sent before the next statement
	text    map[memory.GuildID]*textSize // changes
	changed map[string]bool              // tables in which rows were deleted or updated
	erases  bool                         // deleted text
	guilds  []memory.GuildID             // whose cached state changed
}

// takeTurn waits for other writers. A process that stops in its transaction gives up its turn before it loses its
// leases: the server ends a session that is idle in a transaction for so long. The lock on the process's row keeps
// others from taking over its jobs before the commit; renewals don't wait for it.
const takeTurn = `UPDATE turn SET version = version + 1, writer = $1
	RETURNING version, set_config('idle_in_transaction_session_timeout', $3, true),
	(SELECT true FROM process WHERE name = $2 FOR KEY SHARE)`

// commitsLastingly has a transaction wait until its commit is on the server's disk, where synchronous_commit is off.
const commitsLastingly = `SELECT set_config('synchronous_commit', 'on', true)
	WHERE current_setting('synchronous_commit') = 'off'`

// Transact implements sqlstore.Engine.
func (e *engine) Transact(ctx context.Context, lasting bool, f func(sqlstore.Tx) error) error {
	if e.closed {
		return errors.New("write to the database: the store is closed")
	}
	if err := e.transactFenced(context.WithoutCancel(ctx), lasting, f); err != nil {
		e.version = 0 // makes the next transaction read everything cached again
		return fmt.Errorf("write to the database: %w", explain(err))
	}
	return nil
}

// transactFenced interrupts a transaction when this process loses its leases.
func (e *engine) transactFenced(ctx context.Context, lasting bool, f func(sqlstore.Tx) error) error {
	process, lost, err := e.leases.fence()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil) // ends the goroutine
	go func() {
		select {
		case <-lost:
			cancel(lease.ErrLost)
		case <-ctx.Done():
		}
	}()
	err = e.transact(ctx, process, lasting, f)
	if err != nil && context.Cause(ctx) != nil {
		return context.Cause(ctx)
	}
	return err
}

func (e *engine) transact(ctx context.Context, process string, lasting bool, f func(sqlstore.Tx) error) error {
	t, err := retried(ctx, func() (*tx, error) { return e.begin(ctx) })
	if err != nil {
		return err
	}
	defer t.conn.Close()
	defer t.tx.Rollback() // does nothing after a commit
	var version int64
	var held sql.NullBool
	turn := t.tx.QueryRowContext(ctx, takeTurn, e.name, process, idle)
	if err := turn.Scan(&version, new(string), &held); err != nil {
		return err
	}
	if err := e.leases.isHeld(process, held); err != nil {
		return err
	}
	if version != e.version+1 {
		guilds, err := changedSince(ctx, t, e.version)
		if err != nil {
			return err
		}
		e.watch.mu.Lock()
		err = e.watch.changed(ctx, t, guilds, true)
		e.watch.mu.Unlock()
		if err != nil {
			return err
		}
	}
	if lasting {
		if err := t.exec(commitsLastingly); err != nil {
			return err
		}
	}
	if err := f(t); err != nil {
		return err
	}
	for _, end := range []func() error{t.flushTextSizes, t.flush, t.noteErasable,
		func() error { return t.noteChanged(version) }, t.flush, t.tx.Commit} {
		if err := end(); err != nil {
			return err
		}
	}
	e.version = version
	return nil
}

func (e *engine) begin(ctx context.Context) (*tx, error) {
	conn, err := e.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	in, err := conn.BeginTx(ctx, nil)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	t := &tx{
		conn:    conn,
		tx:      in,
		ctx:     ctx,
		text:    map[memory.GuildID]*textSize{},
		changed: map[string]bool{},
	}
	t.querier = querier{e, flushing{t}}
	return t, nil
}

// flushing reads in a transaction.
type flushing struct{ *tx }

func (f flushing) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := f.flush(); err != nil {
		return nil, err
	}
	f.changed[tableChanged(query)] = true // by DELETE … RETURNING
	return f.tx.tx.QueryContext(ctx, query, args...)
}

// Exec implements sqlstore.Tx.
func (t *tx) Exec(query string, args ...any) (int, error) {
	query, args = t.engine.statements.translated(query, args)
	return t.run(query, args...)
}

// Later implements sqlstore.Tx.
func (t *tx) Later(query string, args ...any) error {
	query, args = t.engine.statements.translated(query, args)
	return t.exec(query, args...)
}

// mostQueued is how many statements are sent at once.
const mostQueued = 500

// exec queues a statement of PostgreSQL's.
func (t *tx) exec(query string, args ...any) error {
	t.queued.Queue(query, args...)
	if t.queued.Len() < mostQueued {
		return nil
	}
	return t.flush()
}

// flush sends what is queued, without waiting for each statement.
func (t *tx) flush() error {
	if t.queued.Len() == 0 {
		return nil
	}
	batch := t.queued
	t.queued = pgx.Batch{}
	return t.conn.Raw(func(conn any) error {
		results := conn.(*stdlib.Conn).Conn().SendBatch(t.ctx, &batch)
		for _, q := range batch.QueuedQueries {
			done, err := results.Exec()
			if err != nil {
				return errors.Join(err, results.Close())
			}
			if done.RowsAffected() > 0 {
				t.changed[tableChanged(q.SQL)] = true
			}
		}
		return results.Close()
	})
}

// run runs a statement of PostgreSQL's and returns how many rows it changed.
func (t *tx) run(query string, args ...any) (int, error) {
	if err := t.flush(); err != nil {
		return 0, err
	}
	r, err := t.tx.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	if n > 0 {
		t.changed[tableChanged(query)] = true
	}
	return int(n), err
}

// Changed implements sqlstore.Tx.
func (t *tx) Changed(c sqlstore.Changes) {
	t.erases = t.erases || c.Text
	t.guilds = append(t.guilds, c.Guilds...)
}

// noteChanged tells other processes whose cached state this transaction, which has that version, changed.
func (t *tx) noteChanged(version int64) error {
	for _, guild := range t.guilds {
		if err := t.exec(`INSERT INTO changed (guild, version) VALUES ($1, $2)
			ON CONFLICT (guild) DO UPDATE SET version = excluded.version`, int64(guild), version); err != nil {
			return err
		}
	}
	return nil
}

// textSize is how much full text holds of a guild, or a change to it.
type textSize struct{ messages, terms int64 }

// noteErasable records which tables this transaction left deleted text in.
func (t *tx) noteErasable() error {
	if !t.erases {
		return nil
	}
	if t.changed["embedding"] || t.changed["embedding_next"] { // the two change places
		t.changed["embedding"] = true
		t.changed["embedding_next"] = true
	}
	tables := make([]string, 0, len(t.changed))
	for table := range t.changed {
		if table != "" && table != "turn" && table != "vector_version" {
			tables = append(tables, table)
		}
	}
	return t.exec(`INSERT INTO erasable (name, by) SELECT unnest($1::text[]), pg_current_xact_id()
		ON CONFLICT (name) DO UPDATE SET by = excluded.by`, tables)
}
