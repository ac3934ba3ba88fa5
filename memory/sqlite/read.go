package sqlite

import (
	"context"
	"database/sql"
	"sync"

	"hark/memory/sqlstore"
)

// statements are those that readers have prepared: that takes as long as many of them run. Whoever asks keeps
// what differs between searches in the arguments, so that there are few.
type statements struct {
	sync.Mutex
	by map[string]*sql.Stmt
}

// QueryContext implements sqlstore.Engine.
func (e *engine) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	statement, err := e.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(ctx, args...)
}

func (e *engine) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	e.statements.Lock()
	defer e.statements.Unlock()
	if statement, ok := e.statements.by[query]; ok {
		return statement, nil
	}
	statement, err := e.read.PrepareContext(ctx, query)
	if err == nil {
		if e.statements.by == nil {
			e.statements.by = map[string]*sql.Stmt{}
		}
		e.statements.by[query] = statement
	}
	return statement, err
}

// Snapshot implements sqlstore.Engine.
func (e *engine) Snapshot(ctx context.Context, read func(sqlstore.Querier) error) error {
	tx, err := e.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	return read(snapshot{e, tx})
}

// snapshot answers by the engine's statements in a transaction.
type snapshot struct {
	engine *engine
	tx     *sql.Tx
}

func (s snapshot) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	statement, err := s.engine.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.tx.StmtContext(ctx, statement).QueryContext(ctx, args...)
}
