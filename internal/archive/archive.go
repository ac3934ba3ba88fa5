// Package archive is the memory as its operator sees it: without embedder and model, with servers, channels,
// people and lore found by the names that somebody types. It exports, and passes backups through
// streams. Begin with Open.
package archive

import (
	"context"
	"errors"

	"hark/internal/config"
	"hark/internal/store"
	"hark/memory"
	"hark/memory/sqlstore"
)

// Archive is an open store, and its servers as they were when it was opened.
type Archive struct {
	*sqlstore.Store
	Config  config.Config
	Servers []*memory.Guild
}

// Open opens the memory that is configured, and fails if there is none. progress reports long work on the database.
func Open(ctx context.Context, c config.Config, progress func(done, total int)) (*Archive, error) {
	place := store.Of(c)
	if err := place.Check(ctx); err != nil {
		return nil, err
	}
	s, err := place.Open(ctx, store.Options{Progress: progress})
	if err != nil {
		return nil, err
	}
	k, err := New(ctx, s, c)
	if err == nil {
		err = DropStreams(c.Data)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return k, nil
}

// New returns an archive over an open store.
func New(ctx context.Context, store *sqlstore.Store, c config.Config) (*Archive, error) {
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
