package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"hark/memory"
)

// applyStructure writes what changes guilds, roles and channels.
func (t *transaction) applyStructure(e memory.Event) error {
	t.changed.structure = true
	switch v := e.(type) {
	case memory.GuildSeen:
		return t.seeGuild(v.Guild, v.At)
	case memory.GuildNamed:
		if _, err := t.guildNo(v.Guild); err != nil {
			return err
		}
		return t.exec("UPDATE guild SET name = ? WHERE id = ? AND name = ''", memory.Clean(v.Name), int64(v.Guild))
	case memory.GuildLeft:
		return t.leaveGuild(v)
	case memory.ChannelSeen:
		return t.seeChannel(v.Channel)
	case memory.ChannelGone:
		// Discord may leave its guild out
		return t.exec("UPDATE channel SET unplaced = 1 WHERE id = ?", int64(v.Channel))
	case memory.ChannelDeleted:
		return t.deleteChannel(v)
	case memory.RoleSeen:
		return t.seeRole(v.Guild, v.Role)
	case memory.Chose:
		return t.choose(v)
	case memory.Asked:
		return t.asked(v)
	case memory.Learned:
		return t.learned(v)
	case memory.SettingChosen:
		return t.chooseSetting(v)
	case memory.LimitChosen:
		return t.chooseLimit(v)
	}
	return t.loseRole(e.(memory.RoleGone)) // prepare lets no others pass
}

// unplace unplaces a channel and its threads.
func (t *transaction) unplace(guild memory.GuildID, channel memory.ChannelID) error {
	return t.exec("UPDATE channel SET unplaced = 1 WHERE guild = ?1 AND (id = ?2 OR parent = ?2 AND kind IN (?3, ?4))",
		int64(guild), int64(channel), int(memory.PublicThread), int(memory.PrivateThread))
}

// leaveGuild notes that Hark was removed from a guild.
func (t *transaction) leaveGuild(e memory.GuildLeft) error {
	if _, err := t.guildNo(e.Guild); err != nil {
		return err
	}
	if err := t.exec("UPDATE guild SET gone = ? WHERE id = ?", millis(e.At), int64(e.Guild)); err != nil {
		return err
	}
	return t.exec("UPDATE channel SET unplaced = 1 WHERE guild = ?", int64(e.Guild))
}

// deleteChannel begins to forget what was said in a channel, once.
func (t *transaction) deleteChannel(e memory.ChannelDeleted) error {
	if _, err := t.channel(e.Guild, e.Channel); err != nil {
		return err
	}
	if err := t.unplace(e.Guild, e.Channel); err != nil {
		return err
	}
	return t.forgetOnce(memory.Forgetting{Guild: e.Guild, Channel: e.Channel, Why: memory.WhyDeleted, At: e.At})
}

func (t *transaction) asked(e memory.Asked) error {
	if _, err := t.guildNo(e.Guild); err != nil {
		return err
	}
	return t.exec("UPDATE guild SET asked = max(1, ?) WHERE id = ?", int64(e.Message), int64(e.Guild))
}

func (t *transaction) learned(e memory.Learned) error {
	c, err := t.channel(e.Guild, e.Channel)
	if err != nil {
		return err
	}
	return t.exec("UPDATE channel SET learned = max(learned, ?) WHERE no = ?", int64(e.Until), c.no)
}

// loseRole removes a role and what overwrites say of it. @everyone never goes.
func (t *transaction) loseRole(gone memory.RoleGone) error {
	if _, err := t.guildNo(gone.Guild); err != nil {
		return err
	}
	if err := t.exec("DELETE FROM role WHERE guild = ? AND id = ?", int64(gone.Guild),
		int64(gone.Role)); err != nil || gone.Role == memory.RoleID(gone.Guild) {
		return err
	}
	left := map[int64]string{}
	err := t.each(func(scan Scanner) error {
		var no int64
		var stored []byte
		var all []memory.Overwrite
		if err := scan(&no, &stored); err != nil {
			return err
		}
		if err := json.Unmarshal(stored, &all); err != nil {
			return fmt.Errorf("read the overwrites of a channel: %w", err)
		}
		kept := slices.DeleteFunc(slices.Clone(all), func(o memory.Overwrite) bool {
			return o.Role == gone.Role && o.User == 0
		})
		if len(kept) == len(all) {
			return nil
		}
		b, err := json.Marshal(kept)
		left[no] = string(b)
		return err
	}, "SELECT no, overwrites FROM channel WHERE guild = ? AND overwrites <> 'null'", int64(gone.Guild))
	if err != nil {
		return err
	}
	for no, overwrites := range left {
		if err := t.exec("UPDATE channel SET overwrites = ? WHERE no = ?", overwrites, no); err != nil {
			return err
		}
	}
	return nil
}

