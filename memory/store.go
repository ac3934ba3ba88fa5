package memory

import (
	"context"
	"errors"
	"time"
)

// ErrNotFound says that the store holds nothing under the id or name asked for.
var ErrNotFound = errors.New("not found")

// ErrRefused says that an event can't be stored, whoever tries again: it is wrong in itself, or there is no number
// left for what it tells of. Other failures may pass.
var ErrRefused = errors.New("refused")

// Store keeps what was said. Every implementation passes memorytest.Run.
//
//   - Apply is durable: when it returns nil, the events survive the death of the process. It applies all of
//     them or none, is safe to repeat, and may be called from several goroutines, whose batches it joins. An
//     event that can't be stored fails its own call only, with ErrRefused.
//   - A message can be found by full text once Apply has returned, and by its vector once an Indexer has been
//     there.
//   - What was deleted is not in any answer of the store that begins after Apply has returned.
//   - Reads don't wait for writes. Slices and pointers handed out may be shared: treat them as read-only.
type Store interface {
	Apply(ctx context.Context, events ...Event) error

	// Guilds lists the guilds known, LocalGuild included if anything is in it, by id.
	Guilds(ctx context.Context) ([]GuildID, error)
	// Guild is a guild's structure with all its channels; ErrNotFound if it was never seen.
	Guild(ctx context.Context, id GuildID) (*Guild, error)
	// People are all persons known in a guild, by id.
	People(ctx context.Context, guild GuildID) ([]Person, error)
	// Person is somebody known in a guild; ErrNotFound if nothing is known of them.
	Person(ctx context.Context, guild GuildID, user UserID) (Person, error)
	// Lore is what a guild was told to remember, by id.
	Lore(ctx context.Context, guild GuildID) ([]Lore, error)
	// Summaries are those of a channel, by id, which is their order in time.
	Summaries(ctx context.Context, channel ChannelID) ([]Summary, error)
	// Condensed is what the older part of a channel's session was condensed to, if it was; of channel 0 it is that of all
	// channels, by channel.
	Condensed(ctx context.Context, channel ChannelID) ([]Condensed, error)
	// Unsummarised is what is to be summed up: first the stretches whose summaries were taken away with a source, of which
	// nothing may be left, then, of what can be recalled, of each channel, what was said after what Summarised has told of, or, where it told of nothing, from
	// since on, by their ends and channels. Until is the last message there.
	Unsummarised(ctx context.Context, since MessageID) ([]Stretch, error)
	// Presence tells of those of users who have written in scope how much and when last, however long ago:
	// scope's times and authors are not applied.
	Presence(ctx context.Context, scope Scope, users []UserID) (map[UserID]Presence, error)

	// Messages are those of ids that exist in the channel, by id.
	Messages(ctx context.Context, channel ChannelID, ids []MessageID) ([]Message, error)
	// Around is the stretch of a channel round each of ids: up to before messages that precede it, itself,
	// and up to after that follow; ids needn't exist. One slice in order of id, each message once.
	Around(ctx context.Context, channel ChannelID, ids []MessageID, before, after int) ([]Message, error)

	// MessageNamed is the message of the channel that Named gave the name to; ErrNotFound if there is none.
	MessageNamed(ctx context.Context, channel ChannelID, name string) (MessageID, error)
	// NameOf are the names of those of ids that have one.
	NameOf(ctx context.Context, channel ChannelID, ids []MessageID) (map[MessageID]string, error)

	// FullText are the best limit messages in scope that hold at least one of terms (as text.Terms makes
	// them), best first. It never fails for what the terms are.
	FullText(ctx context.Context, scope Scope, terms []string, limit int) ([]TextHit, error)
	// Starred are the messages in scope that are marked as important and can be recalled, the newest limit of them, newest
	// first, those of one id by channel.
	Starred(ctx context.Context, scope Scope, limit int) ([]Spot, error)
	// Frequencies tells how many messages that can be recalled scope's channels hold, and for each of terms how
	// many hold it; a count above limit may be given as limit. Nothing else is counted, so that what is said
	// elsewhere can't be told from what is found here. Scope's times and authors are not applied.
	Frequencies(ctx context.Context, scope Scope, terms []string, limit int) (messages int, counts []int, err error)
	// Space is the space in which Nearest compares. It changes when all segments have vectors in the one that the
	// store was opened for.
	Space(ctx context.Context) (Space, error)
	// Nearest are the limit segments with messages in scope whose vectors are nearest to vector, nearest
	// first. ErrNoVectors if none of the segments has one that could be looked at in time, or if space isn't the one
	// in use.
	Nearest(ctx context.Context, scope Scope, space Space, vector []float32, limit int) ([]VectorHit, error)

	// Trace is how an answer came about, by the id of any of its messages; ErrNotFound if none was kept.
	Trace(ctx context.Context, channel ChannelID, answer MessageID) (Trace, error)
	// Traces are those of the answers whose ids are smaller than before, the newest limit of them, newest first.
	Traces(ctx context.Context, before MessageID, limit int) ([]Trace, error)
	// Prompt is what the model was sent for an answer; ErrNotFound if it wasn't kept, or isn't any more.
	Prompt(ctx context.Context, channel ChannelID, answer MessageID) (Prompt, error)
	// KeepTrace stores a trace under its answer, in the place of an earlier one. The answer is deleted with any of its Sources,
	// and when one of them changes, also if that happened before the trace came. An answer of Hark's may grow without that, since
	// it grows while it is sent. A source in a channel that isn't known counts as deleted. The messages of a summary that is a
	// source are sources as well. The answer also goes when its Asker or one of Named is forgotten as a whole. Nothing is kept of
	// what was answered to somebody who has opted out.
	//
	// Withdrawn tells of an answer that is deleted if the source is its question or one that it Repeats, or if a person, a channel
	// or a guild is forgotten as a whole. Of an answer that was made from one that goes it tells where both repeat.
	//
	// A trace's Prompt is kept beside it, in the place of an earlier one, if the question is among its Sources, all Sources are in
	// the log as they were used, and none of Named has opted out or has been forgotten as a whole since it was built. It goes with
	// its trace. It goes by itself when the text of an answer of Hark's in it changes and when a fact in it is told anew. What is
	// asked in LocalGuild may be about people of any guild.
	KeepTrace(ctx context.Context, t Trace) error

	// Version changes with everything that is written, by whomever. What is read between two calls that gave the same is
	// of one moment.
	Version(ctx context.Context) (int64, error)
	// Log is a channel's messages with after < id <= until, by id, the first limit of them.
	Log(ctx context.Context, channel ChannelID, after, until MessageID, limit int) ([]Message, error)
	// HeardUntil is, for each channel of a guild, the newest message that Discord has told of live, or the point
	// before which nothing counts as missing, if that is later. Channels of which neither is known are left out.
	HeardUntil(ctx context.Context, guild GuildID) (map[ChannelID]MessageID, error)
	// Gaps are the gaps that aren't filled, without those that are Sweep, those that were missed before those that were asked for.
	Gaps(ctx context.Context) ([]Gap, error)
	// Unswept are the stretches of a guild's channels, or of all with Everywhere, that are to be compared with Discord: those with
	// the greatest Until first, then by channel.
	Unswept(ctx context.Context, guild GuildID) ([]Gap, error)
	// Questions are those that are open, by id. One goes with its message, and with all of its author, channel or guild.
	Questions(ctx context.Context) ([]OpenQuestion, error)
	// WaitingIn is how many of the segments that Waiting counts are a guild's.
	WaitingIn(ctx context.Context, guild GuildID) (int, error)
	// OptedOut reports whether somebody has opted out in a guild.
	OptedOut(ctx context.Context, guild GuildID, user UserID) (bool, error)

	// Records are the calls that q asks for, the newest first if it doesn't say otherwise. Of two of one moment that came last
	// which was told of last.
	Records(ctx context.Context, q RecordQuery) ([]Record, error)
	// ForgetRecords takes away the records that l has no room for, and tells how many. They are out of all answers of the
	// store with each step's commit, and out of the file when it returns nil.
	ForgetRecords(ctx context.Context, l RecordLimits) (int, error)
	// FingerprintKey is the store's key for FingerprintOf: the same from its first use on, also after closing and in backups.
	FingerprintKey(ctx context.Context) ([]byte, error)

	// ForgetPrompts takes away the prompts that were built before a time, and tells how many. They are out of all answers
	// of the store with each step's commit, and out of the file when it returns nil.
	ForgetPrompts(ctx context.Context, before time.Time) (int, error)

	// Spending is how many tokens were spent on questions that were asked in a guild on the day, in UTC, of a time, by who
	// asked; under 0 those of which that isn't kept.
	Spending(ctx context.Context, guild GuildID, day time.Time) (map[UserID]int, error)
	// ForgetSpending takes away what was spent on questions that were asked before a time, and tells on how many.
	ForgetSpending(ctx context.Context, before time.Time) (int, error)

	Forgetter
	Queue
	Close() error
}

