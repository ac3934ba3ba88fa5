package sqlstore

import (
	"context"
	"errors"
	"fmt"
)

// Amounts counts what a store keeps of Hark's own making.
type Amounts struct {
	Traces  int64 // of answers
	Prompts int64 // as sent to models
	Records int64 // of calls
	Lore    int64
	Bytes   int64 // of the database on its disk
}

// CountMessages counts all messages, whoever wrote them, with those that are being forgotten.
func CountMessages(ctx context.Context, s *Store) (n int, err error) {
	err = s.row(ctx, "SELECT count(*) FROM message").Scan(&n)
	return n, s.failed(err, "count messages")
}

// Count counts what s keeps of Hark's own making.
func Count(ctx context.Context, s *Store) (a Amounts, err error) {
	counted := s.row(ctx, `SELECT (SELECT count(*) FROM trace), (SELECT count(*) FROM prompt),
		(SELECT count(*) FROM record), (SELECT count(*) FROM lore WHERE text IS NOT NULL)`).
		Scan(&a.Traces, &a.Prompts, &a.Records, &a.Lore)
	a.Bytes, err = s.engine.Size(ctx)
	if err := errors.Join(counted, err); err != nil {
		return a, fmt.Errorf("count what is kept: %w", s.engine.Explain(err))
	}
	return a, nil
}
