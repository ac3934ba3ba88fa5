package memorytest

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"hark/memory"
)

var personRules = []modelRule{
	on((*model).seePerson),
	on((*model).leave),
	on(func(m *model, e memory.Learn) {
		if !e.On || !m.isOut(e.Guild, e.User) {
			decide(m, memory.Learn{Guild: e.Guild, User: e.User}, e.At, e)
		}
	}),
	on((*model).connect),
	on((*model).useConnection),
	on((*model).opt),
	on((*model).spend),
}

var guildRules = []modelRule{
	on((*model).seeGuild),
	on(func(m *model, e memory.GuildNamed) {
		g := m.guild(e.Guild)
		g.Name = cmp.Or(g.Name, e.Name)
	}),
	on(func(m *model, e memory.GuildLeft) {
		m.guild(e.Guild).Left = e.At
		m.unplace(e.Guild, func(memory.Channel) bool { return true })
	}),
	on(func(m *model, e memory.ChannelSeen) { m.seeChannel(e.Channel) }),
	on(func(m *model, e memory.ChannelGone) {
		if c := m.channels[e.Channel]; c != nil {
			c.Unplaced = true
		}
	}),
	on((*model).deleteChannel),
	on(func(m *model, e memory.RoleSeen) {
		g := m.guild(e.Guild)
		dropRole(g, e.Role.ID)
		g.Roles = append(g.Roles, e.Role)
	}),
	on(func(m *model, e memory.RoleGone) {
		dropRole(m.guild(e.Guild), e.Role)
		m.dropOverwrites(e)
	}),
	on((*model).choose),
	on((*model).chooseSetting),
	on((*model).chooseLimit),
	on(func(m *model, e memory.Asked) { m.guild(e.Guild).Asked = true }),
	on(func(m *model, e memory.Learned) {
		m.meet(e.Guild, e.Channel)
		c := m.channels[e.Channel]
		c.Learned = max(c.Learned, e.Until)
	}),
}

func (m *model) leave(e memory.PersonLeft) {
	key := inGuild{e.Guild, int64(e.User)}
	if p, ok := m.people[key]; ok {
		p.Nick = ""
		p.Roles = nil
		p.RolesKnown = false
		m.people[key] = p
	}
	if c, ok := m.connections[key]; ok {
		m.connections[key] = memory.Connection{At: c.At}
	}
}

func (m *model) connect(e memory.Connected) {
	if m.chooser(e.Guild, e.User, e.At) == 0 {
		return
	}
	key := inGuild{e.Guild, int64(e.User)}
	was := m.connections[key]
	takesBack := e.At.Equal(was.At) && e.Hash == memory.TokenHash{}
	if was.At.IsZero() || e.At.After(was.At) || takesBack {
		m.connections[key] = memory.Connection{Hash: e.Hash, At: e.At}
	}
}

func (m *model) useConnection(e memory.ConnectionUsed) {
	key := inGuild{e.Guild, int64(e.User)}
	c := m.connections[key]
	if !c.IsOpen() || c.Hash != e.Hash {
		return
	}
	c.Uses = max(c.Uses, e.Uses)
	if e.At.After(c.Used) {
		c.Used = e.At
	}
	m.connections[key] = c
}

func (m *model) deleteChannel(e memory.ChannelDeleted) {
	m.meet(e.Guild, e.Channel)
	m.unplace(e.Guild, func(c memory.Channel) bool { return m.lies(c.ID, e.Channel) })
	m.beginOnce(memory.Forgetting{Guild: e.Guild, Channel: e.Channel, Why: memory.WhyDeleted, At: e.At})
}

func (m *model) chooseSetting(e memory.SettingChosen) {
	if slices.ContainsFunc(m.forgettings, func(g *forgetting) bool { return m.takesSetting(g, e) }) {
		return
	}
	e.By = m.chooser(e.Guild, e.By, e.At)
	decide(m, memory.SettingChosen{Guild: e.Guild, Channel: e.Channel, Key: e.Key}, e.At, e)
}

