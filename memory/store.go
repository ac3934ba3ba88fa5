// Package memory defines what Hark remembers: messages and the events that change them, people, the structure
// of guilds, and who may read what. Start with Store, then Event.
//
// The log of messages is the truth. Everything else (segments, vectors, full text, summaries, traces) derives
// from it, changes in the same commit or through a durable queue, and goes when its source is deleted.
// Segments, vectors and full text can always be rebuilt.
//
// Indexer, which embeds segments, and Janitor, which deletes expired data, work on any Store. The package
// imports internal/text only, and knows neither SQL nor Discord's API.
package memory

import (
	"context"
	"time"
)

// Store keeps messages and everything derived from them. Every implementation passes memorytest.Run. Who needs a part
// of it asks for that part.
//
//   - Once Apply has returned, no later read returns what it deleted.
//   - Full text finds a message once Apply has returned; vectors find it once an Indexer has embedded it.
//   - Reads don't wait for writes. Returned slices and pointers may be shared: don't change them.
//   - An unknown channel or person has no data. That isn't an error.
type Store interface {
	Writer
	GuildReader
	PeopleReader
	MessageReader
	TextIndex
	VectorIndex
	DerivedReader
	WorkReader
	Forgetter
}

// Opened is a Store for whoever opened it: it has besides what runs in the background, and what is shown to operators.
type Opened interface {
	Store
	VectorQueue
	Close() error
	// FingerprintKey returns the store's key for FingerprintOf. It never changes; backups include it.
	FingerprintKey(ctx context.Context) ([]byte, error)
	// SegmentsOf returns the segments of those ids that are in one. A later segment may reuse the id of a
	// deleted one.
	SegmentsOf(ctx context.Context, channel ChannelID, ids []MessageID) (map[MessageID]int64, error)
}

// Writer takes what happens.
type Writer interface {
	// Apply stores all events or none. They outlive the process. If the machine loses its power, the last moments'
	// may be missing, but not what somebody decided (see Decides) nor what came before that. Applying events again
	// changes nothing. It is safe for concurrent use; an invalid event fails only its own call, with ErrRefused.
	Apply(ctx context.Context, events ...Event) error
}

// GuildReader knows the structure of guilds.
type GuildReader interface {
	// Guilds returns the known guilds by id, with LocalGuild if anything is in it.
	Guilds(ctx context.Context) ([]GuildID, error)
	// Guild returns a guild with all its channels; ErrNotFound if it was never seen.
	Guild(ctx context.Context, id GuildID) (*Guild, error)
}

// PeopleReader knows people: their names, what they wrote and spent, and what they decided.
type PeopleReader interface {
	// People returns the people known in a guild, by id: all, or those in ids.
	People(ctx context.Context, guild GuildID, ids ...UserID) ([]Person, error)
	// Presence returns how much and when last each of users wrote in scope's channels.
	Presence(ctx context.Context, scope Scope, users []UserID) (map[UserID]Presence, error)
	Members
	// Spending returns the tokens spent in a guild on the UTC day of a time, by asker; under user 0 those of
	// askers who aren't kept.
	Spending(ctx context.Context, guild GuildID, day time.Time) (map[UserID]int, error)
}

// Members knows what users decided about themselves.
type Members interface {
	// Member returns what a user decided about themselves in a guild; zero if nothing.
	Member(ctx context.Context, guild GuildID, user UserID) (Member, error)
}

// MessageReader reads the log.
type MessageReader interface {
	// Log returns a channel's first limit messages with after < id <= until, by id.
	Log(ctx context.Context, channel ChannelID, after, until MessageID, limit int) ([]Message, error)
	// Around returns the messages with ids, and up to before messages before and after messages after each
	// id, which needn't exist: by id, each once.
	Around(ctx context.Context, channel ChannelID, ids []MessageID, before, after int) ([]Message, error)
	// Windows returns runs of consecutive messages: those at each spot, with up to reach[spot] before and
	// after it. Runs are by channel, their messages by id, each once.
	Windows(ctx context.Context, reach map[MessageRef]int) ([][]Message, error)
	// MessagesBy calls do for each message of a user in a guild, or Everywhere, by channel and id, from one
	// snapshot.
	MessagesBy(ctx context.Context, guild GuildID, user UserID, do func(Message) error) error
	ExternalIDs
	// Activity counts the messages in scope by UTC day, or by day and author, ascending. Messages of every
	// Kind count, as Log returns them. Of each channel it looks at no more than the newest limit messages
	// between scope's times; 0: at all. Counting by author reads every message, by day only an index.
	Activity(ctx context.Context, scope Scope, byAuthor bool, limit int) ([]Activity, error)
}

// ExternalIDs knows the ids of messages outside Discord.
type ExternalIDs interface {
	// ExternalIDs returns external ids of a channel's messages: those of messages, and those among ids. See
	// ExternalIDSeen and MessageByExternalID.
	ExternalIDs(ctx context.Context, channel ChannelID, messages []MessageID, ids ...string) (map[MessageID]string, error)
}

// TextIndex finds messages by their words, and those that members starred.
type TextIndex interface {
	// FullText returns the best limit messages in scope with at least one of terms (see text.Terms), best
	// first.
	FullText(ctx context.Context, scope Scope, terms []string, limit int) ([]TextHit, error)
	// Frequencies counts the messages in scope's channels that can be recalled, and those with each of terms,
	// where it may stop at limit. It ignores other channels, so that nothing leaks from them.
	Frequencies(ctx context.Context, scope Scope, terms []string, limit int) (messages int, counts []int, err error)
	// Starred returns the newest limit starred messages in scope that can be recalled, newest first.
	Starred(ctx context.Context, scope Scope, limit int) ([]MessageRef, error)
}

