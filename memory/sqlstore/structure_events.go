package sqlstore

import (
	"cmp"
	"slices"

	"hark/memory"
)

// structureEvents are about guilds, roles and channels, and what is set for them.
var structureEvents = []handler{
	handleStructure((*transaction).seeGuild),
	handleStructure((*transaction).nameGuild),
	handleStructure((*transaction).leaveGuild),
	handleStructure(func(t *transaction, e memory.ChannelSeen) { t.seeChannel(e.Channel) }),
	handleStructure((*transaction).unplaceChannel),
	handleStructure((*transaction).deleteChannel),
	handleStructure(func(t *transaction, e memory.RoleSeen) { t.seeRole(e.Guild, e.Role) }),
	handleStructure((*transaction).deleteRole),
	handleStructure((*transaction).ask),
	handleStructure((*transaction).learnUntil),
	handleStructure((*transaction).chooseSetting),
	handleStructure((*transaction).chooseLimit),
}

// handleStructure is handle for events that change a guild's structure.
func handleStructure[E memory.Event](apply func(*transaction, E)) handler {
	return handle(func(t *transaction, e E) {
		guild, channel := e.Place()
		t.changed.structure[t.guildAt(guild, channel)] = true
		apply(t, e)
	})
}

func (t *transaction) nameGuild(e memory.GuildNamed) {
	t.guildNo(e.Guild)
	t.exec("UPDATE guild SET name = ? WHERE id = ? AND name = ''", t.sealGuildName(e.Guild, e.Name), e.Guild)
}

func (t *transaction) leaveGuild(e memory.GuildLeft) {
	t.guildNo(e.Guild)
	t.exec("UPDATE guild SET gone = ? WHERE id = ?", millis(e.At), e.Guild)
	t.exec("UPDATE channel SET unplaced = 1 WHERE guild = ?", e.Guild)
}

// unplaceChannel unplaces a channel. Discord may omit the guild.
func (t *transaction) unplaceChannel(e memory.ChannelGone) {
	c := t.knownChannel(e.Channel)
	if c != nil {
		t.exec("UPDATE channel SET unplaced = 1 WHERE guild = ? AND id = ?", c.guild, e.Channel)
	}
}

func (t *transaction) ask(e memory.Asked) {
	t.guildNo(e.Guild)
	t.exec("UPDATE guild SET asked = max(1, ?) WHERE id = ?", e.Message, e.Guild)
}

func (t *transaction) learnUntil(e memory.Learned) {
	c := t.channel(e.Guild, e.Channel)
	t.exec("UPDATE channel SET learned = max(learned, ?) WHERE guild = ? AND no = ?", e.Until, c.guild, c.no)
}

// chooseLimit keeps a limit. The guild may be unknown.
func (t *transaction) chooseLimit(e memory.LimitChosen) {
	t.putNewer(limitTable, e.Guild, e.Role, e.Messages, e.Tokens, millis(e.At), t.chooser(e.Guild, e.By, e.At))
}

// deleteRole removes a role and its overwrites, except @everyone.
func (t *transaction) deleteRole(gone memory.RoleGone) {
	t.guildNo(gone.Guild)
	t.exec("DELETE FROM role WHERE guild = ? AND id = ?", gone.Guild, gone.Role)
	if gone.Role == memory.RoleID(gone.Guild) {
		return
	}
	channels := listIn(t, func(scan Scanner, c *memory.Channel) error {
		return rowError(scan(&c.ID, asJSON{&c.Overwrites}), "channel", c.ID)
	}, "SELECT id, overwrites FROM channel WHERE guild = ? AND overwrites <> 'null'", gone.Guild)
	for _, c := range channels {
		n := len(c.Overwrites)
		c.Overwrites = slices.DeleteFunc(c.Overwrites, func(o memory.Overwrite) bool {
			return o.Role == gone.Role && o.User == 0
		})
		if len(c.Overwrites) < n {
			overwrites := t.jsonText(c.Overwrites)
			t.exec("UPDATE channel SET overwrites = ? WHERE guild = ? AND id = ?", overwrites, gone.Guild, c.ID)
		}
	}
}

func (t *transaction) seeGuild(e memory.GuildSeen) {
	g := e.Guild
	t.guildNo(g.ID)
	var since memory.MessageID
	if !e.At.IsZero() {
		since = memory.FirstMessageID(e.At)
	}
	t.exec(`UPDATE guild SET name = ?1, owner = ?2, self = CASE WHEN ?5 = 0 THEN self ELSE ?5 END,
		since = CASE WHEN (since = 0 OR gone <> 0) AND ?3 <> 0 THEN ?3 ELSE since END, gone = 0
		WHERE id = ?4`, t.sealGuildName(g.ID, g.Name), g.Owner, since, g.ID, g.Self)
	t.exec("DELETE FROM role WHERE guild = ?", g.ID)
	for _, r := range g.Roles {
		t.seeRole(g.ID, r)
	}
	t.unplaceOthers(g)
	for _, c := range g.Channels {
		c.Guild = g.ID
		t.seeChannel(c)
	}
}

func (t *transaction) sealGuildName(guild memory.GuildID, name string) any {
	return t.seal(placeOfGuildName(guild), memory.Clean(name))
}

