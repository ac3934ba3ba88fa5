package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"hark/memory/sqlstore"
)

// openMark is a key in meta while a process has the file open. Its value is the state of the file's pages.
// A process that finds it and is alone knows that the file wasn't closed.
const openMark = "open"

const (
	sound     = ""
	unchecked = "unchecked" // not closed, and no check has completed since
	damaged   = "damaged"   // a check found damage: the next open starts with a check
)

// deletionTables are the tables that say what must stay deleted.
var deletionTables = []string{"guild", "channel", "tombstone", "forgetting", "opted", "pending_deletion", "setting"}

// end cancels the check and waits for it.
func (c *check) end() {
	if c.done != nil {
		c.stop()
		<-c.done
	}
}

func (c *check) running() bool {
	select {
	case <-c.done:
		return false
	default:
		return c.done != nil
	}
}

// wait waits for the check to end and returns the damage that it found.
func (c *check) wait(ctx context.Context) error {
	if c.done == nil {
		return nil
	}
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Checked implements sqlstore.Engine: it waits for the background check of a file that wasn't closed.
func (e *engine) Checked(ctx context.Context) error { return e.check.wait(ctx) }

// checkInBackground starts to check the file. If only full text is damaged, it rebuilds that.
func (s *Store) checkInBackground(path string) {
	e := s.engine
	ctx, stop := context.WithCancel(context.Background())
	e.check = check{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(e.check.done)
		err := quickCheck(ctx, path)
		if errors.Is(err, errFullText) {
			err = sqlstore.RebuildFullText(ctx, s.Store, true, true, e.options.Progress)
		}
		if err == nil {
			_ = e.setOpenMark(ctx, sound) // on failure, such as a full disk, the next open repeats the check
		} else if ctx.Err() == nil {
			e.check.err = e.refuseWrites(ctx, fmt.Errorf("check %s: %w", path, explain(err)))
		}
	}()
}

// ignoreWhileChecking returns err, or nil if full text is damaged and the check, which will rebuild it, still
// runs.
func (e *engine) ignoreWhileChecking(err error) error {
	if isFullTextDamage(err) && e.check.running() {
		return nil
	}
	return err
}

func (e *engine) setOpenMark(ctx context.Context, value string) error {
	return e.writing(ctx, func(t *tx) error {
		return t.exec("UPDATE meta SET value = ? WHERE key = ?", value, openMark)
	})
}

// refuseWrites makes every later write fail with damage, which it returns. First it marks the file as damaged;
// if that fails, the next open repeats the check.
func (e *engine) refuseWrites(ctx context.Context, damage error) error {
	_ = e.setOpenMark(ctx, damaged)
	if err := e.acquireWriteLock(ctx); err != nil {
		return nil // Close has begun
	}
	e.writer.damage = damage
	<-e.writer.lock
	return damage
}

// clearOpenMark marks the file as closed, unless another process has it open or a check still runs. On failure
// the next open checks the file.
func (e *engine) clearOpenMark() {
	if e.opened && e.lock.last() {
		const closed = "DELETE FROM meta WHERE key = ? AND value = ?"
		_, _ = e.write.ExecContext(context.Background(), closed, openMark, sound)
	}
}

// readOpenMark reports whether the database at path wasn't closed, and whether it must be checked
// completely before it is opened.
func readOpenMark(ctx context.Context, path string) (unclosed, first bool, err error) {
	db, err := openReading(path)
	if err != nil {
		return false, false, err
	}
	defer db.Close()
	var version, tables int
	var mark string
	if err := db.QueryRowContext(ctx, `SELECT user_version, (SELECT count(*) FROM sqlite_schema WHERE name = 'meta')
		FROM pragma_user_version`).Scan(&version, &tables); err != nil || tables == 0 {
		return false, false, err
	}
	unclosed, err = sqlstore.Found(db.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = ?",
		openMark).Scan(&mark))
	return unclosed, unclosed && (mark == damaged || version != len(migrations)), err
}

// Check runs SQLite's quick_check on the database in dir while others use it.
func Check(ctx context.Context, dir string) error {
	return explain(quickCheck(ctx, filepath.Join(dir, FileName)))
}

// quickCheck runs SQLite's quick_check on the database at path, or on some of its tables.
func quickCheck(ctx context.Context, path string, tables ...string) error {
	db, err := openReading(path)
	if err != nil {
		return err
	}
	defer db.Close()
	query := "PRAGMA quick_check"
	args := []any(nil)
	if len(tables) > 0 {
		list, _ := json.Marshal(tables) // never fails
		query = "SELECT q.* FROM json_each(?) t, pragma_quick_check(t.value) q"
		args = []any{string(list)}
	}
	text := false
	other := ""
	err = sqlstore.Each(ctx, db, func(scan sqlstore.Scanner) error {
		var lines string
		err := scan(&lines)
		for line := range strings.Lines(lines) {
			switch line = strings.TrimSpace(line); {
			case line == "ok" || strings.HasPrefix(line, "***"):
			case strings.Contains(strings.ToLower(line), "fts5"):
				text = true
			case other == "":
				other = line
			}
		}
		return err
	}, query, args...)
	switch {
	case ctx.Err() != nil: // an interrupted check proves nothing
		return ctx.Err()
	case other != "":
		return explained{fmt.Errorf("the database is damaged: %s (SQLite: %s)", Rescue, other)}
	case err == nil && text:
		return errFullText
	}
	return err
}

// openReading opens a database read-only. Even closing it writes nothing.
func openReading(path string) (*sql.DB, error) {
	return sql.Open("sqlite", fmt.Sprintf("%s?mode=ro&_busy_timeout=%d", fileURL(path), busyTimeout/time.Millisecond))
}

// fileURL names a file to SQLite, whatever characters its path has.
func fileURL(path string) string {
	return (&url.URL{
		Scheme:   "file",
		OmitHost: true,
		Path:     path,
	}).String()
}
