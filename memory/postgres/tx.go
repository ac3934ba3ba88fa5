package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"hark/internal/lease"
	"hark/memory"
	"hark/memory/sqlstore"
)

// tx is a write transaction.
type tx struct {
	querier
	tx      *sql.Tx
	ctx     context.Context
	text    map[memory.GuildID]*textSize // changes
	changed map[string]bool              // tables in which rows were deleted or updated
	erases  bool                         // deleted text
	guilds  []memory.GuildID             // whose cached state changed
}

// takeTurn waits for other writers. A process that stops in its transaction gives up its turn before it loses its
// leases: the server ends a session that is idle in a transaction for so long. The lock on the process's row keeps
// others from taking over its jobs before the commit; renewals don't wait for it.
const takeTurn = `UPDATE turn SET version = version + 1, writer = $1
	RETURNING version, set_config('idle_in_transaction_session_timeout', '5s', true),
	(SELECT true FROM process WHERE name = $2 FOR KEY SHARE)`

// Transact implements sqlstore.Engine.
func (e *engine) Transact(ctx context.Context, f func(sqlstore.Tx) error) error {
	if e.closed {
		return errors.New("write to the database: the store is closed")
	}
	if err := e.transactFenced(context.WithoutCancel(ctx), f); err != nil {
		e.version = 0 // makes the next transaction read everything cached again
		return fmt.Errorf("write to the database: %w", explain(err))
	}
	return nil
}

// transactFenced interrupts a transaction when this process loses its leases.
func (e *engine) transactFenced(ctx context.Context, f func(sqlstore.Tx) error) error {
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
	err = e.transact(ctx, process, f)
	if err != nil && context.Cause(ctx) != nil {
		return context.Cause(ctx)
	}
	return err
}

func (e *engine) transact(ctx context.Context, process string, f func(sqlstore.Tx) error) error {
	in, err := retried(ctx, func() (*sql.Tx, error) { return e.db.BeginTx(ctx, nil) })
	if err != nil {
		return err
	}
	defer in.Rollback() // does nothing after a commit
	t := &tx{querier: querier{e, in, memory.Everywhere}, tx: in, ctx: ctx, text: map[memory.GuildID]*textSize{},
		changed: map[string]bool{}}
	var version int64
	var held sql.NullBool
	if err := in.QueryRowContext(ctx, takeTurn, e.name, process).Scan(&version, new(string), &held); err != nil {
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
	if err := f(t); err != nil {
		return err
	}
	if err := errors.Join(t.flushTextSizes(), t.noteErasable(), t.noteChanged(version)); err != nil {
		return err
	}
	if err := in.Commit(); err != nil {
		return err
	}
	e.version = version
	return nil
}

// Enter implements sqlstore.Tx.
func (t *tx) Enter(guild memory.GuildID) { t.guild = guild }

// Exec implements sqlstore.Tx.
func (t *tx) Exec(query string, args ...any) (int, error) {
	query, args = t.engine.statements.translated(t.guild, query, args)
	return t.run(query, args...)
}

// run runs a statement of PostgreSQL's and returns how many rows it changed.
func (t *tx) run(query string, args ...any) (int, error) {
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

func (t *tx) exec(query string, args ...any) error {
	_, err := t.run(query, args...)
	return err
}

func (t *tx) row(query string, args ...any) *sql.Row {
	return t.tx.QueryRowContext(t.ctx, query, args...)
}

// Changed implements sqlstore.Tx.
func (t *tx) Changed(c sqlstore.Changes) {
	t.erases, t.guilds = t.erases || c.Text, append(t.guilds, c.Guilds...)
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