// VectorIndex finds segments by their vectors.
type VectorIndex interface {
	// Nearest returns the limit segments with messages in scope whose vectors are nearest to vector, nearest
	// first; ErrNoVectors if space isn't Space, or no vector could be searched in time.
	Nearest(ctx context.Context, scope Scope, space Space, vector []float32, limit int) ([]VectorHit, error)
	// Space returns the active vector space. The store switches to the one that it was opened for once all
	// segments have vectors there.
	Space(ctx context.Context) (Space, error)
}

// VectorQueue has the segments that an Indexer works off.
type VectorQueue interface {
	Waiting(ctx context.Context, guild GuildID) (int, error) // as in WorkReader
	// Pending returns at most limit segments that wait, oldest first. Their messages have only place, author and
	// text.
	Pending(ctx context.Context, limit int) ([]Segment, error)
	// Embedded stores one vector for each segment from Pending, except for those that have changed since.
	Embedded(ctx context.Context, segments []Segment, vectors [][]float32) error
	// Wake receives after a commit that made segments pending.
	Wake() <-chan struct{}
}

// DerivedReader reads what was made from messages.
type DerivedReader interface {
	// Lore returns a guild's lore, by id.
	Lore(ctx context.Context, guild GuildID) ([]Lore, error)
	// Summaries returns a channel's summaries, by id, which is their order in time.
	Summaries(ctx context.Context, channel ChannelID) ([]Summary, error)
	// SummaryBacklog returns the stretches that need a summary: those whose summary was invalidated first,
	// then each channel's messages that can be recalled and that no Summarised covers, by end and channel. In
	// a channel without a Summarised they begin at since.
	SummaryBacklog(ctx context.Context, since MessageID) ([]Stretch, error)
	// Condensed returns the condensed part of a channel's running session, if any; for channel 0, of all
	// channels.
	Condensed(ctx context.Context, channel ChannelID) ([]Condensed, error)
	// Traces returns the traces of answers, the greatest id first, then by channel.
	Traces(ctx context.Context, q TraceQuery) ([]Trace, error)
	// Records returns the calls that q selects, newest first unless it says otherwise.
	Records(ctx context.Context, q RecordQuery) ([]Record, error)
}

// WorkReader knows what is left to do: to embed, to fetch, to answer, to take back.
type WorkReader interface {
	// Waiting counts the segments of a guild, or Everywhere, without an up-to-date vector in the space that
	// the store was opened for.
	Waiting(ctx context.Context, guild GuildID) (int, error)
	// HeardUntil returns, for each channel of a guild, the newest message that Discord sent live, or the
	// later point before which nothing counts as missing.
	HeardUntil(ctx context.Context, guild GuildID) (map[ChannelID]MessageID, error)
	// Gaps returns the stretches of a guild, or Everywhere, to fetch, missed ones before requested ones; or,
	// if sweep, those to compare with Discord, the greatest Until first.
	Gaps(ctx context.Context, guild GuildID, sweep bool) ([]Gap, error)
	// Questions returns the open questions, by id. A question goes with its message, and when its author,
	// channel or guild is forgotten as a whole.
	Questions(ctx context.Context) ([]OpenQuestion, error)
	// Withdrawn returns the oldest limit messages of Hark's that Discord still shows although they repeat
	// forgotten text.
	Withdrawn(ctx context.Context, limit int) ([]Withdrawn, error)
}

// Forgetter deletes.
type Forgetter interface {
	// DryRun counts what a Forgetting would delete now.
	DryRun(ctx context.Context, q DryRunQuery) (DryRun, error)
	// Forget deletes what f selects. From its first commit on, re-sent events don't bring it back. Hiding it
	// runs in batches: no later read sees it once progress (if not nil) is called, Forget returns, or a store
	// that crashed is open again. Erasing it from the storage runs in further batches, which call progress.
	//
	// If f.ID isn't 0, Forget continues that Forgetting after an interruption, or returns its report if it is
	// finished; ErrNotFound if there is none. The other fields are ignored then.
	Forget(ctx context.Context, f Forgetting, progress func(done, total int)) (DeletionReport, error)
	// Forgettings returns the reports so far of unfinished ones, oldest first; with a user, of finished ones
	// that deleted everything the user wrote in the guild, newest first.
	Forgettings(ctx context.Context, guild GuildID, user UserID) ([]DeletionReport, error)
	// Expire deletes what is too old, and erases it.
	Expire(ctx context.Context, e Expiry) error
	// Erase overwrites deleted data in the storage's unused space. With wait it waits some seconds for
	// readers in the way; without, it tries only when due.
	Erase(ctx context.Context, wait bool) error
}

// Scope limits a search. The zero Scope matches nothing.
type Scope struct {
	Channels []ChannelID // unknown ones are ignored
	Since    time.Time   // inclusive; zero: no limit
	Until    time.Time   // exclusive; zero: no limit
	Authors  []UserID    // empty: everybody
}

// TextHit is a message found by full text.
type TextHit struct {
	Channel ChannelID
	ID      MessageID
	Score   float64 // the store's BM25, higher is better; only the order matters
}

// VectorHit is a segment found by its vector.
type VectorHit struct {
	Channel    ChannelID
	Messages   []MessageID // those in scope, by id
	Similarity float64     // cosine, in [-1, 1]
}
