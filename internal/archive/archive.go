// Package archive is the memory as its operator sees it: without embedder and model, with servers, channels,
// people and lore found by the names that somebody types. It exports, salvages, and passes backups through
// streams. Begin with Open.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hark/internal/config"
	"hark/internal/tokens"
	"hark/memory"
	"hark/memory/sqlite"
)

// Archive is an open store, and its servers as they were when it was opened.
type Archive struct {
	*sqlite.Store
	Config  config.Config
	Servers []*memory.Guild
}

// Check fails if a data directory holds no memory.
func Check(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, sqlite.FileName)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("nothing is remembered in %s: name the right directory with --data or HARK_DATA", dir)
	}
	return nil
}

// Open opens the memory that is configured, and fails if there is none. progress reports long work on the database.
func Open(ctx context.Context, c config.Config, progress func(done, total int)) (*Archive, error) {
	if err := Check(c.Data); err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, c.Data, sqlite.Options{Tokens: tokens.New().Count, Progress: progress})
	if err != nil {
		return nil, err
	}
	k, err := New(ctx, store, c)
	if err == nil {
		err = DropStreams(c.Data)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return k, nil
}

// New returns an archive over an open store.
func New(ctx context.Context, store *sqlite.Store, c config.Config) (*Archive, error) {
	k := &Archive{Store: store, Config: c}
	ids, err := store.Guilds(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		g, err := store.Guild(ctx, id)
		if err != nil {
			return nil, err
		}
		k.Servers = append(k.Servers, g)
	}
	return k, nil
}
