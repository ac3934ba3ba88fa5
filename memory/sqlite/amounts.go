package sqlite

import (
	"context"
	"fmt"
)

// Amounts counts what a store keeps of Hark's own making.
type Amounts struct {
	Traces  int64 // of answers
	Prompts int64 // as sent to models
	Records int64 // of calls
	Lore    int64
	Bytes   int64 // of the database, without its write-ahead log
}

func Count(ctx context.Context, s *Store) (Amounts, error) {
	var a Amounts
	err := s.engine.read.QueryRowContext(ctx,
		`SELECT (SELECT count(*) FROM trace), (SELECT count(*) FROM prompt), (SELECT count(*) FROM record),
		(SELECT count(*) FROM lore WHERE text IS NOT NULL),
		(SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size)`).
		Scan(&a.Traces, &a.Prompts, &a.Records, &a.Lore, &a.Bytes)
	if err != nil {
		return a, fmt.Errorf("count what is kept: %w", explain(err))
	}
	return a, nil
}
