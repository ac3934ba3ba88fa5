package sqlite

import (
	"context"
	"database/sql"
)

// tx is a transaction of the engine's under way.
type tx struct {
	ctx    context.Context
	engine *engine
	others bool // somebody else had written before
	text   bool // text was removed
	space  bool // another space is in use, or numbers of segments may come to others
	// gone are segments that have no vector now, put are new vectors in the space in use.
	gone []int64
	put  []storedVector
}

func (t *tx) statement(query string) (*sql.Stmt, error) {
	w := &t.engine.writer
	if s, ok := w.statements[query]; ok {
		return s, nil
	}
	s, err := t.engine.write.PrepareContext(t.ctx, query)
	if err != nil {
		return nil, err
	}
	if w.statements == nil {
		w.statements = map[string]*sql.Stmt{}
	}
	w.statements[query] = s
	return s, nil
}

func (t *tx) exec(query string, args ...any) error {
	s, err := t.statement(query)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(t.ctx, args...)
	return err
}

// execAll runs several statements with the same arguments.
func (t *tx) execAll(args []any, queries ...string) error {
	for _, query := range queries {
		if err := t.exec(query, args...); err != nil {
			return err
		}
	}
	return nil
}

// change is exec that tells how many rows were changed.
func (t *tx) change(query string, args ...any) (n int, err error) {
	if err := t.exec(query, args...); err != nil {
		return 0, err
	}
	return n, t.row("SELECT changes()").Scan(&n)
}

// rowScanner is a row, or why there is none.
type rowScanner struct {
	row *sql.Row
	err error
}

func (r rowScanner) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	return r.row.Scan(dest...)
}

func (t *tx) row(query string, args ...any) rowScanner {
	s, err := t.statement(query)
	if err != nil {
		return rowScanner{err: err}
	}
	return rowScanner{row: s.QueryRowContext(t.ctx, args...)}
}

// QueryContext makes a transaction a querier.
func (t *tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := t.statement(query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

// each calls f for every row.
func (t *tx) each(f func(scan scanner) error, query string, args ...any) error {
	return each(t.ctx, t, f, query, args...)
}

// eachKey calls f for every row of two numbers, once all are read, so that it may write.
func (t *tx) eachKey(f func(place, id int64) error, query string, args ...any) error {
	keys, err := list(t.ctx, t, func(scan scanner, k *[2]int64) error { return scan(&k[0], &k[1]) }, query, args...)
	for _, k := range keys {
		if err == nil {
			err = f(k[0], k[1])
		}
	}
	return err
}
