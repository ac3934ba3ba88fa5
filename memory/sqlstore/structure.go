package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

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

// deleteChannel unplaces a channel and its threads, and begins to forget them.
func (t *transaction) deleteChannel(e memory.ChannelDeleted) {
	t.channel(e.Guild, e.Channel)
	t.exec(`UPDATE channel SET unplaced = 1 WHERE guild = ?1 AND (id = ?2 OR parent = ?2 AND kind IN (?3, ?4))`,
		e.Guild, e.Channel, memory.PublicThread, memory.PrivateThread)
	t.forgetOnce(memory.Forgetting{Guild: e.Guild, Channel: e.Channel, Why: memory.WhyDeleted, At: e.At})
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

// sealTags returns a channel's tags as they are stored: none beside an empty name.
func (t *transaction) sealTags(c memory.Channel, no int64, name string) any {
	if len(c.Tags) == 0 || name == "" {
		return ""
	}
	return t.seal(placeOfChannelTags(c.ID, no), textOfTags(c.Tags))
}

// nameOf returns a channel's name: none if the channel was deleted, or is a thread whose owner has opted out or
// is forgotten.
func (t *transaction) nameOf(c memory.Channel) (name string, gone, deleted bool) {
	d := t.decisions()
	at := locationOf(c)
	made := memory.MessageID(c.ID)
	gone = c.Owner != 0 && d.hasOptedOut(c.Guild, c.Owner)
	for _, o := range d.rules {
		deleted = deleted || o.Why == memory.WhyDeleted && o.coversEveryone(at, made)
		gone = gone || c.Owner != 0 && o.User != 0 && o.covers(at, made, c.Owner)
	}
	if deleted || gone {
		return "", true, deleted
	}
	return memory.Clean(c.Name), false, false
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

// untitle deletes the vectors of a channel's segments, and has them embedded again.
func (t *transaction) untitle(no int64) {
	segments := columnIn[int64](t, "SELECT DISTINCT segment FROM message WHERE guild = ? AND channel = ? AND segment <> 0",
		t.guildOfNo(no), no)
	for _, id := range segments {
		t.segment(id, no).invalid = true
	}
}

func (t *transaction) seeRole(guild memory.GuildID, r memory.Role) {
	t.guildNo(guild)
	t.put(table{"role", 2, "guild, id, name, permissions, bot"}, guild, r.ID,
		t.seal(at("role", "name", guild, r.ID), memory.Clean(r.Name)), int64(r.Permissions), r.Bot)
}

// numbers maps channels to their numbers, and back.
type numbers struct {
	of     map[memory.ChannelID]int64
	ids    map[int64]memory.ChannelID
	guilds map[int64]memory.GuildID // by their own numbers
}

// guildOf returns the guild of a channel's number.
func (nos numbers) guildOf(no int64) memory.GuildID { return nos.guilds[GuildOf(no)] }

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

// reload reads the structure of guilds again, and drops what is cached of their people and lore.
func (s *Store) reload(ctx context.Context, q Querier, guilds []memory.GuildID) error {
	const many = 50 // to be read one by one
	switch {
	case len(guilds) == 0: // only messages
		s.mu.Lock()
		s.newestRead = false
		s.mu.Unlock()
		return nil
	case len(guilds) > many || slices.Contains(guilds, memory.Everywhere):
		guilds = []memory.GuildID{memory.Everywhere}
	}
	r := structure{map[memory.GuildID]*memory.Guild{}, numbers{of: map[memory.ChannelID]int64{},
		ids: map[int64]memory.ChannelID{}, guilds: map[int64]memory.GuildID{}},
		map[settingPlace]settings{}, s.vault}
	for _, part := range []struct {
		read  func(Scanner) error
		query string
	}{
		{r.readSetting, "SELECT guild, channel, key, value, chooser FROM setting WHERE value <> '' AND " + ofReloaded},
		{r.readGuild, `SELECT id, name, owner, self, choice, chooser, asked <> 0, since, gone FROM guild
			WHERE (id = ?1 OR ?1 = -1)`},
		{r.readLearn, "SELECT guild, at FROM learn WHERE user = 0 AND allow = 1 AND " + ofReloaded},
		{r.readRole, "SELECT guild, id, name, permissions, bot FROM role WHERE " + ofReloaded + " ORDER BY guild, id"},
		{r.readLimit, fmt.Sprintf(`SELECT guild, role, messages, tokens, chooser FROM role_limit
			WHERE (messages <> %[1]d OR tokens <> %[1]d) AND %[2]s ORDER BY guild, role`, memory.AsConfigured,
			ofReloaded)},
		{r.readChannel, `SELECT no, id, guild, parent, kind, name, tags, owner, age_limited, unplaced, shut, overwrites,
			choice, chooser, learned FROM channel WHERE ` + ofReloaded + ` ORDER BY id`},
	} {
		for _, guild := range guilds {
			err := Each(ctx, q, part.read, part.query, guild)
			if err != nil {
				return err
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newestRead = false
	s.peopleVersion++
	s.keepOthers(&r, guilds)
	s.guilds = r.guilds
	s.nos = r.nos
	return nil
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

// Guilds implements memory.Store.
func (s *Store) Guilds(ctx context.Context) ([]memory.GuildID, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.guilds)), nil
}

// Guild implements memory.Store.
func (s *Store) Guild(ctx context.Context, id memory.GuildID) (*memory.Guild, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if g, ok := s.guilds[id]; ok {
		return g, nil
	}
	return nil, fmt.Errorf("server %d: %w", id, memory.ErrNotFound)
}

func (s *Store) numbers() numbers {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.nos
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

// chooseSetting keeps a setting, unless it is forgotten. Guild and channel may be unknown.
func (t *transaction) chooseSetting(e memory.SettingChosen) {
	where := location{guild: e.Guild, channel: e.Channel, parent: t.locationAt(e.Guild, e.Channel).parent}
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

// coversSettings reports whether a rule covers all of a channel or a guild, and so its settings.
func (o rule) coversSettings() bool { return o.User == 0 && (o.whole || o.end == endless) }

func (o rule) coversSetting(key memory.Setting) bool {
	return o.coversSettings() && (o.Channel == 0 || o.end == endless || !key.StaysWithChannel())
}

func (b *forgettingRun) dropSettings() {
	if !b.of.coversSettings() {
		return
	}
	end := millis(b.of.end.Time())
	if b.of.end == endless {
		end = 1<<63 - 1
	}
	b.run(`DELETE FROM setting WHERE at < ?7 AND (?8 OR key NOT IN (?9, ?10, ?11)) AND ((channel = ?5 OR ?5 = 0)
		OR channel IN (SELECT value FROM json_each(?1))) AND `+ofGuild, end, b.of.Channel == 0 || b.of.end == endless,
		memory.SettingAnswers, memory.SettingRetention, memory.SettingBots)
}
