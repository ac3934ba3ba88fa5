// Package digest condenses what was said: it makes summaries of ended sessions, condenses the older part of running
// ones, and learns lasting facts that members state about themselves. One Worker does all of it, with one view of the
// log. Begin with Worker.next (rounds.go). Each kind of digest says which stretches it wants, what it asks the model,
// and what it makes of the reply.
//
// A digest is made only from what may be remembered there, of people who agree. It is kept only if that still holds
// after the model has written. The package imports no more than memory, search and builder, and knows nothing of
// answers.
package digest

import (
	"context"
	"errors"
	"sync"
	"time"

	"hark/builder"
	"hark/internal/chat"
	"hark/internal/metrics"
	"hark/memory"
)

// Log is the part of memory.Store that a Worker needs.
type Log interface {
	memory.Writer
	memory.GuildReader
	People(ctx context.Context, guild memory.GuildID, ids ...memory.UserID) ([]memory.Person, error)
	memory.Members
	Around(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID, before,
		after int) ([]memory.Message, error)
	Log(ctx context.Context, channel memory.ChannelID, after, until memory.MessageID,
		limit int) ([]memory.Message, error)
	Summaries(ctx context.Context, channel memory.ChannelID) ([]memory.Summary, error)
	SummaryBacklog(ctx context.Context, since memory.MessageID) ([]memory.Stretch, error)
	Condensed(ctx context.Context, channel memory.ChannelID) ([]memory.Condensed, error)
	Gaps(ctx context.Context, guild memory.GuildID, sweep bool) ([]memory.Gap, error)
}

// Kind is a kind of digest.
type Kind int

// The kinds of digests.
const (
	Summaries Kind = iota // of sessions that have ended
	// about members by themselves, where their guild and they switched that on
	Facts
	Condensed // of the older parts of long sessions
)

// Options of a Worker.
type Options struct {
	Log Log
	// Model is asked for facts, and sums up the sessions in which Hark was asked something; nil: there is none.
	// Other sessions are summed up by their most informative messages.
	Model      chat.Model
	Extract    bool // whether the model sums up no session
	Policy     memory.Policy
	SessionGap time.Duration    // the silence that ends a session
	Channel    memory.ChannelID // the only one with summaries; 0: all
	Patience   time.Duration    // how long the model may take; 0: as usual for each kind
	Now        func() time.Time // nil means time.Now
	Metrics    *metrics.Metrics // nil: none
	// Done, if not nil, is called with each new summary and the number of its messages.
	Done func(kind Kind, channel memory.ChannelID, messages int, model string)
	// Failed is called when something couldn't be made of a session, or, with channel 0, of several. It is retried.
	Failed func(kind Kind, channel memory.ChannelID, err error)
}

// Worker makes digests. Its progress is in the store, so that nothing is lost when it stops.
type Worker struct {
	Options
	kinds map[Kind]kind // but Condensed
	tries map[Kind]*tries
	long  [condensers]chan notice
}

type tries struct {
	backoff
	left int // in this round
}

// kind is a kind of digest of ended sessions.
type kind interface {
	limits() limits
	// backlog returns the stretches that it isn't made of yet.
	backlog(ctx context.Context) ([]memory.Stretch, error)
	// takes reports whether it is made from a message, unless the author opted out.
	takes(p *place, m memory.Message) bool
	// asks reports whether to ask the model about a session.
	asks(s *session) bool
	prompt(s *session) chat.Request
	// read takes what the model wrote. Its error is ErrMalformed.
	read(s *session, written string) error
	// events returns what keeps the digest of a session; none: try again in the next round.
	events(ctx context.Context, s *session) ([]memory.Event, error)
}

type limits struct {
	doing    string        // as errors say it
	written  string        // what the model is asked for, in errors
	patience time.Duration // how long the model may take
	messages int           // of one session; a longer one is cut
	splits   bool          // whether a silence ends a session; else all before the last silence is one
	asked    int           // how often the model is asked in one round
}

// sessionsMost sessions of a stretch are looked at in one round.
const sessionsMost = memory.MaxSummaries

type session struct {
	memory.Stretch
	until    memory.MessageID // its last message
	all      []memory.Message
	said     []memory.Message // those that the digest is made from
	place    *place
	written  bool // whether the model wrote what it was asked for
	failures int  // how often it failed there by now
	summary  *memory.Summary
	facts    []writtenFact
}

const (
	everywhere   = memory.ChannelID(0) // a model that can't be asked at all
	backoffFirst = 5 * time.Minute
	backoffMost  = 6 * time.Hour
)

// backoff says when a model may be asked again about a channel that it failed at: after five minutes, then twice as
// long with each failure, up to six hours. It is in memory only: after a restart the model is asked once more.
type backoff struct {
	mu sync.Mutex
	of map[memory.ChannelID]failures
}

type failures struct {
	count int
	until time.Time
}

// waits reports whether it is too early to ask.
func (b *backoff) waits(channel memory.ChannelID, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return now.Before(b.of[channel].until)
}

// note notes how the model did, and returns how often it failed at a channel since it last worked there. A model
// that didn't answer at all isn't asked about other channels either: waiting for each would hold up all. Six hours
// after a retry was possible, earlier failures are forgotten.
func (b *backoff) note(channel memory.ChannelID, now time.Time, err error) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = map[memory.ChannelID]failures{}
	}
	for _, at := range []memory.ChannelID{channel, everywhere} {
		f := b.of[at]
		if err == nil || at == everywhere && errors.Is(err, ErrMalformed) {
			delete(b.of, at)
			continue
		}
		if now.Sub(f.until) > backoffMost {
			f.count = 0
		}
		f.until = now.Add(min(backoffFirst<<min(f.count, 16), backoffMost))
		f.count++
		b.of[at] = f
	}
	return b.of[channel].count
}

// place is a channel that digests may be made of.
type place struct {
	guild  memory.GuildID
	learn  time.Time // since when facts may be learned in the guild
	people memory.People
	out    map[memory.UserID]bool // who opted out, as far as asked
}

type notice struct {
	channel memory.ChannelID
	long    Long
}

// Long returns the part of a session to condense; nil if the session isn't long.
type Long func(ctx context.Context) (*Part, error)

// Part is the oldest part of a long session, to be condensed with what was condensed before.
type Part struct {
	Guild    memory.GuildID
	Channel  memory.ChannelID
	Messages []memory.Message
	Before   *memory.Condensed // nil: it wasn't condensed yet
	Sources  []memory.Message  // of Before
	Name     func(memory.UserID) string
	Model    chat.Model       // that answers there
	Builder  *builder.Builder // of its prompts
	// Holds reports whether messages may still be used there.
	Holds func(ctx context.Context, messages []memory.Message) (bool, error)
}

type writtenFact struct {
	Message int
	Fact    string
}

const (
	condensePatience = 30 * time.Second
	condensers       = 4 // sessions condensed at once
	// of sessions that wait for each; more are noticed again with their next answer
	noticed = 256
	// PartMost messages are condensed at once.
	PartMost = 100
	// SessionMessages of a session are read at most.
	SessionMessages = 150
)

// ErrMalformed says that a model's writing can't be used. No error quotes it.
var ErrMalformed = errors.New("the model's answer isn't what it was asked for")
