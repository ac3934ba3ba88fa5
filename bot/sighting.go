package bot

import (
	"slices"

	"hark/memory"
)

// sighting is how far channels have come by Discord's account, from which it follows what was missed.
type sighting struct {
	guild memory.GuildID
	// whole says that it is all of the guild, after a time in which Hark wasn't told of it.
	whole    bool
	listed   map[memory.ChannelID]bool // all that Discord tells of, if it is whole
	channels []sighted
	parents  []memory.ChannelID // that may have threads in the archive, which the guild doesn't tell
}

// sighted is a channel whose past Hark may read.
type sighted struct {
	id     memory.ChannelID
	last   memory.MessageID // newest that was ever written there
	thread bool
}

// sight is how far the channels of a guild have come that Hark may read.
func (c *converter) sight(g *wireGuild) *sighting {
	s := &sighting{guild: memory.GuildID(g.ID), whole: true, listed: map[memory.ChannelID]bool{}}
	roles := c.ownRoles(g)
	channels := map[snowflake]*wireChannel{}
	for _, w := range g.Channels {
		if w == nil {
			continue
		}
		channels[w.ID] = w
		s.listed[memory.ChannelID(w.ID)] = true
		kind, known := w.kind()
		if !known || kind == memory.CategoryChannel || !mayReadBack(c.self, g, w, nil, roles) {
			continue
		}
		if kind == memory.TextChannel || kind == memory.ForumChannel {
			s.parents = append(s.parents, memory.ChannelID(w.ID))
		}
		if w.Last != 0 && kind != memory.ForumChannel { // whose last is a thread
			s.channels = append(s.channels, sighted{memory.ChannelID(w.ID), memory.MessageID(w.Last), false})
		}
	}
	for _, w := range g.Threads {
		if w == nil {
			continue
		}
		s.listed[memory.ChannelID(w.ID)] = true
		if w.Last != 0 && w.isThread() && mayReadBack(c.self, g, w, channels[w.Parent], roles) {
			s.channels = append(s.channels, sighted{memory.ChannelID(w.ID), memory.MessageID(w.Last), true})
		}
	}
	return s
}

// ownRoles are Hark's in a guild: it is among the members that the gateway tells. The role that came with it is its own
// in any case.
func (c *converter) ownRoles(g *wireGuild) []snowflake {
	var roles []snowflake
	for _, m := range g.Members {
		if m != nil && m.User != nil && memory.UserID(m.User.ID) == c.self {
			roles = slices.Clone(m.Roles)
		}
	}
	for _, r := range g.Roles {
		if r != nil && r.Tags != nil && memory.UserID(r.Tags.Bot) == c.self {
			roles = append(roles, r.ID)
		}
	}
	return roles
}
