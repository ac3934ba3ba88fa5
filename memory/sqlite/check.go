package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	sqlitedriver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"hark/memory/sqlstore"
)

// Rescue tells the user what to do about a damaged database.
const Rescue = "restore a backup with \"hark restore FILE\", " +
	"or get out what can be read with SQLite's own program, as docs/recovery.md shows"

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

// openLocked opens the database. If the file wasn't closed and no other process has it open, it first checks the
// tables that hold deletions and permissions, and then the rest in the background. It checks everything first if
// an earlier check found damage or the file has another version.
func (s *Store) openLocked(ctx context.Context) error {
	e := s.engine
	path, anew, mark := filepath.Join(e.dir, FileName), false, sound
	if e.lock.alone {
		if err := removeLeftovers(e.dir); err != nil {
			return err
		}
		unclosed, first, err := readOpenMark(ctx, path)
		if unclosed {
			mark = unchecked
		}
		switch {
		case err == nil && (e.options.Check || first):
			mark = sound
			if err = quickCheck(ctx, path); errors.Is(err, errFullText) {
				anew, err = true, nil
			}
		case err == nil && unclosed:
			err = quickCheck(ctx, path, slices.Concat(deletionTables, []string{"role"})...)
		}
		if err != nil {
			return err
		}
	}
	if err := s.open(ctx, path, busyTimeout); err != nil {
		return err
	}
	if e.options.Moving == sqlstore.NotMoving || anew {
		if err := sqlstore.RebuildFullText(ctx, s.Store, anew, e.lock.alone, e.options.Progress); err != nil {
			return err
		}
	}
	if e.options.Moving == sqlstore.NotMoving {
		if err := sqlstore.HideForgotten(ctx, s.Store); err != nil {
			return err
		}
	}
	if !e.lock.alone {
		e.opened = true
		return nil
	}
	if _, err := e.write.ExecContext(ctx, "INSERT OR REPLACE INTO meta VALUES (?, ?)", openMark, mark); err != nil {
		return err
	}
	e.opened = true
	if err := e.watch.settle(ctx); err != nil {
		return err
	}
	if e.options.Moving != sqlstore.NotMoving {
		return nil
	}
	if err := e.lock.share(ctx, busyTimeout); err != nil {
		return err
	}
	if mark == unchecked {
		s.checkInBackground(path)
	}
	return nil
}

// check is a check that runs while the store is used. The zero check has ended.
type check struct {
	stop context.CancelFunc
	done chan struct{} // closed at its end
	err  error         // the outcome, once done is closed
}

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

func isFullTextDamage(err error) bool {
	damage, ok := errors.AsType[*sqlitedriver.Error](err)
	return ok && damage.Code() == sqlite3.SQLITE_CORRUPT_VTAB
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

// errFullText reports that only full text is damaged.
var errFullText = errors.New("full text is damaged")

// quickCheck runs SQLite's quick_check on the database at path, or on some of its tables.
func quickCheck(ctx context.Context, path string, tables ...string) error {
	db, err := openReading(path)
	if err != nil {
		return err
	}
	defer db.Close()
	query, args := "PRAGMA quick_check", []any(nil)
	if len(tables) > 0 {
		list, _ := json.Marshal(tables) // never fails
		query, args = "SELECT q.* FROM json_each(?) t, pragma_quick_check(t.value) q", []any{string(list)}
	}
	text, other := false, ""
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
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path}).String()
}
