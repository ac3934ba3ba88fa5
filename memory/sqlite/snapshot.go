package sqlite

import (
	"context"
	"database/sql"
)

// snapshot reads the file as it is at one moment, while others write.
type snapshot struct {
	ctx context.Context
	tx  *sql.Tx
}

func (q snapshot) row(query string, args ...any) rowScanner {
	return rowScanner{row: q.tx.QueryRowContext(q.ctx, query, args...)}
}

// each calls f for every row.
func (q snapshot) each(f func(scan func(...any) error) error, query string, args ...any) error {
	rows, err := q.tx.QueryContext(q.ctx, query, args...)
	if err != nil {
		return err
	}
	return eachRow(rows, f)
}
