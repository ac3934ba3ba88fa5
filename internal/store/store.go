// Package store opens the memory where the configuration says that it is: in a file in the data directory, or in a
// PostgreSQL database. Begin with Of.
package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hark/internal/config"
	"hark/internal/tokens"
	"hark/memory"
	"hark/memory/postgres"
	"hark/memory/sqlite"
	"hark/memory/sqlstore"
	"hark/memory/vectors"
)

// Place is where a memory is: a database if URL is set, else a file in the data directory Dir.
type Place struct {
	Dir string
	URL string // has a password: never show it
	// KeyFile is the file with the key of a sealed memory; "" without one.
	KeyFile string
}

// Of returns the configured place.
func Of(c config.Config) Place {
	return Place{
		Dir:     c.Data,
		URL:     c.Store.Reveal(),
		KeyFile: c.Memory.KeyFile,
	}
}

// IsFile reports whether the memory is a file.
func (p Place) IsFile() bool { return p.URL == "" }

// String names the place without a password.
func (p Place) String() string {
	if p.IsFile() {
		return p.Dir
	}
	return postgres.Address(p.URL)
}

// Check fails if nothing is remembered there.
func (p Place) Check(ctx context.Context) error {
	if p.IsFile() {
		if _, err := os.Stat(filepath.Join(p.Dir, sqlite.FileName)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("nothing is remembered in %s: name the right directory with --data or HARK_DATA", p.Dir)
		}
		return nil
	}
	stored, err := postgres.Inspect(ctx, p.URL)
	if err == nil && !stored.Exists {
		err = fmt.Errorf("nothing is remembered in %s: name the right one in store or HARK_STORE", p)
	}
	return err
}

// Spaces returns the active space of the stored vectors and the one being filled; zero if there is none.
func (p Place) Spaces(ctx context.Context) (use, next memory.Space, err error) {
	if p.IsFile() {
		use, next = sqlite.StoredSpaces(ctx, p.Dir) // Open tells what is wrong with a file
		return use, next, nil
	}
	stored, err := postgres.Inspect(ctx, p.URL)
	return stored.Use, stored.Next, err
}

// Options configure an open store.
type Options struct {
	Space    memory.Space          // of new vectors; see sqlstore.Options
	Index    vectors.Options       // of the vectors in memory
	Progress func(done, total int) // see sqlite.Options
}

// Open opens the memory. It creates one if there is none.
func (p Place) Open(ctx context.Context, o Options) (*sqlstore.Store, error) {
	count := tokens.New().Count
	secret, err := p.Secret()
	if err != nil {
		return nil, err
	}
	if !p.IsFile() {
		return postgres.Open(ctx, p.URL, postgres.Options{
			Space:  o.Space,
			Tokens: count,
			Secret: secret,
			Index:  o.Index,
		})
	}
	s, err := sqlite.Open(ctx, p.Dir, sqlite.Options{
		Space:    o.Space,
		Tokens:   count,
		Secret:   secret,
		Index:    o.Index,
		Progress: o.Progress,
	})
	if err != nil {
		return nil, err
	}
	return s.Store, nil
}

// Move copies everything that is remembered to another place, where nothing is remembered yet but what an interrupted
// move copied, and compares the two. Nobody else may use either. The copy is sealed with the key of to, if it has one.
func (p Place) Move(ctx context.Context, to Place, progress sqlstore.Progress) (moved sqlstore.Moved, err error) {
	if p.isAt(to) {
		return moved, fmt.Errorf("the memory is in %s already: name where else it should be", to)
	}
	for _, place := range []Place{p, to} {
		if err := place.KeyIsApart(); err != nil {
			return moved, err
		}
		release, err := place.lockForMove(ctx)
		if err != nil {
			return moved, err
		}
		defer func() { _ = release() }()
	}
	sealed, err := p.Sealed(ctx)
	if err != nil {
		return moved, err
	}
	if sealed.Key == "" { // then the configured key is that of the copy
		p.KeyFile = ""
	}
	from, err := p.openForMove(ctx, sqlstore.MovesFrom)
	if err != nil {
		return moved, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	target, err := to.openForMove(ctx, sqlstore.MovesTo)
	if err != nil {
		return moved, err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	return sqlstore.Move(ctx, from, target, progress)
}

// isAt reports whether two places are the same.
func (p Place) isAt(other Place) bool {
	if p.IsFile() != other.IsFile() {
		return false
	}
	if !p.IsFile() {
		return p.String() == other.String()
	}
	here, err1 := filepath.Abs(p.Dir)
	there, err2 := filepath.Abs(other.Dir)
	return err1 == nil && err2 == nil && here == there
}

// lockForMove fails if a bot runs on the memory.
func (p Place) lockForMove(ctx context.Context) (release func() error, err error) {
	if p.IsFile() {
		if err := os.MkdirAll(p.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the data directory: %w; name one that can be made and written", err)
		}
		return p.LockRunning(time.Now())
	}
	stored, err := postgres.Inspect(ctx, p.URL)
	if err == nil && stored.Running > 0 {
		err = fmt.Errorf("%d of Hark's processes use %s: stop them", stored.Running, p)
	}
	return func() error { return nil }, err
}

func (p Place) openForMove(ctx context.Context, as sqlstore.Moving) (*sqlstore.Store, error) {
	count := tokens.New().Count
	secret, err := p.Secret()
	if err != nil {
		return nil, err
	}
	if !p.IsFile() {
		return postgres.Open(ctx, p.URL, postgres.Options{
			Tokens: count,
			Moving: as,
			Secret: secret,
		})
	}
	s, err := sqlite.Open(ctx, p.Dir, sqlite.Options{
		Tokens: count,
		Moving: as,
		Check:  true,
		Secret: secret,
	})
	if errors.Is(err, sqlite.ErrInUse) {
		err = fmt.Errorf("the memory is in use: %w", err)
	}
	if err != nil {
		return nil, err
	}
	return s.Store, nil
}

// LockRunning keeps a second bot from the data directory, until release or the end of the process. A database may
// have several.
func (p Place) LockRunning(now time.Time) (release func() error, err error) {
	if !p.IsFile() {
		return func() error { return nil }, nil
	}
	release, err = sqlite.LockRunning(p.Dir, now)
	if err != nil {
		err = fmt.Errorf("use the data directory %s: %w", p.Dir, err)
	}
	return release, err
}
