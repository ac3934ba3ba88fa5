package sqlstore

import (
	"slices"
	"time"

	"hark/memory"
)

// structure is all guilds' structure while it is read.
type structure struct {
	guilds   map[memory.GuildID]*memory.Guild
	nos      numbers
	settings map[settingPlace]settings
	vault    *Vault
}

// settings are those of a place, and who set them.
type settings struct {
	values map[memory.Setting]string
	by     map[memory.Setting]memory.UserID
}

// settingPlace is where a setting applies. Channel 0 is the whole guild.
type settingPlace struct {
	guild   memory.GuildID
	channel memory.ChannelID
}

// ofReloaded is the condition for rows of guild ?1.
const ofReloaded = "(guild = ?1 OR ?1 = -1)"

// keepOthers adds to r what is cached of other guilds than those that were read, of which it drops people and lore.
func (s *Store) keepOthers(r *structure, read []memory.GuildID) {
	if slices.Contains(read, memory.Everywhere) {
		s.people = map[memory.GuildID][]memory.Person{}
		s.lore = map[memory.GuildID][]memory.Lore{}
		return
	}
	for _, id := range read {
		delete(s.people, id)
		delete(s.lore, id)
	}
	for id, g := range s.guilds {
		if !slices.Contains(read, id) {
			r.guilds[id] = g
		}
	}
	for id, no := range s.nos.of {
		if guild := s.nos.guildOf(no); !slices.Contains(read, guild) {
			r.nos.of[id] = no
			r.nos.ids[no] = id
			r.nos.guilds[GuildOf(no)] = guild
		}
	}
}

func (r *structure) readSetting(scan Scanner) error {
	var at settingPlace
	var key memory.Setting
	var value string
	var by memory.UserID
	err := scan(&at.guild, &at.channel, &key,
		r.vault.opened(&value, func() Place { return placeOfSetting(at.guild, at.channel, key) }), &by)
	if r.settings[at].values == nil {
		r.settings[at] = settings{map[memory.Setting]string{}, map[memory.Setting]memory.UserID{}}
	}
	r.settings[at].values[key] = value
	if by != 0 {
		r.settings[at].by[key] = by
	}
	return err
}

func (r *structure) readGuild(scan Scanner) error {
	g := &memory.Guild{}
	err := scan(&g.ID, r.vault.opened(&g.Name, func() Place { return placeOfGuildName(g.ID) }), &g.Owner, &g.Self,
		&g.Choice, &g.By, &g.Asked, &g.Since, asTime{&g.Left})
	set := r.settings[settingPlace{guild: g.ID}]
	g.Settings = set.values
	g.SetBy = set.by
	r.guilds[g.ID] = g
	return err
}

// readLearn reads since when facts may be learned. The guild may be unknown.
func (r *structure) readLearn(scan Scanner) error {
	var guild memory.GuildID
	var since time.Time
	err := scan(&guild, asTime{&since})
	if g := r.guilds[guild]; g != nil {
		g.Learn = since
	}
	return err
}

func (r *structure) readRole(scan Scanner) error {
	var guild memory.GuildID
	var role memory.Role
	var permissions int64
	name := r.vault.opened(&role.Name, func() Place { return at("role", "name", guild, role.ID) })
	err := scan(&guild, &role.ID, name, &permissions, &role.Bot)
	role.Permissions = memory.Permissions(permissions)
	if g := r.guilds[guild]; g != nil {
		g.Roles = append(g.Roles, role)
	}
	return err
}

// readLimit reads a limit. Its guild may be unknown.
func (r *structure) readLimit(scan Scanner) error {
	var guild memory.GuildID
	var l memory.RoleLimit
	err := scan(&guild, &l.Role, &l.Messages, &l.Tokens, &l.By)
	if g := r.guilds[guild]; g != nil {
		g.Limits = append(g.Limits, l)
	}
	return err
}

func (r *structure) readChannel(scan Scanner) error {
	var no int64
	var c memory.Channel
	err := scan(&no, &c.ID, &c.Guild, &c.Parent, &c.Kind, r.vault.channelName(&c, &no), r.vault.channelTags(&c, &no),
		&c.Owner, &c.AgeLimited, &c.Unplaced, &c.Shut, asJSON{&c.Overwrites}, &c.Choice, &c.By, &c.Learned)
	if err != nil {
		return rowError(err, "channel", c.ID)
	}
	set := r.settings[settingPlace{c.Guild, c.ID}]
	c.Settings = set.values
	c.SetBy = set.by
	r.nos.of[c.ID] = no
	r.nos.ids[no] = c.ID
	r.nos.guilds[GuildOf(no)] = c.Guild
	r.guilds[c.Guild].Channels = append(r.guilds[c.Guild].Channels, c)
	return nil
}

// channelNos returns the numbers of scope's known channels, ascending.
func (s *Store) channelNos(scope memory.Scope) []int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	nos := make([]int64, 0, len(scope.Channels))
	for _, id := range scope.Channels {
		if no, ok := s.nos.of[id]; ok {
			nos = append(nos, no)
		}
	}
	slices.Sort(nos)
	return slices.Compact(nos)
}
