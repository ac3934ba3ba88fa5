package sqlite

import (
	"context"
	"database/sql"

	"hark/memory/sqlstore"
)

// QueryContext implements sqlstore.Engine.
func (e *engine) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	statement, err := e.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(ctx, args...)
}

// statement returns a prepared query. It prepares without the lock, because it may wait for a connection.
func (e *engine) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if statement := e.prepared(query); statement != nil {
		return statement, nil
	}
	statement, err := e.read.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	e.statements.Lock()
	defer e.statements.Unlock()
	if other := e.statements.by[query]; other != nil { // prepared meanwhile
		return other, statement.Close()
	}
	if e.statements.by == nil {
		e.statements.by = map[string]*sql.Stmt{}
	}
	e.statements.by[query] = statement
	return statement, nil
}

func (e *engine) prepared(query string) *sql.Stmt {
	e.statements.Lock()
	defer e.statements.Unlock()
	return e.statements.by[query]
}

// Snapshot implements sqlstore.Engine.
func (e *engine) Snapshot(ctx context.Context, read func(sqlstore.Querier) error) error {
	tx, err := e.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	s := snapshot{engine: e, tx: tx}
	defer func() {
		_ = tx.Rollback() // it only reads
		for _, query := range s.fresh {
			_, _ = e.statement(ctx, query) // for the next snapshot
		}
	}()
	return read(&s)
}

// snapshot runs the engine's statements in a transaction. It prepares missing ones afterwards: waiting for a
// second connection could deadlock, because its holder may wait for another too.
type snapshot struct {
	engine *engine
	tx     *sql.Tx
	fresh  []string
}

func (s *snapshot) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if statement := s.engine.prepared(query); statement != nil {
		return s.tx.StmtContext(ctx, statement).QueryContext(ctx, args...)
	}
	s.fresh = append(s.fresh, query)
	return s.tx.QueryContext(ctx, query, args...)
}