// unplaceOthers unplaces the channels that g doesn't list, except threads of listed ones: Discord lists only
// active threads.
func (t *transaction) unplaceOthers(g memory.Guild) {
	var listed, unplaced []memory.ChannelID
	for _, c := range g.Channels {
		listed = append(listed, c.ID)
		if c.Unplaced {
			unplaced = append(unplaced, c.ID)
		}
	}
	t.exec(`UPDATE channel SET unplaced = 1 WHERE guild = ?1 AND (id IN (SELECT value FROM json_each(?3))
		OR id NOT IN (SELECT value FROM json_each(?2))
		AND NOT (kind IN (?4, ?5) AND parent IN (SELECT value FROM json_each(?2))))`,
		g.ID, jsonOf(listed), jsonOf(unplaced), memory.PublicThread, memory.PrivateThread)
}

// seeChannel stores what is known of a channel. An unplaced one is from an old file: it only completes a channel
// known by its messages alone.
func (t *transaction) seeChannel(c memory.Channel) {
	known := t.knownChannel(c.ID)
	if known == nil {
		t.addChannel(c)
		return
	}
	t.changed.structure[known.guild] = true
	c.Guild = known.guild
	c.Owner = cmp.Or(c.Owner, known.owner)
	name, gone, deleted := t.nameOf(c)
	if c.Unplaced && (deleted || !known.nameless) {
		return
	}
	if c.Name != "" || gone {
		t.retitle(known.no, c, name)
	}
	known.place(c)
	t.exec(`UPDATE channel SET parent = ?1, kind = ?2, name = CASE WHEN ?3 THEN name ELSE ?4 END,
		tags = CASE WHEN ?3 THEN tags ELSE ?5 END, owner = ?6, age_limited = ?7, unplaced = ?8, overwrites = ?9
		WHERE guild = ?10 AND no = ?11`, c.Parent, c.Kind, c.Name == "" && !gone,
		t.seal(placeOfChannelName(c.ID, known.no), name), t.sealTags(c, known.no, name), c.Owner,
		c.AgeLimited, c.Unplaced, t.jsonText(c.Overwrites), known.guild, known.no)
}

// retitle has a thread's segments embedded again if its title changes: their text begins with it.
func (t *transaction) retitle(no int64, c memory.Channel, name string) {
	before := memory.Channel{ID: c.ID}
	t.row("SELECT kind, name FROM channel WHERE guild = ? AND no = ?", t.guildOfNo(no), no).into(&before.Kind,
		t.store.vault.channelName(&before, &no))
	after := memory.Channel{Kind: c.Kind, Name: name}
	if memory.TitleOf(&before, nil).Name != memory.TitleOf(&after, nil).Name {
		t.untitle(no)
	}
}

func (t *transaction) seeRole(guild memory.GuildID, r memory.Role) {
	t.guildNo(guild)
	t.put(table{"role", 2, "guild, id, name, permissions, bot"}, guild, r.ID,
		t.seal(at("role", "name", guild, r.ID), memory.Clean(r.Name)), int64(r.Permissions), r.Bot)
}

// chooseSetting keeps a setting, unless it is forgotten. Guild and channel may be unknown.
func (t *transaction) chooseSetting(e memory.SettingChosen) {
	where := location{
		guild:   e.Guild,
		channel: e.Channel,
		parent:  t.locationAt(e.Guild, e.Channel).parent,
	}
	id := memory.FirstMessageID(e.At)
	if slices.ContainsFunc(t.decisions().rules, func(o rule) bool {
		return o.coversSetting(e.Key) && o.coversEveryone(where, id)
	}) {
		return
	}
	t.changed.Text = t.changed.Text || e.Key == memory.SettingPersona // the earlier value
	t.putNewer(settingTable, e.Guild, e.Channel, e.Key,
		t.seal(placeOfSetting(e.Guild, e.Channel, e.Key), e.Value), millis(e.At),
		t.chooser(e.Guild, e.By, e.At))
}

func (o rule) coversSetting(key memory.Setting) bool {
	return o.coversSettings() && (o.Channel == 0 || o.end == endless || !key.StaysWithChannel())
}

// choose keeps a decision about remembering. Nothing said before remembering begins counts as missing.
func (t *transaction) choose(e memory.Chose) {
	t.guildNo(e.Guild)
	table := "guild"
	which := " WHERE id = ?"
	args := []any{e.Guild}
	if e.Channel != 0 {
		c := t.channel(e.Guild, e.Channel)
		table = "channel"
		which = " WHERE guild = ? AND id = ?"
		args = []any{c.guild, e.Channel}
	}
	var was memory.Choice
	var chosen int64
	t.row("SELECT choice, chosen FROM "+table+which, args...).into(&was, &chosen)
	at := millis(e.At)
	if chosen != 0 && at <= chosen {
		return
	}
	decided := []any{e.Choice, at, t.chooser(e.Guild, e.By, e.At)}
	t.exec("UPDATE "+table+" SET choice = ?, chosen = ?, chooser = ?"+which, append(decided, args...)...)
	if e.Choice == memory.Ignore || e.Choice == was {
		return
	}
	// Edits made while it wasn't remembered are unknown.
	t.sweep(memory.Absent{
		Guild:   e.Guild,
		Channel: e.Channel,
		At:      e.At,
	})
	t.exec("UPDATE channel SET heard = max(heard, ?3) WHERE "+within, e.Guild, e.Channel,
		memory.FirstMessageID(e.At))
}
