package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"hark/internal/text"
	"hark/memory"
)

// strange counts the messages whose full text isn't that of their text. Every term in the file is looked at, so that
// it takes about as long as making full text again.
func (s *Store) strange(ctx context.Context) (int, error) {
	db, err := openReading(filepath.Join(s.dir, FileName))
	if err != nil {
		return 0, err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "CREATE VIRTUAL TABLE temp.instance USING fts5vocab(main, fulltext, instance)"); err != nil {
		return 0, fmt.Errorf("compare full text: %w", explain(err))
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	n, err := countStrange(snapshot{ctx, tx})
	if err != nil {
		return 0, fmt.Errorf("compare full text: %w", explain(err))
	}
	return n, nil
}

// countStrange adds up, for each message, what its terms are and where they stand: once as full text has them and
// once as its text says.
func countStrange(q snapshot) (int, error) {
	sums := map[int64]uint64{}
	err := q.each(func(scan func(...any) error) error {
		var term string
		var row int64
		var at int
		err := scan(&term, &row, &at)
		sums[row] += instance(term, at)
		return err
	}, "SELECT term, doc, offset FROM temp.instance")
	if err != nil {
		return 0, err
	}
	var batch text.Batch
	strange := 0
	err = q.each(func(scan func(...any) error) error {
		var row int64
		var m memory.Message
		var extra nullString
		if err := scan(&row, &m.Kind, &m.Content, &extra); err != nil {
			return err
		}
		if err := decodeExtra(extra, &m); err != nil {
			return err
		}
		var sum uint64
		for i, term := range strings.Fields(indexTerms(&batch, m)) {
			sum += instance(term, i)
		}
		if sums[row] != sum {
			strange++
		}
		delete(sums, row)
		return nil
	}, "SELECT row, kind, content, extra FROM message")
	return strange + len(sums), err
}

// instance is a number for a term at a place.
func instance(term string, at int) uint64 {
	sum := uint64(14695981039346656037) + uint64(at)*0x9e3779b97f4a7c15
	for i := range len(term) {
		sum = (sum ^ uint64(term[i])) * 1099511628211
	}
	return sum ^ sum>>29
}
