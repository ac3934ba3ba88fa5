package ingest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"hark/bot/discord"
	"hark/internal/crash"
	"hark/internal/ttl"
	"hark/memory"
	"hark/search"
)

// The people and direct channels that are known to be logged. Logging one again is harmless.
const (
	maxReported = 1 << 14
	// The log may forget people at any time, and needs them again when they write.
	reportedFor = time.Minute
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

// ReadEvent returns a decoded gateway event, or nil if its kind doesn't matter. convert reports what can't be
// decoded.
func ReadEvent(kind string, data json.RawMessage) (e *rawEvent) {
	decode := readers[kind]
	if decode == nil {
		return nil
	}
	e = &rawEvent{kind: kind, data: data}
	defer func() { _ = recover() }()
	e.decoded, _ = decode(e.data)
	return e
}

// takenUp is the kind of the event that comes before all others of a session that another process began.
const takenUp = "TAKEN_UP"

// TakenUp returns that event.
func TakenUp() *rawEvent { return &rawEvent{kind: takenUp} }

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

// seenMember is a member with roles and the time of joining.
type seenMember struct {
	person memory.Person
	joined time.Time
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
	return &converter{self: self, logBots: logBots, now: now, reported: ttl.New[any, string](maxReported),
		fetching: map[any]int{}}
}

// convert converts an event. It never panics. Errors name nothing of the event but its kind and id.
func (c *converter) convert(e rawEvent) (out converted, err error) {
	defer func() {
		if r := recover(); r != nil {
			out = c.unreadable(e)
			err = fmt.Errorf("convert %s %d: %s", e.kind, discord.EventID(e.data), crash.Report("read", r))
		}
	}()
	if decode := readers[e.kind]; decode != nil && e.decoded.read == nil {
		e.decoded, out.err = decode(e.data)
	}
	if e.fetched != nil {
		c.fetched(e.fetched, &out)
	} else if e.decoded.read != nil {
		e.decoded.read(c, &out)
	}
	if out.err != nil {
		return c.unreadable(e), fmt.Errorf("convert %s %d: %w", e.kind, discord.EventID(e.data), out.err)
	}
	return out, nil
}

// unreadable returns what follows from an unreadable event: nothing is recalled of a channel whose state is
// unknown, nor anywhere in a guild whose roles are. Such a guild lacks the role of @everyone.
func (c *converter) unreadable(e rawEvent) converted {
	var v struct {
		ID    discord.Snowflake `json:"id"`
		Guild discord.Snowflake `json:"guild_id"`
	}
	if err := json.Unmarshal(e.data, &v); err != nil && !strings.HasPrefix(e.kind, "GUILD_MEMBER") {
		return converted{}
	}
	guild := memory.GuildID(v.Guild)
	switch {
	case strings.HasPrefix(e.kind, "GUILD_MEMBER"):
		return converted{members: func(r *search.MemberRoles) { r.Invalidate(guild) }}
	case e.kind == "GUILD_CREATE", e.kind == "GUILD_UPDATE":
		guild = memory.GuildID(v.ID)
	case strings.HasPrefix(e.kind, "GUILD_ROLE_"):
	case v.ID != 0 && (strings.HasPrefix(e.kind, "CHANNEL_") || strings.HasPrefix(e.kind, "THREAD_")):
		var out converted
		c.channelUnknown(guild, memory.ChannelID(v.ID), &out)
		return out
	default:
		return converted{}
	}
	var out converted
	if guild != 0 {
		c.guildUnknown(guild, &out)
	}
	return out
}

// channelUnknown makes a channel unknown until it is fetched.
func (c *converter) channelUnknown(guild memory.GuildID, id memory.ChannelID, out *converted) {
	out.events = append(out.events, memory.ChannelGone{Guild: guild, Channel: id})
	c.refetch(incomplete{guild: guild, channel: id}, out)
}

// guildUnknown makes a guild's permissions unknown until it is fetched.
func (c *converter) guildUnknown(id memory.GuildID, out *converted) {
	out.events = append(out.events, memory.RoleGone{Guild: id, Role: memory.RoleID(id)})
	c.refetch(incomplete{guild: id}, out)
}

func (c *converter) refetch(u incomplete, out *converted) {
	c.versions++
	u.version = c.versions
	c.fetching[u.key()] = u.version
	out.incomplete = append(out.incomplete, u)
}

func (u incomplete) key() any {
	if u.channel != 0 {
		return u.channel
	}
	return u.guild
}

// changed records an event about a guild: a fetch under way may be older.
func (c *converter) changed(guild memory.GuildID) {
	if _, there := c.fetching[guild]; there {
		c.versions++
		c.fetching[guild] = c.versions
	}
}

// isLate reports whether an event is newer than what was fetched. What is still unknown is fetched again.
func (c *converter) isLate(u incomplete, out *converted) bool {
	ticket, waiting := c.fetching[u.key()]
	if waiting && ticket == u.version {
		delete(c.fetching, u.key())
		return false
	}
	if waiting {
		c.refetch(u, out)
	}
	return true
}

// readers decode the kinds of events that matter.
var readers = map[string]func(json.RawMessage) (decoded, error){
	"MESSAGE_CREATE":      reader((*converter).messageCreate),
	"MESSAGE_UPDATE":      reader((*converter).messageUpdate),
	"MESSAGE_DELETE":      reader((*converter).messageDelete),
	"MESSAGE_DELETE_BULK": reader((*converter).messageDelete),
	"READY":               reader((*converter).ready),
	"GUILD_CREATE":        reader((*converter).guildCreate),
	"GUILD_DELETE":        reader((*converter).guildDelete),
	"GUILD_UPDATE":        reader((*converter).guildUpdate),
	"CHANNEL_CREATE":      reader((*converter).channelSeen),
	"CHANNEL_UPDATE":      reader((*converter).channelSeen),
	"CHANNEL_DELETE":      reader((*converter).channelDeleted),
	"THREAD_CREATE":       reader((*converter).channelSeen),
	"THREAD_UPDATE":       reader((*converter).channelSeen),
	"THREAD_DELETE":       reader((*converter).channelDeleted),
	"THREAD_LIST_SYNC":    reader((*converter).threadListSync),
	"GUILD_ROLE_CREATE":   reader((*converter).roleSeen),
	"GUILD_ROLE_UPDATE":   reader((*converter).roleSeen),
	"GUILD_ROLE_DELETE":   reader((*converter).roleGone),
	"GUILD_MEMBER_ADD":    reader((*converter).memberSeen),
	"GUILD_MEMBER_UPDATE": reader((*converter).memberSeen),
	"GUILD_MEMBER_REMOVE": reader((*converter).memberLeft),
	"GUILD_MEMBERS_CHUNK": reader((*converter).membersChunk),
	"RESUMED":             reader((*converter).resumed),
	"INTERACTION_CREATE":  reader((*converter).interaction),

	"GUILD_SCHEDULED_EVENT_CREATE": reader((*converter).scheduled),
	"GUILD_SCHEDULED_EVENT_UPDATE": reader((*converter).scheduled),
	"GUILD_SCHEDULED_EVENT_DELETE": reader((*converter).unscheduled),
}

func reader[T any](read func(*converter, *T, *converted)) func(json.RawMessage) (decoded, error) {
	return func(data json.RawMessage) (decoded, error) {
		v := new(T)
		if err := discord.Unmarshal(data, v); err != nil {
			return decoded{}, err
		}
		message, _ := any(v).(*discord.Message)
		return decoded{message, func(c *converter, out *converted) { read(c, v, out) }}, nil
	}
}

// personKey keeps users with and without member data apart, so that they don't alternate as news.
type personKey struct {
	guild  memory.GuildID
	user   memory.UserID
	member bool
}

// saw records a member whose roles an event has, whether or not anything of it is logged.
func (c *converter) saw(out *converted, guild discord.Snowflake, u *discord.User, m *discord.Member) {
	if u == nil || u.ID == 0 || m == nil || m.Roles == nil || guild == 0 {
		return
	}
	out.seen = append(out.seen, memory.Person{ID: memory.UserID(u.ID), Guild: memory.GuildID(guild), Bot: u.Bot,
		Roles: discord.RolesOf(m), RolesKnown: true})
}

// sawIn records the members whose roles a message has: its author, those whom it mentions, and who used the command
// that it answers.
func (c *converter) sawIn(out *converted, w *discord.Message) {
	c.saw(out, w.Guild, w.Author, w.Member)
	for _, u := range w.Mentions {
		if u != nil {
			c.saw(out, w.Guild, u, u.Member)
		}
	}
	if used := w.Interaction; used != nil {
		c.saw(out, w.Guild, used.User, used.Member)
	}
}

// person logs somebody if anything about them is new.
func (c *converter) person(out *converted, guild memory.GuildID, u *discord.User, m *discord.Member) {
	if u == nil || u.ID == 0 {
		return
	}
	p := memory.Person{
		ID:       memory.UserID(u.ID),
		Guild:    guild,
		Username: memory.Clean(u.Username),
		Name:     memory.Clean(u.GlobalName),
		Bot:      u.Bot,
	}
	if m != nil && guild != memory.DirectGuild && !m.IsGuest() {
		p.Nick = memory.Clean(m.Nick)
		p.RolesKnown = m.Roles != nil
		for _, r := range m.Roles {
			p.Roles = append(p.Roles, memory.RoleID(r))
		}
		out.met = append(out.met, seenMember{p, m.Joined})
	}
	if c.news(personKey{guild, p.ID, m != nil},
		fmt.Sprintf("%q", []any{p.Username, p.Name, p.Nick, p.Bot, p.RolesKnown, p.Roles})) {
		out.events = append(out.events, memory.PersonSeen{Person: p})
	}
}

// news reports whether the value under key has changed, and remembers it.
func (c *converter) news(key any, value string) bool {
	now := c.now()
	return c.reported.IsNews(key, value, now, now.Add(reportedFor))
}
