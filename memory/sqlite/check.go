package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"hark/memory/sqlstore"
)

// Rescue is what to do about a damaged database.
const Rescue = "restore a backup with \"hark restore FILE\", or get out what can be read with \"hark export --salvage\""

// openMark stands in meta while somebody has the file open. Whoever finds it and is alone knows that the file
// wasn't closed.
const openMark = "open"

// openLocked opens the database, and checks it first if nobody else has it open and nobody has closed it.
func (s *Store) openLocked(ctx context.Context) error {
	e := s.engine
	path, anew := filepath.Join(e.dir, FileName), false
	if e.lock.alone {
		if err := removeLeftovers(e.dir); err != nil {
			return err
		}
		unclosed, err := isUnclosed(ctx, path)
		if err == nil && (unclosed || e.options.Check) {
			if err = quickCheck(ctx, path); errors.Is(err, errFullText) {
				anew, err = true, nil
			}
		}
		if err != nil {
			return err
		}
	}
	if err := s.open(ctx, path, patience); err != nil {
		return err
	}
	if err := sqlstore.RepairText(ctx, s.Store, anew, e.lock.alone, e.options.Progress); err != nil {
		return err
	}
	if !e.lock.alone {
		e.opened = true
		return nil
	}
	if _, err := e.write.ExecContext(ctx, "INSERT OR REPLACE INTO meta VALUES (?, '')", openMark); err != nil {
		return err
	}
	e.opened = true
	if err := e.watch.settle(ctx); err != nil {
		return err
	}
	return e.lock.share(ctx, patience)
}

// unmark says in the file that it was closed, unless somebody else has it open. Where that fails, it will be checked.
func (e *engine) unmark() {
	if e.opened && e.lock.last() {
		_, _ = e.write.ExecContext(context.Background(), "DELETE FROM meta WHERE key = ?", openMark)
	}
}

// isUnclosed reports whether whoever had the database at path open last didn't close it.
func isUnclosed(ctx context.Context, path string) (bool, error) {
	db, err := openReading(path)
	if err != nil {
		return false, err
	}
	defer db.Close()
	var one int
	if err := db.QueryRowContext(ctx,
		"SELECT count(*) FROM sqlite_schema WHERE name = 'meta'").Scan(&one); err != nil || one == 0 {
		return false, err
	}
	return sqlstore.Found(db.QueryRowContext(ctx, "SELECT 1 FROM meta WHERE key = ?", openMark).Scan(&one))
}

// Check has SQLite look at every page of the database in dir, while others use it.
func Check(ctx context.Context, dir string) error {
	return explain(quickCheck(ctx, filepath.Join(dir, FileName)))
}

// errFullText says that nothing but full text is damaged.
var errFullText = errors.New("full text is damaged")

// quickCheck has SQLite look at every page of the database at path.
func quickCheck(ctx context.Context, path string) error {
	db, err := openReading(path)
	if err != nil {
		return err
	}
	defer db.Close()
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
	}, "PRAGMA quick_check")
	switch {
	case other != "":
		return explained{fmt.Errorf("the database is damaged, and was left as it is: %s (SQLite: %s)", Rescue, other)}
	case err == nil && text:
		return errFullText
	}
	return err
}

// openReading opens a database that nothing is written to, not even when it is closed.
func openReading(path string) (*sql.DB, error) {
	file := (&url.URL{Scheme: "file", OmitHost: true, Path: path}).String()
	return sql.Open("sqlite", fmt.Sprintf("%s?mode=ro&_busy_timeout=%d", file, patience/time.Millisecond))
}
