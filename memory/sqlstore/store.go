// Package sqlstore implements memory.Store in SQL: the rules of keeping, deriving and forgetting, written once for
// every database. An Engine is the database: its connections and full text. Memory only caches it.
//
// Files refer down only: Store and transaction are at the bottom, the list of events at the top. Begin at Store.Apply
// in commit.go. events.go lists what handles each type of event, derived.go finds what was derived from something,
// cascade.go deletes it, and forget.go begins a forgetting.
package sqlstore

import (
	"context"
	"sync"
	"sync/atomic"

	"hark/internal/lease"
	"hark/memory"
	"hark/memory/seal"
	"hark/memory/vectors"
)

// Store is a memory.Store over an Engine.
type Store struct {
	engine  Engine
	options Options
	vault   *Vault // set when the store is opened; nil in a plain memory
	index   *vectors.Index
	encoder vectors.Encoder // for the holder of the write lock
	ingest  ingest
	wake    chan struct{}
	space   atomic.Pointer[memory.Space] // of new vectors

	missed      atomic.Int64 // counts the commits of this process that the caches may lack
	caughtUp    atomic.Int64 // missed when all caches were last read
	othersWrote atomic.Int64 // counts when another process's writes were noticed

	mu            sync.RWMutex                     // guards what follows
	guilds        map[memory.GuildID]*memory.Guild // replaced, never changed
	nos           numbers                          // replaced, never changed
	people        map[memory.GuildID][]memory.Person
	lore          map[memory.GuildID][]memory.Lore
	peopleVersion int              // grows with each write to people or lore
	newest        memory.MessageID // upper bound of searchable ids, once newestRead
	newestRead    bool
}

// Options configure a store.
type Options struct {
	// Space is the space of new vectors, until UseSpace changes it. Vectors of another stay in use until every segment
	// has one in Space. The last process to open the database decides. The zero Space changes nothing.
	Space memory.Space
	// Tokens counts a text's tokens. It must be safe for concurrent use.
	Tokens func(string) int
	// Secret is the key of a sealed memory; nil: none. An empty memory is sealed with it.
	Secret *seal.Secret
	// TextOnly says that the database's columns of text hold no other bytes.
	TextOnly bool
	// Moving opens a store for Move.
	Moving Moving
	// Index configures the vectors in memory.
	Index vectors.Options
}

// Moving says what a store is opened for.
type Moving int

// A store from which a move copies is left as it is. One to which a move copies is emptied of what an interrupted one
// has left.
const (
	NotMoving Moving = iota
	MovesFrom
	MovesTo
)

// Checked waits for a check that runs since the store was opened, and returns the damage found, with which every
// later write fails; nil without a check. If Close cancels the check, the next open repeats it.
func (s *Store) Checked(ctx context.Context) error { return s.engine.Checked(ctx) }

// Leases returns the table of the jobs that processes share. Writes fail with lease.ErrLost once this process has
// lost its leases, until it claims anew.
func (s *Store) Leases() lease.Table { return s.engine.Leases() }

// Close implements memory.Store. Cancel running reads first: they may fail.
func (s *Store) Close() error {
	s.index.Close()
	return s.engine.Close()
}
