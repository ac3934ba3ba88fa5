package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"hark/memory"
)

// applyStructure writes what changes guilds, roles and channels.
func (t *transaction) applyStructure(e memory.Event) error {
	t.changed.structure = true
	switch v := e.(type) {
	case memory.GuildSeen:
		return t.seeGuild(v.Guild)
	case memory.ChannelSeen:
		return t.seeChannel(v.Channel)
	case memory.ChannelGone:
		return t.exec("UPDATE channel SET unplaced = 1 WHERE guild = ?1 AND (id = ?2 OR parent = ?2 AND kind IN (?3, ?4))",
			int64(v.Guild), int64(v.Channel), int(memory.PublicThread), int(memory.PrivateThread))
	case memory.RoleSeen:
		return t.seeRole(v.Guild, v.Role)
	}
	gone := e.(memory.RoleGone) // prepare lets no others pass
	return t.exec("DELETE FROM role WHERE guild = ? AND id = ?", int64(gone.Guild), int64(gone.Role))
}

func (t *transaction) seeGuild(g memory.Guild) error {
	if _, err := t.guildNo(g.ID); err != nil {
		return err
	}
	if err := t.exec("UPDATE guild SET name = ?, owner = ? WHERE id = ?", memory.Clean(g.Name), int64(g.Owner), int64(g.ID)); err != nil {
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
	listed := make([]memory.ChannelID, len(g.Channels))
	for i, c := range g.Channels {
		listed[i] = c.ID
	}
	return t.exec(`UPDATE channel SET unplaced = 1 WHERE guild = ?1 AND id NOT IN (SELECT value FROM json_each(?2))
		AND NOT (kind IN (?3, ?4) AND parent IN (SELECT value FROM json_each(?2)))`,
		int64(g.ID), jsonOf(listed), int(memory.PublicThread), int(memory.PrivateThread))
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
		return err // uncovered: ids and texts always have a JSON
	}
	return t.exec(`UPDATE channel SET parent = ?, kind = ?, name = ?, age_limited = ?, unplaced = ?, overwrites = ?
		WHERE no = ? AND (NOT ? OR unplaced AND name = '')`,
		int64(c.Parent), int(c.Kind), memory.Clean(c.Name), c.AgeLimited, c.Unplaced, string(overwrites), known.no, c.Unplaced)
}

func (t *transaction) seeRole(guild memory.GuildID, r memory.Role) error {
	if _, err := t.guildNo(guild); err != nil {
		return err
	}
	return t.exec("INSERT OR REPLACE INTO role (guild, id, name, permissions, bot) VALUES (?, ?, ?, ?, ?)",
		int64(guild), int64(r.ID), memory.Clean(r.Name), int64(r.Permissions), int64(r.Bot))
}

// seePerson stores what is known of somebody now: empty names, unknown roles leave what was
// known. Whoever tells the roles has seen the member, and so whether they have a nickname.
func (t *transaction) seePerson(p memory.Person) error {
	t.changed.person(p.Guild)
	var roles any
	if p.RolesKnown {
		b, err := json.Marshal(p.Roles)
		if err != nil {
			return err // uncovered: ids and texts always have a JSON
		}
		roles = string(b)
	}
	return t.exec(`INSERT INTO person (guild, id, username, name, nick, bot, roles) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (guild, id) DO UPDATE SET
		username = CASE excluded.username WHEN '' THEN username ELSE excluded.username END,
		name = CASE excluded.name WHEN '' THEN name ELSE excluded.name END,
		nick = CASE WHEN excluded.nick = '' AND excluded.roles IS NULL THEN nick ELSE excluded.nick END,
		bot = excluded.bot, roles = coalesce(excluded.roles, roles)`,
		int64(p.Guild), int64(p.ID), memory.Clean(p.Username), memory.Clean(p.Name), memory.Clean(p.Nick), p.Bot, roles)
}

func (c *changes) person(guild memory.GuildID) {
	if c.people == nil {
		c.people = map[memory.GuildID]bool{}
	}
	c.people[guild] = true
}

// numbers are the file's numbers of channels, and back.
type numbers struct {
	of     map[memory.ChannelID]int64
	ids    map[int64]memory.ChannelID
	guilds map[int64]memory.GuildID
}

// reload reads the structure of all guilds, at one moment.
func (s *Store) reload(ctx context.Context) error {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	return s.reloadLocked(ctx)
}

// reloadLocked is reload for those who hold watch.mu: what is read first is put in place first.
func (s *Store) reloadLocked(ctx context.Context) error {
	tx, err := s.watch.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	guilds, err := readGuilds(ctx, tx)
	if err != nil {
		return err
	}
	nos := numbers{of: map[memory.ChannelID]int64{}, ids: map[int64]memory.ChannelID{}, guilds: map[int64]memory.GuildID{}}
	if err := readChannels(ctx, tx, guilds, nos); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guilds, s.nos, s.newestRead = guilds, nos, false
	s.people = map[memory.GuildID][]memory.Person{}
	s.peopleVersion++
	return nil
}

