// Package sqlite is the engine of sqlstore for one machine: one SQLite file, which memory only caches. Only
// message.content holds words; full text holds hashes of them. Deleting erases both from the file's pages.
//
// Several processes may have the file open. Each sees the others' commits before it writes or answers.
//
// Begin reading at Open; writer.go commits, zeroing.go erases.
package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // registers the driver

	"hark/internal/lease"
	"hark/memory/sqlstore"
)

// Open opens the store in dir. It creates dir if needed, readable by its owner only.
func Open(ctx context.Context, dir string, o Options) (*Store, error) {
	if o.Tokens == nil {
		o.Tokens = func(string) int { return 0 }
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		if errors.Is(err, syscall.ENOSPC) {
			return nil, fmt.Errorf("make the data directory: %w", explain(err))
		}
		return nil, fmt.Errorf("make the data directory: %w; name one that can be made and written", Denied(dir, err))
	}
	path := filepath.Join(dir, FileName)
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	take := func() (*dirLock, error) { return lockDir(ctx, dir, busyTimeout) }
	if o.Moving != sqlstore.NotMoving {
		take = func() (*dirLock, error) { return lockAlone(dir) }
	}
	lock, err := take()
	if err != nil {
		return nil, err
	}
	s := newStore(&engine{
		options: o,
		dir:     dir,
		lock:    lock,
	})
	if err := s.openLocked(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, explain(err)), s.Close())
	}
	return s, nil
}

func newStore(e *engine) *Store {
	e.writer.lock = make(chan struct{}, 1)
	e.leases = lease.NewAlone()
	return &Store{sqlstore.New(e, sqlstore.Options{
		Secret: e.options.Secret,
		Space:  e.options.Space,
		Tokens: e.options.Tokens,
		Moving: e.options.Moving,
		Index:  e.options.Index,
	}), e}
}

// makePrivate creates the database if needed, and lets only its owner read it.
func makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		if errors.Is(err, syscall.ENOSPC) {
			return fmt.Errorf("open the database: %w", explain(err))
		}
		if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("open the database: %w", Denied(path, err))
		}
		return fmt.Errorf("open the database: %w; give Hark a directory that it owns", err)
	}
	info, err := f.Stat()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = f.Chmod(0o600)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("keep the database from others' eyes: %w", err)
	}
	return nil
}

func (s *Store) open(ctx context.Context, path string, patience time.Duration) error {
	if err := s.engine.open(ctx, path, patience); err != nil {
		return err
	}
	if err := sqlstore.Open(ctx, s.Store); err != nil {
		return err
	}
	s.engine.tryTruncateLog()
	return nil
}

func (e *engine) open(ctx context.Context, path string, patience time.Duration) (err error) {
	e.writer.removed = time.Now() // a killed process may have left removed text in the write-ahead log
	e.writer.name = rand.Text()
	e.writer.busyTimeout = patience
	e.writer.step = stepTime
	e.writer.dirty.path = path + "-wal"
	common := fmt.Sprintf("_busy_timeout=%d&_pragma=secure_delete(1)&_pragma=temp_store(2)", patience.Milliseconds())
	file := fileURL(path)
	const ofWriter = "?_txlock=immediate&_pragma=journal_mode(wal)&_pragma=synchronous(1)&_pragma=cache_size(-16000)&"
	e.writeDB, err = sql.Open("sqlite", file+ofWriter+common)
	if err != nil {
		return err
	}
	e.write, err = e.writeDB.Conn(ctx)
	if err != nil {
		return err
	}
	e.read, err = sql.Open("sqlite", file+"?_pragma=query_only(1)&_pragma=cache_size(-4000)&"+common)
	if err != nil {
		return err
	}
	e.read.SetMaxOpenConns(5) // four, and watch's
	e.read.SetMaxIdleConns(5)
	if err := migrate(ctx, e.write, migrations); err != nil {
		return err
	}
	e.watch.conn, err = e.read.Conn(ctx)
	if err != nil {
		return err
	}
	e.watch.version, err = e.watch.conn.PrepareContext(ctx, "PRAGMA data_version")
	if err != nil {
		return errors.Join(err, e.watch.conn.Close())
	}
	e.writer.zeroed, err = sqlstore.Found(e.read.QueryRowContext(ctx, readZeroed).Scan(new(int)))
	return err
}

// Close implements sqlstore.Engine: it closes the file after the current write. Cancel running reads first:
// they may fail.
func (e *engine) Close() error {
	e.check.end()
	e.writer.lock <- struct{}{}
	defer func() { <-e.writer.lock }()
	if e.writer.closed {
		return nil
	}
	if e.opened && (!e.writer.removed.IsZero() || !e.writer.zeroed) {
		// The next open does the rest, such as a long merge.
		unmerged, err := e.isUnmerged(context.Background())
		if !e.writer.zeroed && !unmerged && err == nil {
			_ = e.zeroFreed(context.Background(), e.transact)
		}
		_ = e.truncateLog(context.Background(), 0)
	}
	e.writer.closed = true
	e.clearOpenMark()
	errs := []error{e.watch.close(), e.writer.dirty.close()}
	if e.read != nil {
		errs = append(errs, e.read.Close())
	}
	if e.write != nil {
		errs = append(errs, e.writer.close(), e.write.Close())
	}
	if e.writeDB != nil {
		errs = append(errs, e.writeDB.Close())
	}
	return errors.Join(append(errs, e.lock.release())...)
}

// openLocked opens the database. If the file wasn't closed and no other process has it open, it first checks the
// tables that hold deletions and permissions, and then the rest in the background. It checks everything first if
// an earlier check found damage or the file has another version.
func (s *Store) openLocked(ctx context.Context) error {
	e := s.engine
	path := filepath.Join(e.dir, FileName)
	anew := false
	mark := sound
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
			err = quickCheck(ctx, path)
			if errors.Is(err, errFullText) {
				anew = true
				err = nil
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

// removeLeftovers removes what an interrupted restore left. No other process may use dir.
func removeLeftovers(dir string) error { return os.RemoveAll(filepath.Join(dir, restoringName)) }

// restoringName is the directory in the data directory where a backup is prepared.
const restoringName = "restoring"
