package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"hark/memory/sqlstore"
)

// tx is a write transaction.
type tx struct {
	querier
	ctx     context.Context
	text    map[int64]*textSize // changes, by guild number
	changed map[string]bool     // tables in which rows were deleted or updated
	erases  bool                // deleted text
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
	t := &tx{querier: querier{e, in}, ctx: ctx, text: map[int64]*textSize{}, changed: map[string]bool{}}
	var version int64
	if err := in.QueryRowContext(ctx, takeTurn, e.name).Scan(&version, new(string)); err != nil {
		return err
	}
	if version != e.version+1 {
		e.watch.mu.Lock()
		err := e.watch.changed(ctx, t, true)
		e.watch.mu.Unlock()
		if err != nil {
			return err
		}
	}
	if err := f(t); err != nil {
		return err
	}
	if err := errors.Join(t.flushTextSizes(), t.noteErasable()); err != nil {
		return err
	}
	if err := in.Commit(); err != nil {
		return err
	}
	e.version = version
	return nil
}

// Exec implements sqlstore.Tx.
func (t *tx) Exec(query string, args ...any) (int, error) {
	query, args = t.engine.statements.translated(query, args)
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
func (t *tx) Changed(c sqlstore.Changes) { t.erases = t.erases || c.Text }
