package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"
)

// ErrDamaged says that the database is damaged where nothing can make it again.
var ErrDamaged = errors.New("the database is damaged where nothing can make it again, and was left as it is: " + Rescue)

// Rescue is what to do about a damaged database.
const Rescue = "restore a backup with \"hark restore FILE\", or get out what can be read with \"hark export --salvage\""

// openMark stands in meta while somebody has the file open. Whoever finds it and is alone knows that the file
// wasn't closed.
const openMark = "open"

// openLocked opens the database, and checks it if nobody else has it open and nobody has closed it.
func (s *Store) openLocked(ctx context.Context, dir string) error {
	check := false
	if s.lock.alone {
		if err := removeLeftovers(dir); err != nil {
			return err
		}
		unclosed, err := isUnclosed(ctx, dir)
		if err != nil {
			return err
		}
		if check = unclosed || s.options.Check; check {
			if err := s.checkPages(ctx, dir); err != nil {
				return err
			}
		}
	}
	if err := s.open(ctx, filepath.Join(dir, FileName), patience); err != nil || !s.lock.alone {
		s.opened = err == nil
		return err
	}
	if check {
		if _, err := s.mend(ctx); err != nil {
			return err
		}
	}
	if err := s.finishWords(ctx, s.options.Progress); err != nil {
		return err
	}
	if _, err := s.write.ExecContext(ctx, "INSERT OR REPLACE INTO meta VALUES (?, '')", openMark); err != nil {
		return err
	}
	s.opened = true
	if err := s.watch.settle(ctx); err != nil {
		return err
	}
	return s.lock.share(ctx, patience)
}

// unmark says in the file that it was closed, unless somebody else has it open. Where that fails, it will be checked.
func (s *Store) unmark() {
	if s.opened && s.lock.last() {
		_, _ = s.write.ExecContext(context.Background(), "DELETE FROM meta WHERE key = ?", openMark)
	}
}

// Examination is what a check of the database found.
type Examination struct {
	// Mended is what was wrong and has been made again.
	Mended []string
	// Wrong is what is wrong still, because another process has the database open.
	Wrong []string
	// Strange are messages whose full text isn't that of their text: one of the two was damaged, and nothing tells
	// which.
	Strange int
}

// Examine checks the database in dir, wholly, and makes what is wrong of that which is made of the log again if nobody
// else has it open. ErrDamaged says that the log itself is damaged.
func Examine(ctx context.Context, dir string, o Options) (e Examination, err error) {
	tell := o.Mended
	o.Check, o.Mended = true, func(what string) {
		e.Mended = append(e.Mended, what)
		if tell != nil {
			tell(what)
		}
	}
	s, err := Open(ctx, dir, o)
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if !s.checked {
		if e.Wrong, err = s.Check(ctx); err != nil {
			return e, err
		}
	}
	e.Strange, err = s.strange(ctx)
	return e, err
}

// Check tells what is wrong in the file, while others may use it, and changes nothing. ErrDamaged says that what
// can't be made again is damaged.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	pages, err := damagedParts(ctx, s.read)
	if err != nil {
		return nil, err
	}
	if err := pages.refuse(); err != nil {
		return nil, err
	}
	wrong := pages.names()
	flaws, err := s.flaws(ctx)
	for _, f := range flaws {
		wrong = append(wrong, f.what)
	}
	return wrong, err
}

// isUnclosed reports whether whoever had the file open last didn't close it.
func isUnclosed(ctx context.Context, dir string) (bool, error) {
	db, err := openReading(filepath.Join(dir, FileName))
	if err != nil {
		return false, err
	}
	defer db.Close()
	var one int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'meta'").Scan(&one); err != nil || one == 0 {
		return false, err
	}
	return found(db.QueryRowContext(ctx, "SELECT 1 FROM meta WHERE key = ?", openMark).Scan(&one))
}

// openReading opens a database that nothing is written to, not even when it is closed.
func openReading(path string) (*sql.DB, error) {
	file := (&url.URL{Scheme: "file", OmitHost: true, Path: path}).String()
	return sql.Open("sqlite", fmt.Sprintf("%s?mode=ro&_busy_timeout=%d", file, patience/time.Millisecond))
}

// told tells whoever opened the store what was made again.
func (s *Store) told(format string, args ...any) {
	if s.options.Mended != nil {
		s.options.Mended(fmt.Sprintf(format, args...))
	}
}