func (m *model) chooseLimit(e memory.LimitChosen) {
	e.By = m.chooser(e.Guild, e.By, e.At)
	decide(m, memory.LimitChosen{Guild: e.Guild, RoleLimit: memory.RoleLimit{Role: e.Role}}, e.At, e)
}

func (m *model) seePerson(e memory.PersonSeen) {
	p := e.Person
	said := memory.Message{ID: e.Said, Guild: p.Guild, Author: p.ID}
	if m.isOut(p.Guild, p.ID) || e.Said != 0 && m.isForgotten(said) {
		return
	}
	m.guild(p.Guild)
	key := inGuild{p.Guild, int64(p.ID)}
	known := m.people[key]
	p.Username, p.Name = cmp.Or(p.Username, known.Username), cmp.Or(p.Name, known.Name)
	if !p.RolesKnown {
		p.Nick, p.Roles, p.RolesKnown = cmp.Or(p.Nick, known.Nick), known.Roles, known.RolesKnown
	}
	m.people[key] = p
}

func (m *model) opt(e memory.Opted) {
	key := memory.Opted{Guild: e.Guild, User: e.User}
	was, newer := decide(m, key, e.At, e)
	if !newer {
		return
	}
	maps.DeleteFunc(m.dropped, func(_ place, by memory.Opted) bool { return by == key })
	if e.Out || was.Out {
		m.begin(memory.Forgetting{Guild: e.Guild, User: e.User, Why: memory.WhyOptOut, At: e.At})
	}
	if e.Out {
		delete(m.connections, inGuild{e.Guild, int64(e.User)})
		m.forgetChoosers(func(guild memory.GuildID, user memory.UserID, _ time.Time) bool {
			return guild == e.Guild && user == e.User
		})
	}
	for at, of := range m.spent {
		if e.Out && at.guild == e.Guild && of.User == e.User {
			m.disown(at)
		}
	}
}

// learnsSince is since when facts may be learned in a guild (user 0) or from a user.
func (m *model) learnsSince(guild memory.GuildID, user memory.UserID) time.Time {
	if l := decided(m, memory.Learn{Guild: guild, User: user}); l.On {
		return l.At
	}
	return time.Time{}
}

// everybody returns a guild's people who were seen or have facts.
func (m *model) everybody(guild memory.GuildID) []memory.Person {
	known := map[memory.UserID]memory.Person{}
	for key, p := range m.people {
		if key.guild == guild {
			p.Facts, p.Learn = nil, m.learnsSince(guild, p.ID)
			known[p.ID] = p
		}
	}
	for key, f := range m.facts {
		if key.guild == guild && !f.gone {
			p := known[f.user]
			p.ID, p.Guild = f.user, guild
			p.Facts = sorted(append(p.Facts, f.Fact), func(f memory.Fact) int64 { return f.ID })
			known[f.user] = p
		}
	}
	return sorted(slices.Collect(maps.Values(known)), func(p memory.Person) memory.UserID { return p.ID })
}

// spend keeps a question's tokens, and its user unless forgotten.
func (m *model) spend(e memory.Spent) {
	if m.isOut(e.Guild, e.User) {
		e.User = 0
	}
	for _, g := range m.forgettings {
		switch f := g.Forgetting; {
		case !g.all || f.Channel != 0 || !g.of(e.Guild) || e.Question >= g.end:
		case f.User == 0:
			return
		case f.User == e.User:
			e.User = 0
		}
	}
	key := inGuild{e.Guild, int64(e.Question)}
	if was, ok := m.spent[key]; ok {
		e.User, e.Tokens = was.User, max(was.Tokens, e.Tokens)
	}
	m.spent[key] = e
}

func (m *model) disown(key inGuild) {
	e := m.spent[key]
	e.User = 0
	m.spent[key] = e
}

func (m *model) spending(guild memory.GuildID, day time.Time) map[memory.UserID]int {
	by := map[memory.UserID]int{}
	for key, e := range m.spent {
		if key.guild == guild && e.Question.Time().Format(time.DateOnly) == day.UTC().Format(time.DateOnly) {
			by[e.User] += e.Tokens
		}
	}
	return by
}

