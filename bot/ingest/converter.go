package ingest

import (
	"encoding/json"
	"fmt"
	"strings"

	"hark/bot/discord"
	"hark/memory"
	"hark/search"
)

// takenUp is the kind of the event that comes before all others of a session that another process began.
const takenUp = "TAKEN_UP"

// TakenUp returns that event.
func TakenUp() *rawEvent { return &rawEvent{kind: takenUp} }

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
	out.seen = append(out.seen, memory.Person{
		ID:         memory.UserID(u.ID),
		Guild:      memory.GuildID(guild),
		Bot:        u.Bot,
		Roles:      discord.RolesOf(m),
		RolesKnown: true,
	})
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
