package ingest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"hark/bot/discord"
	"hark/internal/crash"
	"hark/internal/ttl"
	"hark/memory"
	"hark/search"
)

// maxReported bounds how many people and direct channels are known not to be news. Telling the log
// again of one that fell out does no harm.
const maxReported = 1 << 14

// reportedFor is for how long. The log may have been told to forget them meanwhile, by whomever, and then has to be
// told of those who write again.
const reportedFor = time.Minute

// rawEvent is an event of the gateway, as it came.
type rawEvent struct {
	kind string // MESSAGE_CREATE, …
	data json.RawMessage
	// fetched, if not nil, stands in the place of data.
	fetched *fetched
	read    func(*converter, *converted) // what data says; nil if it isn't decoded yet
}

// ReadEvent is an event of the gateway, or nil if it doesn't matter. It is decoded, so that who converts it
// needn't, and is told then why it can't be decoded.
func ReadEvent(kind string, data json.RawMessage) (e *rawEvent) {
	read := readers[kind]
	if read == nil {
		return nil
	}
	e = &rawEvent{kind: kind, data: data}
	defer func() { _ = recover() }()
	e.read, _ = read(e.data)
	return e
}

// converted is what an event means.
type converted struct {
	events []memory.Event
	ask    *Question
	// merge is a guild whose channels the event doesn't tell.
	merge *memory.Guild
	// present are the guilds that Hark is in, if the event tells.
	guilds []memory.GuildID
	// away is a guild that Discord can't tell of for a while.
	unavailable memory.GuildID
	// told is a guild of which the events tell all that there is to know.
	ready memory.GuildID
	// update says that the events tell of a message as it is now that was sent before.
	update bool
	// heard is the message that was sent just now, or the use of a command; 0 if the event is neither.
	heard memory.MessageID
	// met are those of whom it tells roles.
	met []seenMember
	// members, if not nil, notes what the event tells of who has which roles.
	members func(*search.MemberRoles)
	// visit is how far channels have come, if the event tells.
	plan *catchUpPlan
	// unknown are channels and guilds of which the event told too little, and which are to be fetched.
	incomplete []incomplete
	err        error // why it can't be read
}

// untold is a channel, or with channel 0 a guild, of which Discord told too little. As long as it is unknown,
// nothing of it is recalled.
type incomplete struct {
	guild   memory.GuildID
	channel memory.ChannelID
	version int // changes whenever an event tells of it
}

// met is somebody with their roles, and when they joined.
type seenMember struct {
	person memory.Person
	joined time.Time
}

// converter turns events of the gateway into those of memory. It is used by one goroutine.
type converter struct {
	self     memory.UserID
	logBots  bool
	now      func() time.Time
	reported *ttl.Cache[any, string] // what was told already of people and channels
	fetching map[any]int             // tickets of the channels and guilds that are to be fetched, by their ids
	versions int
}

func newConverter(self memory.UserID, logBots bool, now func() time.Time) *converter {
	return &converter{self: self, logBots: logBots, now: now, reported: ttl.New[any, string](maxReported),
		fetching: map[any]int{}}
}

// convert never panics: an event that can't be read is an error that names it, and says no more of it than
// its kind and id.
func (c *converter) convert(e rawEvent) (out converted, err error) {
	defer func() {
		if r := recover(); r != nil {
			out = c.unreadable(e)
			err = fmt.Errorf("convert %s %d: %s", e.kind, discord.EventID(e.data), crash.Report("read", r))
		}
	}()
	if read := readers[e.kind]; read != nil && e.read == nil {
		e.read, out.err = read(e.data)
	}
	if e.fetched != nil {
		c.fetched(e.fetched, &out)
	} else if e.read != nil {
		e.read(c, &out)
	}
	if out.err != nil {
		return c.unreadable(e), fmt.Errorf("convert %s %d: %w", e.kind, discord.EventID(e.data), out.err)
	}
	return out, nil
}

// unreadable is what follows from an event that can't be read: of a channel whose state isn't known nothing
// may be recalled, and nowhere in a guild whose roles aren't, which it is without @everyone's.
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
		return converted{members: func(r *search.MemberRoles) { r.Doubt(guild) }}
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

// channelUnknown has a channel count as unknown until it is fetched.
func (c *converter) channelUnknown(guild memory.GuildID, id memory.ChannelID, out *converted) {
	out.events = append(out.events, memory.ChannelGone{Guild: guild, Channel: id})
	c.refetch(incomplete{guild: guild, channel: id}, out)
}

// guildUnknown has it count as unknown who may read what in a guild until the guild is fetched.
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

// changed notes that something of a guild was told: what is being fetched of it may be older.
func (c *converter) changed(guild memory.GuildID) {
	if _, there := c.fetching[guild]; there {
		c.versions++
		c.fetching[guild] = c.versions
	}
}

// isLate reports whether what was fetched isn't to be used: an event has told of it since. What is unknown
// still is fetched again.
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

// readers are the kinds of events that matter.
var readers = map[string]func(json.RawMessage) (func(*converter, *converted), error){
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
}

func reader[T any](read func(*converter, *T, *converted)) func(json.RawMessage) (func(*converter, *converted), error) {
	return func(data json.RawMessage) (func(*converter, *converted), error) {
		v := new(T)
		if err := discord.Unmarshal(data, v); err != nil {
			return nil, err
		}
		return func(c *converter, out *converted) { read(c, v, out) }, nil
	}
}

// personKey is apart for what is told with and without a member, so that the two don't take turns as news.
type personKey struct {
	guild  memory.GuildID
	user   memory.UserID
	member bool
}

// person tells the log of somebody, if there is anything new about them.
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
	if m != nil && guild != memory.DirectGuild {
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

// news reports whether what is known under key has changed, and remembers it.
func (c *converter) news(key any, value string) bool {
	now := c.now()
	return c.reported.IsNews(key, value, now, now.Add(reportedFor))
}
