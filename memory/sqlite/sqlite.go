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
	"syscall"
	"time"

	_ "modernc.org/sqlite" // registers the driver

	"hark/internal/lease"
	"hark/memory"
	"hark/memory/seal"
	"hark/memory/sqlstore"
	"hark/memory/vectors"
)

// Options configure a store.
type Options struct {
	// Space is the space of new vectors; see sqlstore.Options.
	Space memory.Space
	// Tokens counts a text's tokens. It must be safe for concurrent use, and tokens.New's whatever the
	// model: stored counts outlive the choice of one. If nil, Message.Tokens stays 0.
	Tokens func(string) int
	// Index configures the vectors in memory.
	Index vectors.Options
	// Progress, if not nil, gets how many of total messages long work at opening has done.
	Progress func(done, total int)
	// Secret is the key of a sealed memory; nil: none. An empty memory is sealed with it.
	Secret *seal.Secret
	// Moving opens the store for sqlstore.Move: nobody else may have it open (ErrInUse), and nothing in it is completed.
	Moving sqlstore.Moving
	// Check checks even a closed file before opening it, unless another process has it open.
	Check bool
}

// Store is a memory.Store in a file.
type Store struct {
	*sqlstore.Store
	engine *engine
}

// engine is the file: reads, writes, other processes' writes, full text and erasing.
type engine struct {
	writeDB *sql.DB
	write   *sql.Conn // writeDB's only connection, for the holder of the write lock
	read    *sql.DB
	options Options
	writer  writer
	watch   watch
	dir     string
	lock    *dirLock // on dir
	opened  bool     // completely
	leases  *lease.Alone
	check   check // of a file that wasn't closed

	eraseAfter time.Time // until then, Erase without wait does nothing

	statements statements

	// changed is called after another process's write, before a transaction continues or a read is
	// answered.
	changed func(ctx context.Context, q sqlstore.Querier, guilds []memory.GuildID, writing bool) error
}

// busyTimeout is how long a write waits for another process's write.
const busyTimeout = 10 * time.Second

// FileName is the database's name in the data directory.
const FileName = "hark.db"

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
	s := newStore(&engine{options: o, dir: dir, lock: lock})
	if err := s.openLocked(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, explain(err)), s.Close())
	}
	return s, nil
}

func newStore(e *engine) *Store {
	e.writer.lock, e.leases = make(chan struct{}, 1), lease.NewAlone()
	return &Store{sqlstore.New(e, sqlstore.Options{Secret: e.options.Secret,
		Space: e.options.Space, Tokens: e.options.Tokens, Moving: e.options.Moving,
		Index: e.options.Index}), e}
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
	e.writer.name, e.writer.busyTimeout = rand.Text(), patience
	e.writer.step, e.writer.dirty.path = stepTime, path+"-wal"
	common := fmt.Sprintf("_busy_timeout=%d&_pragma=secure_delete(1)&_pragma=temp_store(2)", patience.Milliseconds())
	file := fileURL(path)
	const ofWriter = "?_txlock=immediate&_pragma=journal_mode(wal)&_pragma=synchronous(1)&_pragma=cache_size(-16000)&"
	if e.writeDB, err = sql.Open("sqlite", file+ofWriter+common); err != nil {
		return err
	}
	if e.write, err = e.writeDB.Conn(ctx); err != nil {
		return err
	}
	if e.read, err = sql.Open("sqlite", file+"?_pragma=query_only(1)&_pragma=cache_size(-4000)&"+common); err != nil {
		return err
	}
	e.read.SetMaxOpenConns(5) // four, and watch's
	e.read.SetMaxIdleConns(5)
	if err := migrate(ctx, e.write, migrations); err != nil {
		return err
	}
	if e.watch.conn, err = e.read.Conn(ctx); err != nil {
		return err
	}
	if e.watch.version, err = e.watch.conn.PrepareContext(ctx, "PRAGMA data_version"); err != nil {
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
