package ingest

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"hark/bot/discord"
	"hark/internal/ttl"
	"hark/memory"
	"hark/search"
)

// rawEvent is a gateway event as it came.
type rawEvent struct {
	kind string // MESSAGE_CREATE, …
	data json.RawMessage
	// fetched, if not nil, replaces data.
	fetched *fetched
	decoded decoded
}

// decoded is an event's data.
type decoded struct {
	message *discord.Message             // that the event is about; may be nil
	read    func(*converter, *converted) // nil: the data isn't decoded yet
}

// fetched is Discord's answer about something incomplete. It is queued like an event, so that order is kept.
type fetched struct {
	incomplete
	asChannel *discord.Channel
	asGuild   *discord.Guild
}

// converted is what an event means.
type converted struct {
	events []memory.Event
	ask    *Question

	merge       *memory.Guild             // a guild without its channels
	guilds      []memory.GuildID          // all that Hark is in, if the event says so
	unavailable memory.GuildID            // a guild with an outage
	ready       memory.GuildID            // a guild that the events describe completely
	update      bool                      // the events carry an older message's current state
	heard       memory.MessageID          // a message sent or a command used just now; 0: neither
	met         []seenMember              // members whose roles the event has, and who acted or were named
	seen        []memory.Person           // all members whose roles the event has
	members     func(*search.MemberRoles) // records who has which roles; may be nil
	plan        *catchUpPlan              // the channels' newest messages, if the event has them
	incomplete  []incomplete              // to be fetched
	calendar    *calendar                 // what a guild's calendar has now; nil: nothing of it
	err         error                     // why it can't be read
}

// incomplete is a channel or, with channel 0, a guild that Discord described incompletely. Nothing of it is recalled
// until it is fetched.
type incomplete struct {
	guild   memory.GuildID
	channel memory.ChannelID
	version int // changes with every event about it
}

func (u incomplete) key() any {
	if u.channel != 0 {
		return u.channel
	}
	return u.guild
}

// seenMember is a member with roles and the time of joining.
type seenMember struct {
	person memory.Person
	joined time.Time
}

// Question is a message that asks Hark something.
type Question struct {
	ID       memory.MessageID
	Guild    memory.GuildID
	Channel  memory.ChannelID
	Parent   memory.ChannelID // if Channel is a thread
	Asker    memory.UserID
	Proxied  bool // a webhook asks, so nobody can be pinged, or press the asker's buttons
	Name     string
	Text     string
	Mentions []memory.UserID
	ReplyTo  memory.MessageID
	Below    bool                 // it replies to somebody else than Hark
	Replied  *Unlogged            // the message of ReplyTo, if that isn't logged; else nil
	Roles    []memory.RoleID      // the asker's roles
	Files    []discord.Attachment // of the message and of the one it replies to
	// At is when it was asked by Discord's clock; zero: when its message was written.
	At time.Time

	// Consulted says that an Answerer was asked where messages are logged. Calls are its records.
	Consulted bool
	Calls     []memory.Record

	Edited time.Time // of the version asked

	Shown []memory.MessageID // messages of an earlier or interrupted answer
	More  []memory.MessageID // messages below it

	Reasked   bool   // asked before: the text changed, or somebody asks again
	Withdrawn bool   // the mention was removed
	Brief     bool   // only its text is known
	Quiet     bool   // the asker is told elsewhere that the queue is full
	Resumed   bool   // an earlier process accepted it
	Round     string // distinguishes its messages from those of earlier rounds
}

// calendar is news of a guild's scheduled events. Each is kept as lore of its name, for as long as Discord shows it.
type calendar struct {
	guild memory.GuildID
	shown []memory.Lore
	over  []int64 // ids of those that Discord shows no more
	whole bool    // whether Discord shows no others
}

// catchUpPlan is what to check in a guild: its channels' newest messages by Discord's account and, after an
// absence, the channels to look for.
type catchUpPlan struct {
	guild memory.GuildID
	// whole means all of the guild, after an absence.
	whole    bool
	listed   map[memory.ChannelID]bool // all of Discord's channels, if it is whole
	channels []channelSnapshot
	parents  []memory.ChannelID // may have archived threads, which the guild doesn't list

	at      memory.MessageID // nothing later is missing
	heard   lastSeen
	since   memory.MessageID   // for new channels
	missing []memory.ChannelID // that Discord doesn't list any more: deleted, archived, or hidden
}

// channelSnapshot is a channel with its newest message.
type channelSnapshot struct {
	id     memory.ChannelID
	last   memory.MessageID // newest ever
	thread bool
}

// converter turns gateway events into memory's. One goroutine uses it.
type converter struct {
	self    memory.UserID
	logBots bool // by default
	// bots, if not nil, returns what becomes of messages of bots and webhooks in a channel; otherwise by default.
	bots     func(guild memory.GuildID, channel memory.ChannelID, otherwise memory.Bots) memory.Bots
	now      func() time.Time
	reported *ttl.Cache[any, string] // people and channels as last logged
	fetching map[any]int             // versions of the channels and guilds to fetch, by id
	versions int
	ownRoles sync.Map // memory.RoleID by memory.GuildID: see Names; also read by those who queue events
}

func newConverter(self memory.UserID, logBots bool, now func() time.Time) *converter {
	return &converter{
		self:     self,
		logBots:  logBots,
		now:      now,
		reported: ttl.New[any, string](maxReported),
		fetching: map[any]int{},
	}
}

// Unlogged is a message that isn't logged and that a question replies to: one answer may use it.
type Unlogged struct {
	memory.Message
	Name string // its author's

	gone atomic.Bool
}

// lastSeen is each channel's newest message that needn't be fetched.
type lastSeen map[memory.ChannelID]memory.MessageID

// The people and direct channels that are known to be logged. Logging one again is harmless.
const (
	maxReported = 1 << 14
	// The log may forget people at any time, and needs them again when they write.
	reportedFor = time.Minute
)
