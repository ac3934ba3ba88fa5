package sqlstore

import (
	"context"
	"database/sql"

	"hark/internal/lease"
	"hark/memory"
)

type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Engine is a database with a Store's tables and full text. It prepares each statement once.
//
// A statement names the guild of each table that is keyed by guild, so that a database that is distributed by it looks
// in one place.
type Engine interface {
	Querier // reads what is committed
	// Snapshot calls read with the state at one moment.
	Snapshot(ctx context.Context, read func(Querier) error) error
	// Latest is Snapshot for one caller at a time, so that no older read overwrites a newer one.
	Latest(ctx context.Context, read func(Querier) error) error
	// Watch sets a callback for writes of other processes. guilds are those whose cached state may have changed, as
	// in Changes. It runs as in Latest, before Notice returns or, with writing set, before Transact continues.
	Watch(changed func(ctx context.Context, q Querier, guilds []memory.GuildID, writing bool) error)
	// Notice calls Watch's callback if another process has written.
	Notice(ctx context.Context) error

	// WriteLock holds a token while somebody writes. ReleaseWriteLock removes it; idle says that nobody
	// waits to write.
	WriteLock() chan struct{}
	ReleaseWriteLock(idle bool)
	// Transact commits all of f or nothing. The caller holds the write lock. ctx doesn't interrupt it. With lasting, a
	// power failure doesn't undo it either, as far as that is the engine's to decide.
	Transact(ctx context.Context, lasting bool, f func(Tx) error) error

	// FindText returns matches, best first.
	FindText(ctx context.Context, q TextQuery) ([]TextMatch, error)
	// CountText counts messages with q's terms, up to q.Limit. It ignores times and authors.
	CountText(ctx context.Context, q TextQuery) (int, error)
	// Size returns the bytes that the database takes on its disk.
	Size(ctx context.Context) (int64, error)
	// Checked waits for a check that runs since the database was opened, and returns the damage that it found.
	Checked(ctx context.Context) error
	// Leases returns the table of the jobs that processes share. Transact fails with lease.ErrLost once this process has
	// lost its leases, until it claims anew.
	Leases() lease.Table
	// Explain adds advice to a database error.
	Explain(err error) error
	// Erase overwrites deleted data, as Store.Erase.
	Erase(ctx context.Context, wait bool) error
	// Rewrite removes from the tables what Erase may leave in free parts of pages. Nobody can use a table meanwhile.
	Rewrite(ctx context.Context, tables []string) error
	Close() error
}

// Tx is a write transaction.
type Tx interface {
	Querier
	// Exec returns how many rows it changed.
	Exec(query string, args ...any) (int, error)
	// Later is Exec for whoever doesn't need the number. An engine may send it with the next statements; then they tell
	// what was wrong with it.
	Later(query string, args ...any) error
	// AddText adds the terms of a guild's message, hashes separated by spaces, to full text. Rows in ascending order
	// are faster.
	AddText(guild memory.GuildID, row int64, terms string) error
	// RemoveText removes a message with these terms from full text, if present.
	RemoveText(guild memory.GuildID, row int64, terms string) error
	// RemoveInBulk says that this transaction removes much text, so the engine may leave terms to Erase.
	RemoveInBulk() error
	// HasText reports whether full text holds a message.
	HasText(guild memory.GuildID, row int64) (bool, error)
	// ClearText removes a guild, or memory.Everywhere, from full text. An engine may remove all for one guild.
	ClearText(guild memory.GuildID) error
	// Insert adds rows to a table. Each value is an int64, a string or nil.
	Insert(table string, columns []string, rows [][]any) error
	// Changed is called before the commit.
	Changed(c Changes)
}

// Changes are what a transaction changed that an engine may cache.
type Changes struct {
	Text bool // text of people was deleted
	// Guilds are those whose structure, people or lore changed; memory.Everywhere: perhaps all.
	Guilds []memory.GuildID
}

// TextQuery asks for messages with any of Terms, in channels of one guild. Zero fields don't restrict it.
type TextQuery struct {
	Guild        memory.GuildID
	Channels     []int64           // numbers, ascending
	Terms        []string          // hashes, best the rarest first
	Since, Until *memory.MessageID // Until exclusive
	Authors      []memory.UserID
	Limit        int
}

type TextMatch struct {
	Channel int64 // number
	ID      memory.MessageID
	Score   float64 // higher is better
}
