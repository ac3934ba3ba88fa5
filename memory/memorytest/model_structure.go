package memorytest

import (
	"cmp"
	"slices"
	"time"

	"hark/memory"
)

func (m *model) applyStructure(e memory.Event) {
	switch e := e.(type) {
	case memory.GuildSeen:
		m.seeGuild(e)
	case memory.GuildNamed:
		if g := m.guild(e.Guild); g.Name == "" {
			g.Name = e.Name
		}
	case memory.GuildLeft:
		m.guild(e.Guild).Left = e.At
		m.unplace(e.Guild, func(memory.Channel) bool { return true })
	case memory.ChannelSeen:
		m.seeChannel(e.Channel)
	case memory.ChannelGone:
		if c := m.channels[e.Channel]; c != nil {
			c.Unplaced = true
		}
	case memory.ChannelDeleted:
		m.deleteChannel(e)
	case memory.Forgetting:
		m.beginOnce(e)
	case memory.RoleSeen:
		g := m.guild(e.Guild)
		m.dropRole(g, e.Role.ID)
		g.Roles = append(g.Roles, e.Role)
	case memory.RoleGone:
		m.dropRole(m.guild(e.Guild), e.Role)
		m.dropOverwrites(e)
	case memory.Chose:
		m.choose(e)
	case memory.SettingChosen:
		m.chooseSetting(e)
	case memory.LimitChosen:
		m.chooseLimit(e)
	case memory.Asked:
		m.guild(e.Guild).Asked = true
	}
}

func (m *model) unplace(guild memory.GuildID, which func(memory.Channel) bool) {
	for _, c := range m.channels {
		if c.Guild == guild && which(*c) {
			c.Unplaced = true
		}
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
		m.found(&memory.Channel{ID: channel, Guild: guild, Unplaced: true})
	}
}

func (m *model) seeGuild(e memory.GuildSeen) {
	g, known := e.Guild, m.guild(e.Guild.ID)
	if (known.Since == 0 || !known.Left.IsZero()) && !e.At.IsZero() {
		known.Since = memory.FirstMessageID(e.At)
	}
	known.Left = time.Time{}
	if g.Self != 0 {
		known.Self = g.Self
	}
	known.Name, known.Owner, known.Roles = g.Name, g.Owner, slices.Clone(g.Roles)
	listed, unplaced := map[memory.ChannelID]bool{}, map[memory.ChannelID]bool{}
	for _, c := range g.Channels {
		listed[c.ID], unplaced[c.ID] = true, c.Unplaced
		c.Guild = g.ID
		m.seeChannel(c)
	}
	m.unplace(g.ID, func(c memory.Channel) bool {
		return unplaced[c.ID] || !listed[c.ID] && !(c.Kind.IsThread() && listed[c.Parent])
	})
}

func (m *model) seeChannel(c memory.Channel) {
	m.guild(c.Guild)
	if c.Unplaced && m.seen[c.ID] {
		return
	}
	if known := m.channels[c.ID]; known == nil {
		c.Shut = false
		m.found(&c)
	} else {
		c.Shut, c.Owner, c.Name = known.Shut, cmp.Or(c.Owner, known.Owner), cmp.Or(c.Name, known.Name)
	}
	if m.opted[member{c.Guild, c.Owner}].Out || slices.ContainsFunc(m.forgettings, func(g *forgetting) bool { return m.coversName(g, c) }) {
		c.Name = ""
	}
	m.channels[c.ID], m.seen[c.ID] = &c, true
}

func (m *model) dropRole(g *memory.Guild, id memory.RoleID) {
	g.Roles = slices.DeleteFunc(slices.Clone(g.Roles), func(r memory.Role) bool { return r.ID == id })
}

// dropOverwrites takes off what is said of a role that is gone. @everyone never goes.
func (m *model) dropOverwrites(gone memory.RoleGone) {
	if gone.Role == memory.RoleID(gone.Guild) {
		return
	}
	for _, c := range m.channels {
		if c.Guild == gone.Guild {
			c.Overwrites = slices.DeleteFunc(slices.Clone(c.Overwrites), func(o memory.Overwrite) bool { return o.Role == gone.Role && o.User == 0 })
		}
	}
}

// whole is a guild with its channels, both by id.
func (m *model) whole(id memory.GuildID) memory.Guild {
	g := *m.guilds[id]
	g.Roles = slices.SortedFunc(slices.Values(g.Roles), func(a, b memory.Role) int { return compare(a.ID, b.ID) })
	for _, c := range m.channels {
		if c.Guild == id {
			channel := *c
			channel.Learned = m.learned[c.ID]
			channel.Choice = m.choices[chosen{id, c.ID}].Choice
			channel.Settings = m.settingsOf(id, c.ID)
			g.Channels = append(g.Channels, channel)
		}
	}
	g.Learn, g.Settings, g.Limits = m.learnsSince(id, 0), m.settingsOf(id, 0), m.limitsOf(id)
	g.Choice = m.choices[chosen{id, 0}].Choice
	slices.SortFunc(g.Channels, func(a, b memory.Channel) int { return compare(a.ID, b.ID) })
	return g
}

// normal is g with its roles and channels by id, and no slice nil, without the channels of which nothing is known.
func normal(g memory.Guild) memory.Guild {
	g.Roles = append([]memory.Role{}, g.Roles...)
	slices.SortFunc(g.Roles, func(a, b memory.Role) int { return compare(a.ID, b.ID) })
	channels := append([]memory.Channel{}, g.Channels...)
	slices.SortFunc(channels, func(a, b memory.Channel) int { return compare(a.ID, b.ID) })
	for i := range channels {
		channels[i].Overwrites = append([]memory.Overwrite{}, channels[i].Overwrites...)
		if len(channels[i].Settings) == 0 {
			channels[i].Settings = nil
		}
	}
	g.Channels = slices.DeleteFunc(channels, func(c memory.Channel) bool {
		return c.Unplaced && !c.Shut && c.Name == "" && c.Choice == memory.Undecided && len(c.Settings) == 0
	})
	if len(g.Settings) == 0 {
		g.Settings = nil
	}
	for _, at := range []*time.Time{&g.Left, &g.Learn} {
		if *at = at.UTC(); at.IsZero() {
			*at = time.Time{}
		}
	}
	return g
}
