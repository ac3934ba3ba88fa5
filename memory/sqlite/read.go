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

// statement is a query that is prepared, or prepares it, which takes a connection: nobody waits for that with the lock.
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
	if other := e.statements.by[query]; other != nil { // which was prepared meanwhile
		return other, statement.Close()
	}
	if e.statements.by == nil {
		e.statements.by = map[string]*sql.Stmt{}
	}
	e.statements.by[query] = statement
	return statement, nil
}

// prepared is a query that was prepared; nil if it wasn't.
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
		_ = tx.Rollback() // nothing was written
		for _, query := range s.fresh {
			_, _ = e.statement(ctx, query) // for the next one
		}
	}()
	return read(&s)
}

// snapshot answers by the engine's statements in a transaction. It has a connection and waits for no other, which may
// be with those who wait for its own: what isn't prepared yet is prepared afterwards.
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
