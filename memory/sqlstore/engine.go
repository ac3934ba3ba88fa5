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
	// Latest is Snapshot for one after another, so that what is read first is put in place first.
	Latest(ctx context.Context, read func(Querier) error) error
	// Watch sets what is called, as by Latest, when somebody else has written: before Notice returns or, with
	// writing, before Transact goes on.
	Watch(changed func(ctx context.Context, q Querier, writing bool) error)
	// Notice looks whether somebody else has written.
	Notice(ctx context.Context) error

	// Turn holds a token while somebody writes. ReleaseWriteLock takes it out; idle says that nobody waits to write.
	WriteLock() chan struct{}
	ReleaseWriteLock(idle bool)
	// Transact commits what f does, or nothing. The caller has the turn. It isn't cut short by ctx.
	Transact(ctx context.Context, f func(Tx) error) error

	// FindText are the best messages that q asks for, best first.
	FindText(ctx context.Context, q TextQuery) ([]TextMatch, error)
	// CountText counts them, up to q.Limit, whenever and by whomever they were written.
	CountText(ctx context.Context, q TextQuery) (int, error)
	// Nearest has hits made of the segments nearest to a vector, nearest first: of more, until there are as
	// many as q asks for. ErrNoVectors as Store.Nearest.
	Nearest(ctx context.Context, q VectorQuery,
		hits func([]Near) ([]memory.VectorHit, error)) ([]memory.VectorHit, error)

	// Explain adds to an error of the database's what to do about it.
	Explain(err error) error
	// Erase takes what was deleted out of the database's unused space, as Store.Erase.
	Erase(ctx context.Context, wait bool) error
	Close() error
}

// Tx is a transaction that writes.
type Tx interface {
	Querier
	// Exec tells how many rows it changed.
	Exec(query string, args ...any) (int, error)
	// AddText has full text hold a message's terms, as hashes with spaces between. Rows in order are faster.
	AddText(row int64, terms string) error
	// RemoveText takes a message with these terms out of full text, if it is there.
	RemoveText(row int64, terms string) error
	// RemoveInBulk says that this transaction removes much text: the engine may leave it to Erase to take the
	// terms out of the database, where that is quicker.
	RemoveInBulk() error
	// HasText reports whether full text holds a message, ClearText empties it.
	HasText(row int64) (bool, error)
	ClearText() error
	// PutVector stores a segment's vector among those in use, or beside them.
	PutVector(v Vector, beside bool) error
	// Changed tells, before the end, what was changed that the engine may hold in memory.
	Changed(c Changes)
}

// Changes are what a transaction changed that an engine may hold in memory.
type Changes struct {
	Text  bool    // what people said was deleted
	Space bool    // other vectors are in use, or numbers of segments came to others
	Gone  []int64 // segments that have no vector any more
}

// TextQuery asks for messages that hold any of Terms, in channels of one guild. What is zero doesn't count.
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

// VectorQuery asks for segments whose vectors are near to one.
type VectorQuery struct {
	Space    memory.Space
	Scope    memory.Scope
	Channels []int64 // the numbers of Scope's, in order
	Vector   []float32
	Limit    int
}

// Vector is a segment's.
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
