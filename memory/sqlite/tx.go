package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"hark/memory/sqlstore"
)

type tx struct {
	ctx         context.Context
	engine      *engine
	othersWrote bool     // another process wrote since the last transaction
	inBulk      bool     // RemoveInBulk was called
	zeroed      []uint32 // pages that were written only to zero their unallocated space
	sqlstore.Changes
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

// Exec implements sqlstore.Tx.
func (t *tx) Exec(query string, args ...any) (int, error) {
	s, err := t.statement(query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	return int(n), err
}

// Later implements sqlstore.Tx: nothing is gained by waiting.
func (t *tx) Later(query string, args ...any) error { return t.exec(query, args...) }

func (t *tx) exec(query string, args ...any) error {
	_, err := t.Exec(query, args...)
	return err
}

// QueryContext implements sqlstore.Tx.
func (t *tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := t.statement(query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

// Insert implements sqlstore.Tx.
func (t *tx) Insert(table string, columns []string, rows [][]any) error {
	query := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (?" +
		strings.Repeat(", ?", len(columns)-1) + ")"
	for _, row := range rows {
		if err := t.exec(query, row...); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) row(query string, args ...any) sqlstore.Row {
	return sqlstore.RowOf(t.ctx, t, query, args...)
}

// Changed implements sqlstore.Tx.
func (t *tx) Changed(c sqlstore.Changes) {
	t.Text = t.Text || c.Text
}

func (t *tx) setSecureDelete(on bool) error {
	return t.exec("INSERT INTO fulltext (fulltext, rank) VALUES ('secure-delete', ?)", on)
}