func readGuilds(ctx context.Context, q *sql.Tx) (map[memory.GuildID]*memory.Guild, error) {
	guilds := map[memory.GuildID]*memory.Guild{}
	rows, err := q.QueryContext(ctx, "SELECT id, name, owner FROM guild")
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func(scan func(...any) error) error {
		g := &memory.Guild{}
		err := scan(&g.ID, &g.Name, &g.Owner)
		guilds[g.ID] = g
		return err
	})
	if err != nil {
		return nil, err
	}
	rows, err = q.QueryContext(ctx, "SELECT guild, id, name, permissions, bot FROM role ORDER BY guild, id")
	if err != nil {
		return nil, err
	}
	return guilds, eachRow(rows, func(scan func(...any) error) error {
		var guild memory.GuildID
		var r memory.Role
		var permissions int64
		if err := scan(&guild, &r.ID, &r.Name, &permissions, &r.Bot); err != nil {
			return err
		}
		r.Permissions = memory.Permissions(permissions)
		guilds[guild].Roles = append(guilds[guild].Roles, r)
		return nil
	})
}

func readChannels(ctx context.Context, q *sql.Tx, guilds map[memory.GuildID]*memory.Guild, nos numbers) error {
	rows, err := q.QueryContext(ctx, "SELECT no, id, guild, parent, kind, name, age_limited, unplaced, overwrites FROM channel ORDER BY id")
	if err != nil {
		return err
	}
	return eachRow(rows, func(scan func(...any) error) error {
		var no int64
		var c memory.Channel
		var overwrites []byte
		if err := scan(&no, &c.ID, &c.Guild, &c.Parent, &c.Kind, &c.Name, &c.AgeLimited, &c.Unplaced, &overwrites); err != nil {
			return err
		}
		if err := json.Unmarshal(overwrites, &c.Overwrites); err != nil {
			return fmt.Errorf("read the overwrites of channel %d: %w", c.ID, err)
		}
		nos.of[c.ID], nos.ids[no], nos.guilds[no] = no, c.ID, c.Guild
		guilds[c.Guild].Channels = append(guilds[c.Guild].Channels, c)
		return nil
	})
}

// Guilds implements memory.Store.
func (s *Store) Guilds(ctx context.Context) ([]memory.GuildID, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	ids := make([]memory.GuildID, 0, len(s.guilds))
	for id := range s.guilds {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, nil
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
	return nil, fmt.Errorf("guild %d: %w", id, memory.ErrNotFound)
}

// People implements memory.Store.
func (s *Store) People(ctx context.Context, guild memory.GuildID) ([]memory.Person, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	people, ok := s.people[guild]
	version := s.peopleVersion
	s.mu.RUnlock()
	if ok {
		return people, nil
	}
	rows, err := s.read.QueryContext(ctx, "SELECT id, username, name, nick, bot, roles FROM person WHERE guild = ?", int64(guild))
	if err != nil {
		return nil, fmt.Errorf("read the people of guild %d: %w", guild, explain(err))
	}
	err = eachRow(rows, func(scan func(...any) error) error {
		p := memory.Person{Guild: guild}
		var roles sql.NullString
		if err := scan(&p.ID, &p.Username, &p.Name, &p.Nick, &p.Bot, &roles); err != nil {
			return err
		}
		p.RolesKnown = roles.Valid
		if roles.Valid {
			if err := json.Unmarshal([]byte(roles.String), &p.Roles); err != nil {
				return err
			}
		}
		people = append(people, p)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the people of guild %d: %w", guild, explain(err))
	}
	slices.SortFunc(people, func(a, b memory.Person) int { return cmp.Compare(a.ID, b.ID) })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peopleVersion == version { // nothing was written meanwhile
		s.people[guild] = people
	}
	return people, nil
}

// Presence implements memory.Store.
func (s *Store) Presence(ctx context.Context, scope memory.Scope, users []memory.UserID) (map[memory.UserID]memory.Presence, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	present := map[memory.UserID]memory.Presence{}
	rows, err := s.read.QueryContext(ctx, `SELECT author, sum(messages), max(last) FROM presence
		WHERE channel IN (SELECT value FROM json_each(?)) AND author IN (SELECT value FROM json_each(?)) GROUP BY author`, jsonOf(s.channelNos(scope)), jsonOf(users))
	if err != nil {
		return nil, fmt.Errorf("read who was here: %w", explain(err))
	}
	return present, eachRow(rows, func(scan func(...any) error) error {
		var user memory.UserID
		var p memory.Presence
		var last memory.MessageID
		if err := scan(&user, &p.Messages, &last); err != nil {
			return err
		}
		p.Last = last.Time()
		present[user] = p
		return nil
	})
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