// Forgetter forgets.
type Forgetter interface {
	// Extent tells how much a Forgetting would take away now. Its Why doesn't matter.
	Extent(ctx context.Context, f Forgetting) (Extent, error)
	// Forget begins a Forgetting and carries it out. Once it has begun, durably, nothing of what is to be forgotten is
	// in any answer of the store that begins later, and it counts as deleted for all that is applied later; taking it
	// out of the file goes on in steps, between which others write. If ctx or the process ends, whoever calls
	// CarryOut goes on. progress, if not nil, is told how many messages of how many are gone.
	Forget(ctx context.Context, f Forgetting, progress func(done, total int)) (Receipt, error)
	// Unfinished are the forgettings that were begun and aren't carried out, oldest first.
	Unfinished(ctx context.Context) ([]Forgetting, error)
	// CarryOut goes on with an unfinished forgetting, or gives the receipt of a finished one. ErrNotFound if there
	// is none with that id.
	CarryOut(ctx context.Context, id int64, progress func(done, total int)) (Receipt, error)
	// Withdrawn are answers that Discord shows although they used what was forgotten, the oldest limit of them.
	Withdrawn(ctx context.Context, limit int) ([]Withdrawn, error)
}

// Queue is the durable queue of segments whose vectors are missing or out of date in the space that the store was
// opened for, oldest first. A segment is out of date from the commit that changed it on, in the same transaction.
// While that space is another than the one in use, the vectors are kept beside those in use, and take their place
// in one commit when none is missing.
type Queue interface {
	// Waiting is how many segments are to be embedded.
	Waiting(ctx context.Context) (int, error)
	// Pending are at most limit segments to embed.
	Pending(ctx context.Context, limit int) ([]Segment, error)
	// Embedded stores the vectors of segments as Pending gave them, one for each. A vector of a segment
	// that has changed meanwhile is dropped: the segment is still pending.
	Embedded(ctx context.Context, segments []Segment, vectors [][]float32) error
	// Wake receives after a commit that made segments pending.
	Wake() <-chan struct{}
}

