package postgres

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hark/memory"
	"hark/memory/sqlstore"
)

// engine is the database: reads, writes, other processes' writes and full text.
type engine struct {
	pool *pgxpool.Pool
	db   *sql.DB // of pool
	name string  // unique among the processes that write
	lock chan struct{}

	statements statements
	watch      watch
	leases     *leases

	// The holder of lock uses these.
	closed  bool
	version int64 // of turn after the last transaction; another one's is higher

	eraser eraser
}

// eraser lets one erasure run at a time.
type eraser struct {
	mu    sync.Mutex
	after time.Time // until then, Erase without wait vacuums nothing
}

// watch sees other processes' commits, so no answer comes from a stale cache.
type watch struct {
	mu      sync.Mutex
	seen    int64 // version of turn
	changed func(ctx context.Context, q sqlstore.Querier, guilds []memory.GuildID, writing bool) error
}
