package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"hark/internal/text"
	"hark/memory"
)

// The file's meta table tells how far making everything again is ("reindex"): the row up to which full text is made, or
// that the rest is done and vectors are being made. Until full text is whole, messages that it lacks are those behind
// that row that aren't in fulltext_docsize.
const (
	reindexKey = "reindex"
	reindexed  = "vectors"
)

// Reindex makes what is made of the log again, vectors excepted: of these it makes every segment pending, and they
// are used until others take their place. It goes in steps, between which others write; where it is cut short, the
// next call goes on. Until it is done, not everything is found by its words. progress, if not nil, is told how many
// messages of how many have been indexed.
func (s *Store) Reindex(ctx context.Context, progress func(done, total int)) error {
	state, err := s.reindexState(ctx)
	if err != nil {
		return err
	}
	if state == reindexed {
		waiting, err := s.Waiting(ctx)
		if waiting > 0 || err != nil {
			return err
		}
		state = ""
	}
	if state == "" {
		if err := s.writing(ctx, (*transaction).beginReindex); err != nil {
			return err
		}
	}
	if err := s.finishWords(ctx, progress); err != nil {
		return err
	}
	flaws, err := s.flaws(ctx)
	if err != nil {
		return err
	}
	for _, f := range flaws {
		if err := s.writing(ctx, f.mend); err != nil {
			return err
		}
	}
	return s.writing(ctx, (*transaction).embedAgain)
}

func (s *Store) reindexState(ctx context.Context) (state string, err error) {
	_, err = found(s.read.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = ?", reindexKey).Scan(&state))
	if err != nil {
		return "", fmt.Errorf("index again: %w", explain(err))
	}
	return state, nil
}

func (t *transaction) beginReindex() error {
	if err := t.exec("INSERT INTO fulltext (fulltext) VALUES ('delete-all')"); err != nil {
		return err
	}
	return t.exec("INSERT OR REPLACE INTO meta VALUES (?1, '-1'), ('terms', ?2)", reindexKey, fmt.Sprint(text.Version))
}

func (t *transaction) embedAgain() error {
	t.changed.pending = true
	to, err := t.side()
	if err != nil {
		return err
	}
	if err := t.exec("UPDATE segment SET " + to.flag + " = 1 WHERE " + to.flag + " <> 1"); err != nil {
		return err
	}
	return t.exec("INSERT OR REPLACE INTO meta VALUES (?, ?)", reindexKey, reindexed)
}

// finishWords makes the rest of full text, if making it again was begun and is not done.
func (s *Store) finishWords(ctx context.Context, progress func(done, total int)) error {
	state, err := s.reindexState(ctx)
	if err != nil || state == "" || state == reindexed {
		return err
	}
	var done, total int
	if progress != nil {
		after, _ := strconv.ParseInt(state, 10, 64)
		if err := s.read.QueryRowContext(ctx, "SELECT count(*) FILTER (WHERE row <= ?), count(*) FROM message", after).Scan(&done, &total); err != nil {
			return fmt.Errorf("index again: %w", explain(err))
		}
	}
	for {
		n := 0
		err := s.writing(ctx, func(t *transaction) (err error) {
			n, err = t.indexMore()
			return err
		})
		if err := cmp.Or(err, ctx.Err()); err != nil || n == 0 {
			return err
		}
		if done += n; progress != nil {
			progress(min(done, total), total)
		}
	}
}

// indexMore puts the next messages into full text and tells how many it looked at: none when it is whole.
func (t *transaction) indexMore() (int, error) {
	var state string
	err := t.row("SELECT value FROM meta WHERE key = ?", reindexKey).Scan(&state)
	if errors.Is(err, sql.ErrNoRows) || state == reindexed { // somebody else was faster
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	after, err := strconv.ParseInt(state, 10, 64)
	if err != nil {
		return 0, err
	}
	var rows []int64
	var terms []string
	var batch text.Batch
	err = t.each(func(scan func(...any) error) error {
		var m memory.Message
		var row int64
		var extra nullString
		if err := scan(&row, &m.Kind, &m.Content, &extra); err != nil {
			return err
		}
		err := decodeExtra(extra, &m)
		rows, terms = append(rows, row), append(terms, indexTerms(&batch, m))
		return err
	}, "SELECT row, kind, content, extra FROM message WHERE row > ? ORDER BY row LIMIT 1000", after)
	if err != nil {
		return 0, err
	}
	if len(rows) == 0 {
		return 0, t.exec("DELETE FROM meta WHERE key = ?", reindexKey)
	}
	for i, row := range rows {
		there, err := t.isIndexed(row)
		if err == nil && !there && terms[i] != "" {
			err = t.exec("INSERT INTO fulltext (rowid, content) VALUES (?, ?)", row, terms[i])
		}
		if err != nil {
			return 0, err
		}
	}
	return len(rows), t.exec("INSERT OR REPLACE INTO meta VALUES (?, ?)", reindexKey, fmt.Sprint(rows[len(rows)-1]))
}

// isIndexed reports whether full text holds a message: it doesn't hold all while it is made again.
func (t *transaction) isIndexed(row int64) (bool, error) {
	return found(t.row("SELECT 1 FROM fulltext_docsize WHERE id = ?", row).Scan(new(int)))
}
