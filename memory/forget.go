package memory

import "time"

// LeftFor is how long the data of a guild that removed Hark is kept, in case that was a mistake.
const LeftFor = 30 * 24 * time.Hour

// Everywhere stands for all guilds, where a method or a Forgetting allows it.
const Everywhere GuildID = -1

// Forgetting selects what to forget: every message that matches all fields that are set. It stays on record,
// without any text, so that what is fetched, imported or restored later is forgotten again.
//
// With a message go its full text, its segment's vector, its name, Hark's answers made from it and their
// traces, the records of calls about it, and the facts, lore and summaries that it is a source of. Lore is
// also selected itself, like a message by its teller, where and when they told it. A Forgetting of a whole
// channel or guild (without User and Before) takes the settings chosen for it, except those of
// Setting.StaysWithChannel. One of a person (User set) takes the names of threads that they made; of the whole
// person (without Channel and Before), all that is known of them. One of a whole guild (only Guild set) takes
// its people, and if Hark has left it, or Why is WhyLeft, its structure and its choices.
type Forgetting struct {
	ID      int64     // given by the store
	Guild   GuildID   // or Everywhere
	Channel ChannelID // with its threads; 0 for all channels
	User    UserID    // who wrote; 0 for everybody
	// Before is the end, exclusive; zero means At, when it was begun. At is also the end if Before is later,
	// because what isn't said yet can't be forgotten. Exception: where a whole channel was deleted, it covers
	// later messages too.
	Before time.Time
	Why    Why
	At     time.Time
}

// Why is the reason for a Forgetting.
type Why string

const (
	WhyMember  Why = "member"  // somebody asked to be forgotten
	WhyOptOut  Why = "opt-out" // somebody opted out
	WhyPurge   Why = "purge"   // an admin or the operator
	WhyDeleted Why = "deleted" // the channel was deleted in Discord
	WhyLeft    Why = "left"    // Hark was removed from the guild
	WhyAge     Why = "age"     // the retention's end
)

// DeletionReport counts what a Forgetting deleted. Its JSON has the counts only.
type DeletionReport struct {
	Forgetting Forgetting `json:"-"`
	Messages   int        `json:"messages"` // with the text of edits that came before their message
	Segments   int        `json:"segments"` // that were dropped or made again
	Vectors    int        `json:"vectors"`
	Answers    int        `json:"answers"` // of Hark's, that used what was forgotten
	Facts      int        `json:"facts"`
	Lore       int        `json:"lore"`
	// with condensed sessions; what is left of them is summed up again
	Summaries int `json:"summaries"`
	Records   int `json:"records"` // of calls
	People    int `json:"people"`
}

// DryRun counts what would be forgotten.
type DryRun struct {
	Messages  int
	Channels  int // that they lie in
	Facts     int
	Lore      int
	Summaries int // with what sessions that go on were condensed to
	Answers   int // of Hark's, that used it, or an answer that did
}

func (e DryRun) without(o DryRun) DryRun {
	return DryRun{e.Messages - o.Messages, e.Channels - o.Channels, e.Facts - o.Facts, e.Lore - o.Lore,
		e.Summaries - o.Summaries, e.Answers - o.Answers}
}

// DryRunQuery selects what an DryRun counts.
type DryRunQuery struct {
	Forgetting             // Why doesn't matter
	Messages   []MessageID // if not nil, only these of Channel, as if they were deleted
	// Within, if not nil, leaves out what is in other channels or was made from them.
	Within []ChannelID
}

// Withdrawn is a message of Hark's that repeats what was forgotten or edited. It is gone from the log, but
// Discord still shows it.
type Withdrawn struct {
	Guild   GuildID
	Channel ChannelID
	Message MessageID
	First   bool // whether it is the answer's first message rather than a further one
	Unasked bool // whether it is because the question was deleted, told of the first message only
}

// Expiry says what is too old to keep.
type Expiry struct {
	Prompts  time.Time // prompts built before
	Spending time.Time // what was spent on questions asked before
	Records  RecordLimits
}
