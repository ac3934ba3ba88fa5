package memory

import (
	"context"
	"errors"
	"time"
)

// ErrNotFound says that the store holds nothing under the id or name asked for.
var ErrNotFound = errors.New("not found")

// ErrRefused says that an event can't be stored, whoever tries again: it is wrong in itself, or no number is
// left for what it tells of. Other failures may pass.
var ErrRefused = errors.New("refused")

// Store keeps what was said. Every implementation passes memorytest.Run.
//
//   - What was deleted is in no answer of the store that begins after Apply has returned.
//   - A message is found by full text once Apply has returned, and by its vector once an Indexer has been there.
//   - Reads don't wait for writes. Slices and pointers handed out may be shared: treat them as read-only.
//   - A channel or a person that isn't known has nothing. That isn't an error.
type Store interface {
	// Apply stores all events or none, durably. Applying them again changes nothing. It may be called from several
	// goroutines; an event that can't be stored fails its own call only, with ErrRefused.
	Apply(ctx context.Context, events ...Event) error
	Close() error

	// Guilds lists the known guilds by id, LocalGuild included if anything is in it.
	Guilds(ctx context.Context) ([]GuildID, error)
	// Guild is a guild's structure with all its channels; ErrNotFound if it was never seen.
	Guild(ctx context.Context, id GuildID) (*Guild, error)
	// People are the persons known in a guild, by id: all, or those with ids.
	People(ctx context.Context, guild GuildID, ids ...UserID) ([]Person, error)
	// Presence tells how much each of users has written in scope's channels, and when last.
	Presence(ctx context.Context, scope Scope, users []UserID) (map[UserID]Presence, error)
	// OptedOut reports whether somebody has opted out in a guild.
	OptedOut(ctx context.Context, guild GuildID, user UserID) (bool, error)
	// Spending is how many tokens were spent in a guild on the UTC day of a time, by who asked; under 0 if
	// that isn't kept.
	Spending(ctx context.Context, guild GuildID, day time.Time) (map[UserID]int, error)

	// Log is a channel's messages with after < id <= until, by id, the first limit of them.
	Log(ctx context.Context, channel ChannelID, after, until MessageID, limit int) ([]Message, error)
	// Around are the messages with ids, and up to before messages that precede and up to after that follow
	// each of ids, whether it exists or not: by id, each once.
	Around(ctx context.Context, channel ChannelID, ids []MessageID, before, after int) ([]Message, error)
	// Stretches are the messages round spots, up to so many before and after each: by channel, and by id those together
	// that are known to follow one another, each once.
	Stretches(ctx context.Context, reach map[Spot]int) ([][]Message, error)
	// Written calls do for each message that somebody wrote in a guild, or Everywhere, by channel and id, as
	// of one moment.
	Written(ctx context.Context, guild GuildID, user UserID, do func(Message) error) error
	// MessageNamed is the message of the channel that Named gave the name to; ErrNotFound if there is none.
	MessageNamed(ctx context.Context, channel ChannelID, name string) (MessageID, error)
	// NameOf are the names of those of ids that have one.
	NameOf(ctx context.Context, channel ChannelID, ids []MessageID) (map[MessageID]string, error)

	// FullText are the best limit messages in scope that hold at least one of terms, as text.Terms makes
	// them, best first.
	FullText(ctx context.Context, scope Scope, terms []string, limit int) ([]TextHit, error)
	// Frequencies counts the messages in scope's channels that can be recalled, and those with each of terms,
	// which may stop at limit. Nothing outside these channels counts, so that nothing can be told of it.
	Frequencies(ctx context.Context, scope Scope, terms []string, limit int) (messages int, counts []int, err error)
	// Starred are the newest limit messages in scope that are marked as important and can be recalled, newest first.
	Starred(ctx context.Context, scope Scope, limit int) ([]Spot, error)
	// Nearest are the limit segments with messages in scope whose vectors are nearest to vector, nearest
	// first. ErrNoVectors if space isn't Space, or no vector could be looked at in time.
	Nearest(ctx context.Context, scope Scope, space Space, vector []float32, limit int) ([]VectorHit, error)
	// Space is the vector space in use. It changes once all segments have vectors in the one that the store
	// was opened for.
	Space(ctx context.Context) (Space, error)

	// Waiting counts the segments of a guild, or Everywhere, that have no up-to-date vector in the space that
	// the store was opened for.
	Waiting(ctx context.Context, guild GuildID) (int, error)
	// Pending are at most limit of these segments, oldest first. Of a message they tell where it is, whose, and what it
	// says.
	Pending(ctx context.Context, limit int) ([]Segment, error)
	// Embedded stores one vector for each segment that Pending gave. That of a segment that has changed since
	// is dropped.
	Embedded(ctx context.Context, segments []Segment, vectors [][]float32) error
	// Wake receives after a commit that made segments pending.
	Wake() <-chan struct{}

	// Lore is what a guild was told to remember, by id.
	Lore(ctx context.Context, guild GuildID) ([]Lore, error)
	// Summaries are those of a channel, by id, which is their order in time.
	Summaries(ctx context.Context, channel ChannelID) ([]Summary, error)
	// SummaryBacklog are the stretches that need a summary: first those whose summary was invalidated, then,
	// of each channel, what can be recalled and Summarised hasn't reached, from since on if it has told
	// nothing; by end and channel.
	SummaryBacklog(ctx context.Context, since MessageID) ([]Stretch, error)
	// Condensed is what a channel's running session was condensed to, if it was; that of all channels for channel 0.
	Condensed(ctx context.Context, channel ChannelID) ([]Condensed, error)
	// Traces are how answers came about: by channel and id if an asker is given, else newest first.
	Traces(ctx context.Context, q TraceQuery) ([]Trace, error)
	// Records are the calls that q asks for, newest first if it doesn't say otherwise.
	Records(ctx context.Context, q RecordQuery) ([]Record, error)
	// FingerprintKey is the store's key for FingerprintOf. It never changes, backups have it too.
	FingerprintKey(ctx context.Context) ([]byte, error)

	// HeardUntil is, by channel of a guild, the newest message that Discord told of live, or the later point
	// before which nothing counts as missing.
	HeardUntil(ctx context.Context, guild GuildID) (map[ChannelID]MessageID, error)
	// Gaps are the stretches of a guild, or Everywhere, that are to be fetched, what was missed before what
	// was asked for; or, if sweep, those to be compared with Discord, the greatest Until first.
	Gaps(ctx context.Context, guild GuildID, sweep bool) ([]Gap, error)
	// Questions are the open ones, by id. One goes with its message, and with all of its author, channel or guild.
	Questions(ctx context.Context) ([]OpenQuestion, error)

	// Extent counts what a Forgetting would delete now.
	Extent(ctx context.Context, q ExtentQuery) (Extent, error)
	// Forget deletes what f selects. From its first commit on re-sent events don't bring that data back. Hiding it
	// runs in batches: once progress, if not nil, is called, Forget returns, or a store that a crash interrupted
	// is opened again, no later read sees it. Erasing it from the storage runs in further batches, of which
	// progress is told; Resume continues after an interruption.
	Forget(ctx context.Context, f Forgetting, progress func(done, total int)) (Receipt, error)
	// Resume continues an interrupted Forgetting, or gives the receipt of a finished one; ErrNotFound if there is none.
	Resume(ctx context.Context, id int64, progress func(done, total int)) (Receipt, error)
	// Forgettings are the receipts so far of those that are unfinished, oldest first; with a user, of those
	// that are finished and deleted all that the user wrote in the guild, newest first.
	Forgettings(ctx context.Context, guild GuildID, user UserID) ([]Receipt, error)
	// Withdrawn are the oldest limit messages of Hark's that Discord still shows although they repeat what
	// was forgotten.
	Withdrawn(ctx context.Context, limit int) ([]Withdrawn, error)
	// Expire deletes what is too old, and erases it.
	Expire(ctx context.Context, e Expiry) error
	// Erase takes what was deleted out of the storage's unused space. With wait it waits some seconds for
	// readers that are in the way; without, it tries only if it is due.
	Erase(ctx context.Context, wait bool) error
}