func (m *model) unplace(guild memory.GuildID, which func(memory.Channel) bool) {
	for _, c := range m.channels {
		if c.Guild == guild && which(c.Channel) {
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

func (m *model) meet(guild memory.GuildID, channel memory.ChannelID) {
	m.guild(guild)
	if m.channels[channel] == nil {
		m.found(memory.Channel{ID: channel, Guild: guild, Kind: kindIn(guild), Unplaced: true})
	}
}

// kindIn returns the kind of a channel of which only the guild is known.
func kindIn(guild memory.GuildID) memory.ChannelKind {
	return map[memory.GuildID]memory.ChannelKind{memory.DirectGuild: memory.DirectChannel,
		memory.LocalGuild: memory.LocalChannel}[guild]
}

// found adds a channel: what was said before its guild chose to remember isn't missing.
func (m *model) found(c memory.Channel) {
	m.channels[c.ID] = &channel{Channel: c}
	if e := decided(m, memory.Chose{Guild: c.Guild}); e.Choice != memory.Undecided && e.Choice != memory.Ignore {
		m.hear(c.ID, memory.FirstMessageID(e.At))
	}
}

func (m *model) seeGuild(e memory.GuildSeen) {
	g, known := e.Guild, m.guild(e.Guild.ID)
	if (known.Since == 0 || !known.Left.IsZero()) && !e.At.IsZero() {
		known.Since = memory.FirstMessageID(e.At)
	}
	known.Left = time.Time{}
	known.Self = cmp.Or(g.Self, known.Self)
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
	known := m.channels[c.ID]
	switch {
	case known == nil:
		c.Shut, c.Learned = false, 0
		m.found(c)
		known = m.channels[c.ID]
	case c.Unplaced && known.seen:
		return
	default:
		c.Shut, c.Learned = known.Shut, known.Learned
		c.Owner = cmp.Or(c.Owner, known.Owner)
		if c.Name == "" {
			c.Name = known.Name
			c.Tags = known.Tags
		}
	}
	if m.isOut(c.Guild, c.Owner) || slices.ContainsFunc(m.forgettings, func(g *forgetting) bool {
		return g.coversName(c)
	}) {
		c.Name = ""
	}
	if c.Name == "" {
		c.Tags = nil
	}
	known.Channel, known.seen = c, true
}

// titleOf returns the title of a thread; empty for other channels.
func (m *model) titleOf(id memory.ChannelID) string {
	c := m.channels[id]
	if c == nil || !c.Kind.IsThread() {
		return ""
	}
	return c.Name
}

func dropRole(g *memory.Guild, id memory.RoleID) {
	g.Roles = slices.DeleteFunc(slices.Clone(g.Roles), func(r memory.Role) bool { return r.ID == id })
}

// dropOverwrites deletes the overwrites of a deleted role, except @everyone.
func (m *model) dropOverwrites(gone memory.RoleGone) {
	for _, c := range m.channels {
		if c.Guild == gone.Guild && gone.Role != memory.RoleID(gone.Guild) {
			c.Overwrites = slices.DeleteFunc(slices.Clone(c.Overwrites),
				func(o memory.Overwrite) bool { return o.Role == gone.Role && o.User == 0 })
		}
	}
}

func (m *model) whole(id memory.GuildID) memory.Guild {
	g := memory.Guild{ID: id}
	if known := m.guilds[id]; known != nil {
		g = *known
	}
	for _, c := range m.channels {
		if c.Guild == id {
			of := c.Channel
			chose := decided(m, memory.Chose{Guild: id, Channel: c.ID})
			of.Choice, of.By = chose.Choice, chose.By
			of.Settings, of.SetBy = m.settingsOf(id, c.ID)
			g.Channels = append(g.Channels, of)
		}
	}
	chose := decided(m, memory.Chose{Guild: id})
	g.Learn, g.Choice, g.By = m.learnsSince(id, 0), chose.Choice, chose.By
	g.Settings, g.SetBy = m.settingsOf(id, 0)
	for _, of := range m.decided {
		if e, ok := of.Event.(memory.LimitChosen); ok && e.Guild == id && (e.Messages != memory.AsConfigured ||
			e.Tokens != memory.AsConfigured) {
			g.Limits = append(g.Limits, e.RoleLimit)
		}
	}
	sorted(g.Limits, func(l memory.RoleLimit) memory.RoleID { return l.Role })
	return g
}

// settingsOf returns a channel's settings, or for 0 the guild's, and who set them.
func (m *model) settingsOf(guild memory.GuildID, channel memory.ChannelID) (map[memory.Setting]string,
	map[memory.Setting]memory.UserID) {
	values, by := map[memory.Setting]string{}, map[memory.Setting]memory.UserID{}
	for _, of := range m.decided {
		if e, ok := of.Event.(memory.SettingChosen); ok && e.Guild == guild && e.Channel == channel && e.Value != "" {
			if values[e.Key] = e.Value; e.By != 0 {
				by[e.Key] = e.By
			}
		}
	}
	return values, by
}

// chooser is who is kept as the one who chose something.
func (m *model) chooser(guild memory.GuildID, user memory.UserID, at time.Time) memory.UserID {
	if m.isOut(guild, user) || slices.ContainsFunc(m.forgettings, func(g *forgetting) bool {
		return g.takesChooser(guild, user, at)
	}) {
		return 0
	}
	return user
}

// takesChooser reports whether it is forgotten who chose something at a time.
func (g *forgetting) takesChooser(guild memory.GuildID, user memory.UserID, at time.Time) bool {
	f := g.Forgetting
	return g.all && f.Channel == 0 && g.of(guild) && (f.User == 0 || f.User == user) && memory.FirstMessageID(at) < g.end
}

// forgetChoosers forgets who chose what is selected.
func (m *model) forgetChoosers(takes func(memory.GuildID, memory.UserID, time.Time) bool) {
	for key, of := range m.decided {
		switch e := of.Event.(type) {
		case memory.SettingChosen:
			if takes(e.Guild, e.By, e.At) {
				e.By = 0
			}
			of.Event = e
		case memory.LimitChosen:
			if takes(e.Guild, e.By, e.At) {
				e.By = 0
			}
			of.Event = e
		case memory.Chose:
			if takes(e.Guild, e.By, e.At) {
				e.By = 0
			}
			of.Event = e
		}
		m.decided[key] = of
	}
}

// choose keeps a choice. If remembering begins, earlier messages don't count as missing.
func (m *model) choose(e memory.Chose) {
	e.By = m.chooser(e.Guild, e.By, e.At)
	was, newer := decide(m, memory.Chose{Guild: e.Guild, Channel: e.Channel}, e.At, e)
	if !newer {
		return
	}
	m.guild(e.Guild)
	if e.Channel != 0 {
		m.meet(e.Guild, e.Channel)
	}
	if e.Choice == memory.Ignore || e.Choice == was.Choice {
		return
	}
	m.sweep(memory.Absent{Guild: e.Guild, Channel: e.Channel, At: e.At})
	for _, c := range m.channels {
		if m.isWithin(c, e.Guild, e.Channel) {
			m.hear(c.ID, memory.FirstMessageID(e.At))
		}
	}
}

// isWithin reports whether a channel is in a guild and, if within isn't 0, is that channel or category or
// lies in it.
func (m *model) isWithin(c *channel, guild memory.GuildID, within memory.ChannelID) bool {
	above := m.channels[c.Parent]
	return c.Guild == guild && (within == 0 || c.ID == within || c.Parent == within ||
		above != nil && above.Guild == guild && above.Parent == within)
}

// normal returns g with roles and channels by id, without unknown channels.
func normal(g memory.Guild) memory.Guild {
	g.Roles = sorted(slices.Clone(g.Roles), func(r memory.Role) memory.RoleID { return r.ID })
	g.Channels = slices.DeleteFunc(slices.Clone(g.Channels), func(c memory.Channel) bool {
		return c.Unplaced && !c.Shut && c.Name == "" && c.Choice == memory.Undecided && len(c.Settings) == 0
	})
	sorted(g.Channels, func(c memory.Channel) memory.ChannelID { return c.ID })
	return g
}
