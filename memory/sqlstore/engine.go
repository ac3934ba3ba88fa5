package sqlstore

import (
	"context"
	"database/sql"

	"hark/memory"
)

// Querier answers queries.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Engine is a database with a Store's tables, full text and vectors. It prepares each statement once.
type Engine interface {
	Querier // of what is committed
	// Snapshot calls read for what is there at one moment.
	Snapshot(ctx context.Context, read func(Querier) error) error
	// Latest is Snapshot, one caller at a time: what is read first takes effect first.
	Latest(ctx context.Context, read func(Querier) error) error
	// Watch sets a callback for when another process has written. It runs as by Latest, before Notice returns or,
	// with writing set, before Transact continues.
	Watch(changed func(ctx context.Context, q Querier, writing bool) error)
	// Notice calls Watch's callback if another process has written.
	Notice(ctx context.Context) error

	// WriteLock holds a token while somebody writes. ReleaseWriteLock removes it; idle says that nobody waits to write.
	WriteLock() chan struct{}
	ReleaseWriteLock(idle bool)
	// Transact commits what f does, or nothing. The caller holds the write lock. ctx doesn't interrupt it.
	Transact(ctx context.Context, f func(Tx) error) error

	// FindText returns the best messages that q asks for, best first.
	FindText(ctx context.Context, q TextQuery) ([]TextMatch, error)
	// CountText counts messages with q's terms, up to q.Limit; it ignores times and authors.
	CountText(ctx context.Context, q TextQuery) (int, error)
	// Nearest calls hits with the segments nearest to a vector, nearest first, and with more segments until it returns
	// as many hits as q asks for. ErrNoVectors as Store.Nearest.
	Nearest(ctx context.Context, q VectorQuery,
		hits func([]Near) ([]memory.VectorHit, error)) ([]memory.VectorHit, error)

	// Explain adds advice to a database error.
	Explain(err error) error
	// Erase erases deleted data from the database's unused space, as Store.Erase.
	Erase(ctx context.Context, wait bool) error
	Close() error
}

// Tx is a transaction that writes.
type Tx interface {
	Querier
	// Exec returns how many rows it changed.
	Exec(query string, args ...any) (int, error)
	// AddText adds a message's terms to full text, as hashes separated by spaces. Rows in order are faster.
	AddText(row int64, terms string) error
	// RemoveText removes a message with these terms from full text, if it is there.
	RemoveText(row int64, terms string) error
	// RemoveInBulk says that this transaction removes much text: the engine may leave the terms to Erase, if that is
	// quicker.
	RemoveInBulk() error
	// HasText reports whether full text holds a message, ClearText empties it.
	HasText(row int64) (bool, error)
	ClearText() error
	// PutVector stores a segment's vector in the active or the shadow set.
	PutVector(v Vector, shadow bool) error
	// Changed reports, before the end, changes to what the engine may hold in memory.
	Changed(c Changes)
}

// Changes are what a transaction changed that an engine may hold in memory.
type Changes struct {
	Text  bool    // what people said was deleted
	Space bool    // other vectors are in use, or numbers of segments came to others
	Gone  []int64 // segments that have no vector any more
}

// TextQuery asks for messages with any of Terms, in channels of one guild. Zero fields don't restrict it.
type TextQuery struct {
	Channels     []int64           // their numbers, in order
	Terms        []string          // as text.Terms makes them, best the rarest first
	Since, Until *memory.MessageID // Until exclusive
	Authors      []memory.UserID
	Limit        int
}

// TextMatch is a message found by full text.
type TextMatch struct {
	Channel int64 // its number
	ID      memory.MessageID
	Score   float64 // higher is better
}

// VectorQuery asks for the segments nearest to Vector.
type VectorQuery struct {
	Space    memory.Space
	Scope    memory.Scope
	Channels []int64 // the numbers of Scope's, in order
	Vector   []float32
	Limit    int
}

// Vector is a segment's vector.
type Vector struct {
	Segment, Channel int64
	First, Last      memory.MessageID // between which the segment's messages lie
	Values           []float32
}

// Near is a segment and how near it is.
type Near struct {
	Segment    int64
	Similarity float32
}
