package memorytest

import (
	"maps"
	"slices"

	"hark/memory"
)

func (m *model) applyStructure(e memory.Event) {
	switch e := e.(type) {
	case memory.GuildSeen:
		m.seeGuild(e.Guild)
	case memory.ChannelSeen:
		m.seeChannel(e.Channel)
	case memory.ChannelGone:
		for id, c := range m.channels {
			if c.Guild == e.Guild && (id == e.Channel || c.Kind.IsThread() && c.Parent == e.Channel) {
				c.Unplaced = true
			}
		}
	case memory.RoleSeen:
		g := m.guild(e.Guild)
		m.dropRole(g, e.Role.ID)
		g.Roles = append(g.Roles, e.Role)
	case memory.RoleGone:
		m.dropRole(m.guild(e.Guild), e.Role)
	case memory.PersonSeen:
		m.seePerson(e.Person)
	}
}

func (m *model) guild(id memory.GuildID) *memory.Guild {
	if m.guilds[id] == nil {
		m.guilds[id] = &memory.Guild{ID: id}
	}
	return m.guilds[id]
}

// meet notes a channel that a message names.
func (m *model) meet(guild memory.GuildID, channel memory.ChannelID) {
	m.guild(guild)
	if m.channels[channel] == nil {
		m.channels[channel] = &memory.Channel{ID: channel, Guild: guild, Unplaced: true}
	}
}

func (m *model) seeGuild(g memory.Guild) {
	known := m.guild(g.ID)
	known.Name, known.Owner, known.Roles = g.Name, g.Owner, slices.Clone(g.Roles)
	listed := map[memory.ChannelID]bool{}
	for _, c := range g.Channels {
		listed[c.ID] = true
		c.Guild = g.ID
		m.seeChannel(c)
	}
	for id, c := range m.channels {
		if c.Guild == g.ID && !listed[id] && !(c.Kind.IsThread() && listed[c.Parent]) {
			c.Unplaced = true
		}
	}
}

func (m *model) seeChannel(c memory.Channel) {
	m.guild(c.Guild)
	if c.Unplaced && m.seen[c.ID] {
		return
	}
	m.channels[c.ID], m.seen[c.ID] = &c, true
}

func (m *model) dropRole(g *memory.Guild, id memory.RoleID) {
	g.Roles = slices.DeleteFunc(slices.Clone(g.Roles), func(r memory.Role) bool { return r.ID == id })
}

func (m *model) seePerson(p memory.Person) {
	m.guild(p.Guild)
	if m.people[p.Guild] == nil {
		m.people[p.Guild] = map[memory.UserID]memory.Person{}
	}
	known := m.people[p.Guild][p.ID]
	keep := func(now *string, was string) {
		if *now == "" {
			*now = was
		}
	}
	keep(&p.Username, known.Username)
	keep(&p.Name, known.Name)
	if !p.RolesKnown {
		keep(&p.Nick, known.Nick)
	}
	if !p.RolesKnown {
		p.Roles, p.RolesKnown = known.Roles, known.RolesKnown
	}
	m.people[p.Guild][p.ID] = p
}

// whole is a guild with its channels, both by id.
func (m *model) whole(id memory.GuildID) memory.Guild {
	g := *m.guilds[id]
	g.Roles = slices.SortedFunc(slices.Values(g.Roles), func(a, b memory.Role) int { return compare(a.ID, b.ID) })
	for _, c := range m.channels {
		if c.Guild == id {
			g.Channels = append(g.Channels, *c)
		}
	}
	slices.SortFunc(g.Channels, func(a, b memory.Channel) int { return compare(a.ID, b.ID) })
	return g
}

func (m *model) everybody(guild memory.GuildID) []memory.Person {
	return slices.SortedFunc(maps.Values(m.people[guild]), func(a, b memory.Person) int { return compare(a.ID, b.ID) })
}