func (t *transaction) seeGuild(g memory.Guild, at time.Time) error {
	if _, err := t.guildNo(g.ID); err != nil {
		return err
	}
	since := int64(0)
	if !at.IsZero() {
		since = int64(memory.FirstMessageID(at))
	}
	if err := t.exec(`UPDATE guild SET name = ?1, owner = ?2, self = CASE WHEN ?5 = 0 THEN self ELSE ?5 END, since = CASE WHEN (since = 0 OR gone <> 0) AND ?3 <> 0 THEN ?3 ELSE since END, gone = 0
		WHERE id = ?4`, memory.Clean(g.Name), int64(g.Owner), since, int64(g.ID), int64(g.Self)); err != nil {
		return err
	}
	if err := t.exec("DELETE FROM role WHERE guild = ?", int64(g.ID)); err != nil {
		return err
	}
	for _, r := range g.Roles {
		if err := t.seeRole(g.ID, r); err != nil {
			return err
		}
	}
	if err := t.unplaceOthers(g); err != nil {
		return err
	}
	for _, c := range g.Channels {
		c.Guild = g.ID
		if err := t.seeChannel(c); err != nil {
			return err
		}
	}
	return nil
}

// unplaceOthers unplaces the channels that g doesn't list, except threads of those it lists: Discord lists
// the active ones only.
func (t *transaction) unplaceOthers(g memory.Guild) error {
	var listed, unplaced []memory.ChannelID
	for _, c := range g.Channels {
		if listed = append(listed, c.ID); c.Unplaced {
			unplaced = append(unplaced, c.ID)
		}
	}
	return t.exec(`UPDATE channel SET unplaced = 1 WHERE guild = ?1 AND (id IN (SELECT value FROM json_each(?3)) OR id NOT IN (SELECT value FROM json_each(?2))
		AND NOT (kind IN (?4, ?5) AND parent IN (SELECT value FROM json_each(?2))))`,
		int64(g.ID), jsonOf(listed), jsonOf(unplaced), int(memory.PublicThread), int(memory.PrivateThread))
}

// seeChannel stores what is known of a channel now. An unplaced one comes from an old file: it fills in a
// channel of which nothing but messages is known, and changes no other.
func (t *transaction) seeChannel(c memory.Channel) error {
	known, err := t.knownChannel(c.ID)
	if err != nil {
		return err
	}
	if known == nil {
		return t.addChannel(c)
	}
	overwrites, err := json.Marshal(c.Overwrites)
	if err != nil {
		return err
	}
	c.Owner = cmp.Or(c.Owner, known.owner)
	name, gone, deleted, err := t.nameOf(c)
	if err != nil || c.Unplaced && (deleted || !known.nameless) {
		return err
	}
	known.place(c)
	return t.exec(`UPDATE channel SET parent = ?, kind = ?, name = CASE WHEN ? THEN name ELSE ? END,
		owner = ?, age_limited = ?, unplaced = ?, overwrites = ? WHERE no = ?`,
		int64(c.Parent), int(c.Kind), c.Name == "" &&
			!gone, name, int64(c.Owner), c.AgeLimited, c.Unplaced, string(overwrites), known.no)
}

// nameOf is what is kept of a channel's name: nothing if it is gone, because the channel was deleted, or it
// is a thread whose owner has opted out or is forgotten.
func (t *transaction) nameOf(c memory.Channel) (name string, gone, deleted bool, err error) {
	d, err := t.decisions()
	if err != nil {
		return "", false, false, err
	}
	at, made := spot{guild: c.Guild, channel: c.ID}, memory.MessageID(c.ID)
	if c.Kind.IsThread() {
		at.parent = c.Parent
	}
	gone = c.Owner != 0 && d.out[member{c.Guild, c.Owner}]
	for _, o := range d.ledger {
		deleted = deleted || o.why == memory.WhyDeleted && o.coversAll(at, made)
		gone = gone || c.Owner != 0 && o.user != 0 && o.covers(at, made, c.Owner)
	}
	if deleted || gone {
		return "", true, deleted, nil
	}
	return memory.Clean(c.Name), false, false, nil
}

