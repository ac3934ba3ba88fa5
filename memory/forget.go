package memory

import (
	"errors"
	"time"
)

// LeftFor is how long data is kept after a guild removed Hark, in case that was a mistake.
const LeftFor = 30 * day

// Everywhere stands for all guilds, where a method or a Forgetting allows it.
const Everywhere GuildID = -1

// Forgetting selects what to forget: every message that matches all fields that are set. It stays on record,
// without any text, so that what is fetched, imported or restored later is forgotten again.
//
// With a message go its full text, its segment's vector, its name, Hark's answers made from it and their
// traces, the records of calls about it, and the facts, lore and summaries made from it. Lore is also
// selected itself, like a message by its teller, where and when they told it. A Forgetting of a whole channel
// or guild (without User and Before) takes its settings, except those of Setting.StaysWithChannel. One of a
// person (User set) takes the names of threads that they made; of the whole person (without Channel and
// Before), all that is known of them. One of a whole guild (only Guild set) takes its people, and if Hark has
// left it, or Why is WhyLeft, its structure and choices.
type Forgetting struct {
	ID      int64     // set by the store
	Guild   GuildID   // or Everywhere
	Channel ChannelID // with its threads; 0 for all channels
	User    UserID    // the author; 0 for everybody
	// Before is the end, exclusive; zero means At. At is also the end if Before is later, because what isn't
	// said yet can't be forgotten. Exception: if a whole channel was deleted, later messages are covered too.
	Before time.Time
	Why    Why
	At     time.Time
}

// Place implements Event. A Forgetting is an event if another store recorded it. It begins, as by an Opted, unless one
// that covers as much exists. Its channels are several, so it names none.
func (f Forgetting) Place() (GuildID, ChannelID) { return f.Guild, 0 }

func (Forgetting) decides() {}

// Checked returns an error unless it is known when f was ordered.
func (f Forgetting) Checked() (Event, error) {
	if f.At.IsZero() {
		return nil, errors.New("begin to forget: when that was ordered isn't known")
	}
	return f, nil
}

type Why string

const (
	WhyMember  Why = "member"  // somebody asked to be forgotten
	WhyOptOut  Why = "opt-out" // somebody opted out
	WhyPurge   Why = "purge"   // an admin or the operator
	WhyDeleted Why = "deleted" // the channel was deleted in Discord
	WhyLeft    Why = "left"    // Hark was removed from the guild
	WhyAge     Why = "age"     // the retention has ended
)

// DeletionReport counts what a Forgetting deleted. Its JSON has only the counts.
type DeletionReport struct {
	Forgetting Forgetting `json:"-"`
	Messages   int        `json:"messages"` // including edits that came before their message
	Segments   int        `json:"segments"` // deleted or changed
	Vectors    int        `json:"vectors"`
	Answers    int        `json:"answers"` // of Hark's, made from what was forgotten
	Facts      int        `json:"facts"`
	Lore       int        `json:"lore"`
	// with condensed sessions; the rest of them is summarised again
	Summaries int `json:"summaries"`
	Records   int `json:"records"` // of calls
	People    int `json:"people"`
}

type DryRun struct {
	Messages  int
	Channels  int
	Facts     int
	Lore      int
	Summaries int // with condensed sessions
	Answers   int // of Hark's, made from it directly or through other answers
}

func (e DryRun) without(o DryRun) DryRun {
	return DryRun{e.Messages - o.Messages, e.Channels - o.Channels, e.Facts - o.Facts, e.Lore - o.Lore,
		e.Summaries - o.Summaries, e.Answers - o.Answers}
}

// DryRunQuery selects what a DryRun counts.
type DryRunQuery struct {
	Forgetting             // Why is ignored
	Messages   []MessageID // if not nil, only these of Channel, as if deleted
	// Within, if not nil, leaves out what is in other channels or was made from them.
	Within []ChannelID
}

// Withdrawn is a message of Hark's that repeats what was forgotten or edited. It is gone from the log, but
// Discord still shows it.
type Withdrawn struct {
	Guild   GuildID
	Channel ChannelID
	Message MessageID
	First   bool // the answer's first message, not a further one
	Unasked bool // the question was deleted; set for the first message only
}

// Expiry says what is too old to keep.
type Expiry struct {
	Prompts  time.Time // prompts built before
	Spending time.Time // spending on questions asked before
	Records  RecordLimits
}
