package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"time"

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

// statements caches prepared statements: preparing takes as long as running many of them. What varies goes into
// arguments, to keep the statements few.
type statements struct {
	sync.Mutex
	by map[string]*sql.Stmt
}

type writer struct {
	lock        chan struct{}
	name        string // unique among the writers of the file
	busyTimeout time.Duration
	step        time.Duration // about how long one transaction of long work takes

	// The holder of lock uses the rest.
	closed     bool
	damage     error     // found by a check; every write fails with it
	removed    time.Time // since when removed text may be in the write-ahead log; zero: none is
	zeroed     bool      // no text was removed since the dirty pages were zeroed
	removals   int       // transactions that removed text
	dirty      dirtyPages
	version    int64 // PRAGMA data_version after the last transaction; differs once another process wrote
	statements map[string]*sql.Stmt
}

// watch sees other processes' commits, so no answer comes from a stale cache.
type watch struct {
	mu      sync.Mutex
	conn    *sql.Conn // its own, because PRAGMA data_version is per connection
	version *sql.Stmt // reads it
	seen    int64     // last value
}

// check is a check that runs while the store is used. The zero check has ended.
type check struct {
	stop context.CancelFunc
	done chan struct{} // closed at its end
	err  error         // the outcome, once done is closed
}