func (t *transaction) seeRole(guild memory.GuildID, r memory.Role) error {
	if _, err := t.guildNo(guild); err != nil {
		return err
	}
	return t.put("role", 2, "guild, id, name, permissions, bot", int64(guild), int64(r.ID),
		memory.Clean(r.Name), int64(r.Permissions), int64(r.Bot))
}

// numbers are the file's numbers of channels, and back.
type numbers struct {
	of     map[memory.ChannelID]int64
	ids    map[int64]memory.ChannelID
	guilds map[int64]memory.GuildID
}

// reload reads the structure of all guilds.
func (s *Store) reload(ctx context.Context, q Querier) error {
	guilds, err := readGuilds(ctx, q)
	if err != nil {
		return err
	}
	nos := numbers{of: map[memory.ChannelID]int64{}, ids: map[int64]memory.ChannelID{},
		guilds: map[int64]memory.GuildID{}}
	if err := readChannels(ctx, q, guilds, nos); err != nil {
		return err
	}
	if err := readSettings(ctx, q, guilds); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guilds, s.nos, s.newestRead = guilds, nos, false
	s.people, s.lore = map[memory.GuildID][]memory.Person{}, map[memory.GuildID][]memory.Lore{}
	s.peopleVersion++
	return nil
}

func readGuilds(ctx context.Context, q Querier) (map[memory.GuildID]*memory.Guild, error) {
	guilds := map[memory.GuildID]*memory.Guild{}
	err := Each(ctx, q, func(scan Scanner) error {
		g := &memory.Guild{}
		var left, learn int64
		err := scan(&g.ID, &g.Name, &g.Owner, &g.Self, &g.Choice, &g.Asked, &g.Since, &left, &learn)
		g.Left, g.Learn = FromMillis(left), FromMillis(learn)
		guilds[g.ID] = g
		return err
	}, `SELECT g.id, g.name, g.owner, g.self, g.choice, g.asked <> 0, g.since, g.gone, coalesce(l.at, 0) FROM guild g
		LEFT JOIN learn l ON l.guild = g.id AND l.user = 0 AND l.allow = 1`)
	if err != nil {
		return nil, err
	}
	err = Each(ctx, q, func(scan Scanner) error {
		var guild memory.GuildID
		var r memory.Role
		var permissions int64
		if err := scan(&guild, &r.ID, &r.Name, &permissions, &r.Bot); err != nil {
			return err
		}
		r.Permissions = memory.Permissions(permissions)
		guilds[guild].Roles = append(guilds[guild].Roles, r)
		return nil
	}, "SELECT guild, id, name, permissions, bot FROM role ORDER BY guild, id")
	if err != nil {
		return nil, err
	}
	return guilds, readLimits(ctx, q, guilds)
}

func readChannels(ctx context.Context, q Querier, guilds map[memory.GuildID]*memory.Guild, nos numbers) error {
	return Each(ctx, q, func(scan Scanner) error {
		var no int64
		var c memory.Channel
		var overwrites []byte
		if err := scan(&no, &c.ID, &c.Guild, &c.Parent, &c.Kind, &c.Name, &c.Owner, &c.AgeLimited,
			&c.Unplaced, &c.Shut, &overwrites, &c.Choice, &c.Learned); err != nil {
			return err
		}
		if err := json.Unmarshal(overwrites, &c.Overwrites); err != nil {
			return fmt.Errorf("read the overwrites of channel %d: %w", c.ID, err)
		}
		nos.of[c.ID], nos.ids[no], nos.guilds[no] = no, c.ID, c.Guild
		guilds[c.Guild].Channels = append(guilds[c.Guild].Channels, c)
		return nil
	}, `SELECT c.no, c.id, c.guild, c.parent, c.kind, c.name, c.owner, c.age_limited, c.unplaced, c.shut,
		c.overwrites, c.choice, c.learned FROM channel c ORDER BY c.id`)
}

// Guilds implements memory.Store.
func (s *Store) Guilds(ctx context.Context) ([]memory.GuildID, error) {
	if err := s.engine.Notice(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.guilds)), nil
}

// Guild implements memory.Store.
func (s *Store) Guild(ctx context.Context, id memory.GuildID) (*memory.Guild, error) {
	if err := s.engine.Notice(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if g, ok := s.guilds[id]; ok {
		return g, nil
	}
	return nil, fmt.Errorf("guild %d: %w", id, memory.ErrNotFound)
}

// channelIDs are the channels' ids by their numbers.
func (s *Store) channelIDs() map[int64]memory.ChannelID {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.nos.ids
}

// channelNos are the numbers of scope's channels that are known, in order.
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
