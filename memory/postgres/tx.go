package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"hark/memory"
	"hark/memory/sqlstore"
)

// tx is a write transaction.
type tx struct {
	querier
	tx     *sql.Tx
	ctx    context.Context
	text   map[memory.GuildID]*textSize // changes
	erases bool                         // deleted text
	guilds []memory.GuildID             // whose cached state changed
}

// takeTurn waits for other writers. A process that stops in its transaction gives up its turn: the server ends a
// session that is idle in a transaction for so long.
const takeTurn = `UPDATE turn SET version = version + 1, writer = $1
	RETURNING version, set_config('idle_in_transaction_session_timeout', '15s', true)`

// Transact implements sqlstore.Engine.
func (e *engine) Transact(ctx context.Context, f func(sqlstore.Tx) error) error {
	if e.closed {
		return errors.New("write to the database: the store is closed")
	}
	if err := e.transact(context.WithoutCancel(ctx), f); err != nil {
		e.version = 0 // makes the next transaction read everything cached again
		return fmt.Errorf("write to the database: %w", explain(err))
	}
	return nil
}

func (e *engine) transact(ctx context.Context, f func(sqlstore.Tx) error) error {
	in, err := e.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer in.Rollback() // does nothing after a commit
	t := &tx{querier: querier{e, in, memory.Everywhere}, tx: in, ctx: ctx, text: map[memory.GuildID]*textSize{}}
	var version int64
	if err := in.QueryRowContext(ctx, takeTurn, e.name).Scan(&version, new(string)); err != nil {
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
	r, err := t.tx.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	return int(n), err
}

// exec runs a statement of PostgreSQL's own.
func (t *tx) exec(query string, args ...any) error {
	_, err := t.tx.ExecContext(t.ctx, query, args...)
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