// ErrNoVectors says that nothing has been embedded yet in the space in use, or isn't ready to be searched, so that only
// full text can find.
var ErrNoVectors = errors.New("no vectors yet")

// Scope is where and when to look. The zero Scope holds nothing.
type Scope struct {
	Channels []ChannelID // only these; those that don't exist are passed over
	Since    time.Time   // inclusive; zero: from the beginning
	Until    time.Time   // exclusive; zero: to the end
	Authors  []UserID    // only what they said; empty: what anybody said
}

// TextHit is a message found by full text.
type TextHit struct {
	Channel ChannelID
	ID      MessageID
	Score   float64 // BM25 as the store computes it, higher is better; only its order means anything
}

// VectorHit is a segment found by its vector.
type VectorHit struct {
	Channel    ChannelID
	Messages   []MessageID // of the segment, those in scope, by id
	Similarity float64     // cosine, in [-1, 1]
}

// Segment is a run of messages of one conversation in a channel, the unit that is embedded.
type Segment struct {
	ID       int64
	Channel  ChannelID
	Version  int64 // grows with each change of the segment's text
	Messages []Message
}

// Trace is all that went into one answer. But for Prompt it holds ids and numbers, no text: what was said is in the
// messages it points to, and goes with them.
type Trace struct {
	Guild    GuildID     `json:"guild"`
	Channel  ChannelID   `json:"channel"`
	Answer   MessageID   `json:"answer"`
	Parts    []MessageID `json:"parts,omitempty"` // further messages, where the answer didn't fit into one
	Question MessageID   `json:"question"`
	Asker    UserID      `json:"asker"`
	Model    string      `json:"model,omitempty"` // empty when the answer was extractive
	Mode     string      `json:"mode,omitempty"`  // the name of the mode whose instructions the model had; empty without a model
	Recalled []TraceHit  `json:"recalled"`        // best first
	// Sources are the question and all that the model was shown, in the versions that it was shown.
	Sources []Source `json:"sources,omitempty"`
	// Named are those whom the prompt names, whether it is kept or not.
	Named    []UserID   `json:"named,omitempty"`
	Sections []TraceUse `json:"sections"` // in the prompt's order
	// Tokens are those of the whole prompt, MaxTokens what it might have had, Reserved those kept for the answer, Window what the
	// model can take in of both, 0 if that isn't known.
	Tokens    int    `json:"tokens,omitempty"`
	MaxTokens int    `json:"max_tokens,omitempty"`
	Reserved  int    `json:"reserved,omitempty"`
	Window    int    `json:"window,omitempty"`
	Layout    string `json:"layout,omitempty"` // the prompt's form
	// Prompt is what the model was sent, where it is to be kept. Traces that are read are without it: see Store.Prompt.
	Prompt *Prompt `json:"-"`
	// Calls are those of tools that the model made, in order.
	Calls []TraceCall `json:"calls,omitempty"`
	// TextOnly says that vectors couldn't be searched, so that only full text found anything.
	TextOnly bool `json:"text_only,omitempty"`
	// HeldBack is how many of the messages that matter most to the question weren't used, since not everybody who can
	// read the answer may read them.
	HeldBack int           `json:"held_back,omitempty"`
	Search   time.Duration `json:"search"`
	Total    time.Duration `json:"total"`
}

