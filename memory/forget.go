package memory

import "time"

// LeftFor is how long a guild that removed Hark is kept, in case that was a mistake.
const LeftFor = 30 * 24 * time.Hour

// Everywhere means all guilds, as the guild of a Forgetting.
const Everywhere GuildID = -1

// Forgetting is what is to be forgotten: every message for which all that is set here holds. It stays on
// record, without any text, so that what is fetched, imported or restored later is forgotten again.
//
// What goes with a message: its full text, its segment's vector, what it was called, Hark's answers made from
// it and their traces, the records of calls that are about it, the facts, the lore and the summaries that it
// is a source of. Lore is forgotten by itself as well, as a message would be that was written by whoever told
// it, where and when they did. With all of a channel or a guild (User and Before not set) go the settings
// that were chosen for it, but see Setting.StaysWithChannel. With somebody's messages (User set) go the names
// of threads that they made, and with all of them (Channel and Before not set) goes what is known of the
// person. With a whole guild (neither Channel, User nor Before set) go its people, and if Hark isn't there
// any more, or Why is WhyLeft, its structure and what was chosen in it.
type Forgetting struct {
	ID      int64     // given by the store
	Guild   GuildID   // or Everywhere
	Channel ChannelID // with its threads; 0 for all channels
	User    UserID    // who wrote; 0 for everybody
	// Before is the end, exclusive; zero for the time at which it was begun, At, which is the end as well if
	// Before is later: what isn't said yet can't be forgotten. Where a whole channel was deleted it holds for
	// what comes later too.
	Before time.Time
	Why    Why
	At     time.Time
}

// Why is what made something be forgotten.
type Why string

const (
	WhyMember  Why = "member"  // somebody asked to be forgotten
	WhyOptOut  Why = "opt-out" // somebody opted out
	WhyPurge   Why = "purge"   // an admin or the operator
	WhyDeleted Why = "deleted" // the channel was deleted in Discord
	WhyLeft    Why = "left"    // Hark was removed from the guild
	WhyAge     Why = "age"     // the retention's end
)

// Receipt is what a Forgetting took away, in numbers. As JSON it is the numbers alone.
type Receipt struct {
	Forgetting Forgetting `json:"-"`
	Messages   int        `json:"messages"` // with the text of edits that came before their message
	Segments   int        `json:"segments"` // that were dropped or made again
	Vectors    int        `json:"vectors"`
	Answers    int        `json:"answers"` // of Hark's, that used what was forgotten
	Facts      int        `json:"facts"`
	Lore       int        `json:"lore"`
	// of which what is left is summed up again, and what sessions that go on were condensed to
	Summaries int `json:"summaries"`
	Records   int `json:"records"` // of calls
	People    int `json:"people"`
}

// Extent is how much there is to be forgotten.
type Extent struct {
	Messages  int
	Channels  int // that they lie in
	Facts     int
	Lore      int
	Summaries int // with what sessions that go on were condensed to
	Answers   int // of Hark's, that used it, or an answer that did
}

func (e Extent) without(o Extent) Extent {
	return Extent{e.Messages - o.Messages, e.Channels - o.Channels, e.Facts - o.Facts, e.Lore - o.Lore,
		e.Summaries - o.Summaries, e.Answers - o.Answers}
}

// ExtentQuery says what an Extent counts.
type ExtentQuery struct {
	Forgetting             // Why doesn't matter
	Messages   []MessageID // if not nil, only these of Channel, as if they were deleted
	// Within, if not nil, leaves out what lies in other channels, or was made from what does.
	Within []ChannelID
}

// Withdrawn is a message of Hark's that repeats what was forgotten, or what was edited since. It is gone from
// the log, but Discord still shows it.
type Withdrawn struct {
	Guild   GuildID
	Channel ChannelID
	Message MessageID
	First   bool // whether it is the answer's first message rather than a further one
	Unasked bool // whether it is because the question was deleted, told of the first message only
}

// Expiry says what is too old.
type Expiry struct {
	Prompts  time.Time // prompts built before
	Spending time.Time // what was spent on questions asked before
	Records  RecordLimits
}
