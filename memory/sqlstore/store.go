// Package sqlstore implements memory.Store in SQL: the rules of keeping, deriving and forgetting, written once for every
// database. An Engine is the database: its connections, full text and vectors. Everything in memory is a cache of it.
//
// Begin reading at Store.Apply in ingest.go, which commits events. apply.go applies each of them, provenance.go deletes
// what was derived from something deleted, and forget.go begins a forgetting.
package sqlstore

import (
	"context"
	"sync"

	"hark/memory"
)

// Options configure a store.
type Options struct {
	// Space is where the vectors that will be stored lie. When it isn't the one of the database's vectors,
	// these stay in use until every segment has one in Space as well. The last to open the database decides;
	// the zero Space leaves things as they are.
	Space memory.Space
	// Tokens counts the tokens of a message's text, in several goroutines at once.
	Tokens func(string) int
}

// Store is a memory.Store over an Engine.
type Store struct {
	engine  Engine
	options Options
	ingest  ingest
	wake    chan struct{}

	mu            sync.RWMutex                     // guards what follows
	guilds        map[memory.GuildID]*memory.Guild // replaced, never changed
	nos           numbers                          // replaced, never changed
	people        map[memory.GuildID][]memory.Person
	lore          map[memory.GuildID][]memory.Lore
	peopleVersion int              // grows when people or lore are written
	newest        memory.MessageID // nothing that can be found is newer
	newestRead    bool             // whether newest knows what is in the database
}

// New returns a store over e, which Open opens. Closing it closes e.
func New(e Engine, o Options) *Store {
	s := &Store{engine: e, options: o, wake: make(chan struct{}, 1), ingest: ingest{
		channels: map[memory.ChannelID]*channel{}, guildNos: map[memory.GuildID]int64{}, segments: map[int64]int64{}}}
	e.Watch(s.invalidateCaches)
	return s
}

// Open makes a store ready to be used.
func Open(ctx context.Context, s *Store) error {
	if err := s.engine.Notice(ctx); err != nil {
		return err
	}
	return s.useSpace(ctx)
}

// Erase implements memory.Store.
func (s *Store) Erase(ctx context.Context, wait bool) error { return s.engine.Erase(ctx, wait) }

// Close implements memory.Store. Reads that are running may fail: cancel them first.
func (s *Store) Close() error { return s.engine.Close() }