// TraceHit is a message that was recalled.
type TraceHit struct {
	Channel   ChannelID `json:"channel"`
	Message   MessageID `json:"message"`
	Relevance float64   `json:"relevance"` // in [0, 1]
	Why       []string  `json:"why"`
	Number    int       `json:"number,omitempty"` // the [n] it had in the prompt; 0 if it was dropped
	Cited     bool      `json:"cited,omitempty"`
	// Context marks a message that the model was shown, under a number of its own or not.
	Context bool `json:"context,omitempty"`
	// Edited is when the text that was used was last edited, in milliseconds since 1970; 0 if it never was.
	Edited int64 `json:"edited,omitempty"`
}

// TraceCall is a call of a tool, without what it was called with and what it told.
type TraceCall struct {
	Tool    string        `json:"tool"`             // its name; "unknown" if there is no tool of the name that the model called
	Outcome string        `json:"outcome"`          // in a word or two, such as "ok" or "bad arguments"
	Round   int           `json:"round"`            // calls of one reply of the model have the same, from 1
	Shown   int           `json:"shown,omitempty"`  // messages that the model was shown
	Tokens  int           `json:"tokens,omitempty"` // of what the model was told
	Took    time.Duration `json:"took,omitempty"`
}

// TraceUse is what a section of the prompt used, in tokens, and what became of its items.
type TraceUse struct {
	Section  string `json:"section"`
	Tokens   int    `json:"tokens"`
	Floor    int    `json:"floor,omitempty"`
	Ceiling  int    `json:"ceiling,omitempty"`
	Included int    `json:"included,omitempty"`
	Cut      int    `json:"cut,omitempty"`     // of those included, the ones that aren't there in full
	Dropped  int    `json:"dropped,omitempty"` // items left out
	Why      string `json:"why,omitempty"`     // what kept them out or had them cut, in a word
}
