package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"

	"hark/memory"
)

// seePerson stores what is known of somebody now: empty names, unknown roles leave what was
// known. Whoever tells the roles has seen the member, and so whether they have a nickname.
func (t *transaction) seePerson(p memory.Person, said memory.MessageID) error {
	d, err := t.decisions()
	if err != nil || d.out[member{p.Guild, p.ID}] || said != 0 && d.forgotten(spot{guild: p.Guild}, said, p.ID) {
		return err
	}
	if _, err := t.guildNo(p.Guild); err != nil {
		return err
	}
	t.changed.person(p.Guild)
	var roles any
	if p.RolesKnown {
		b, err := json.Marshal(p.Roles)
		if err != nil {
			return err
		}
		roles = string(b)
	}
	return t.exec(`INSERT INTO person (guild, id, username, name, nick, bot, roles) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (guild, id) DO UPDATE SET
		username = CASE excluded.username WHEN '' THEN person.username ELSE excluded.username END,
		name = CASE excluded.name WHEN '' THEN person.name ELSE excluded.name END,
		nick = CASE WHEN excluded.nick = '' AND excluded.roles IS NULL THEN person.nick ELSE excluded.nick END,
		bot = excluded.bot, roles = coalesce(excluded.roles, person.roles)`,
		int64(p.Guild), int64(p.ID), memory.Clean(p.Username), memory.Clean(p.Name), memory.Clean(p.Nick), p.Bot, roles)
}

// leave notes that somebody is no longer in the guild.
func (t *transaction) leave(e memory.PersonLeft) error {
	t.changed.person(e.Guild)
	return t.exec("UPDATE person SET nick = '', roles = NULL WHERE guild = ? AND id = ?", int64(e.Guild), int64(e.User))
}

// tellFact keeps a fact, unless it was taken away, or its source is gone, or its person has opted out.
func (t *transaction) tellFact(e memory.FactTold) error {
	d, err := t.decisions()
	if err != nil || d.out[member{e.Guild, e.User}] {
		return err
	}
	var taken bool
	if _, err := Found(t.row("SELECT text IS NULL FROM fact WHERE guild = ? AND id = ?", int64(e.Guild),
		e.Fact.ID).Scan(&taken)); err != nil || taken {
		return err
	}
	if e.Fact.Message != 0 {
		if gone, err := t.isGone(e.Guild, e.Fact.Channel, e.Fact.Message); err != nil {
			return err
		} else if gone {
			return t.takeFact(e.Guild, e.Fact.ID)
		}
	}
	if err := t.dropPromptsFrom(aFact, int64(e.Guild), e.Fact.ID); err != nil { // that show what it said before
		return err
	}
	t.changed.person(e.Guild)
	t.changed.Text = true
	f := e.Fact
	if err := t.put("fact", 2, factColumns,
		int64(e.Guild), f.ID, int64(e.User), f.Alias, int64(f.By), int64(f.Channel), int64(f.Message), memory.Clean(f.Text)); err != nil {
		return err
	}
	var source []memory.Source
	if f.Message != 0 {
		source = []memory.Source{{Kind: memory.SourceMessage, Channel: f.Channel, ID: int64(f.Message), Repeats: true}}
	}
	return t.derive(derived{kind: aFact, guild: e.Guild, channel: f.Channel, id: f.ID}, source, []memory.UserID{e.User})
}

const factColumns = "guild, id, user, alias, by, channel, message, text"

// takeFact takes a fact away for good, with the answers that used it.
func (t *transaction) takeFact(guild memory.GuildID, id int64) error {
	if err := t.invalidate(madeFrom(aFact, int64(guild), id), cause{hide: hideRepeats}); err != nil {
		return err
	}
	if _, err := t.underive(derived{kind: aFact, guild: guild, id: id}); err != nil {
		return err
	}
	return t.buryFact(guild, id)
}

// buryFact leaves nothing of a fact but its id, under which none is kept any more.
func (t *transaction) buryFact(guild memory.GuildID, id int64) error {
	t.changed.person(guild)
	t.changed.Text = true
	return t.put("fact", 2, factColumns, int64(guild), id, 0, 0, 0, 0, 0, nil)
}

// learn keeps whether facts may be learned.
func (t *transaction) learn(e memory.Learn) error {
	if d, err := t.decisions(); err != nil || e.On && d.out[member{e.Guild, e.User}] {
		return err
	}
	t.changed.structure = t.changed.structure || e.User == 0
	t.changed.person(e.Guild)
	return t.exec(`INSERT INTO learn (guild, user, allow, at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (guild, user)
		DO UPDATE SET allow = ?3, at = ?4 WHERE ?4 > learn.at`, int64(e.Guild), int64(e.User), e.On, millis(e.At))
}

func (c *changes) person(guild memory.GuildID) {
	if c.people == nil {
		c.people = map[memory.GuildID]bool{}
	}
	c.people[guild] = true
}

// People implements memory.Store.
func (s *Store) People(ctx context.Context, guild memory.GuildID, ids ...memory.UserID) ([]memory.Person, error) {
	if len(ids) > 0 {
		people, err := s.readPeople(ctx, guild, ids)
		return people, s.failed(err, "read people of guild %d", guild)
	}
	if err := s.engine.Notice(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	people, ok := s.people[guild]
	version := s.peopleVersion
	s.mu.RUnlock()
	if ok {
		return people, nil
	}
	people, err := s.readPeople(ctx, guild, nil)
	if err != nil {
		return nil, s.failed(err, "read the people of guild %d", guild)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peopleVersion == version { // nothing was written meanwhile
		s.people[guild] = people
	}
	return people, nil
}

// readPeople are the persons of a guild that were seen, or that something is known of, as they are at one
// moment: all, or those with ids.
func (s *Store) readPeople(ctx context.Context, guild memory.GuildID, ids []memory.UserID) ([]memory.Person, error) {
	args, ofPerson, ofFact := []any{int64(guild)}, "", ""
	if len(ids) > 0 {
		args, ofPerson, ofFact = append(args, jsonOf(ids)), " AND p.id IN (SELECT value FROM json_each(?))",
			" AND user IN (SELECT value FROM json_each(?))"
	}
	known := map[memory.UserID]*memory.Person{}
	err := s.engine.Snapshot(ctx, func(q Querier) error {
		err := Each(ctx, q, func(scan Scanner) error {
			p := &memory.Person{Guild: guild}
			var roles sql.NullString
			var learn int64
			if err := scan(&p.ID, &p.Username, &p.Name, &p.Nick, &p.Bot, &roles, &learn); err != nil {
				return err
			}
			known[p.ID], p.Learn, p.RolesKnown = p, FromMillis(learn), roles.Valid
			if !roles.Valid {
				return nil
			}
			return json.Unmarshal([]byte(roles.String), &p.Roles)
		}, `SELECT p.id, p.username, p.name, p.nick, p.bot, p.roles, coalesce(l.at, 0) FROM person p
			LEFT JOIN learn l ON l.guild = p.guild AND l.user = p.id AND l.allow = 1 WHERE p.guild = ?`+
			ofPerson, args...)
		if err != nil {
			return err
		}
		err = Each(ctx, q, func(scan Scanner) error {
			var user memory.UserID
			var f memory.Fact
			err := scan(&user, &f.ID, &f.Text, &f.Alias, &f.By, &f.Channel, &f.Message)
			p := known[user]
			if p == nil {
				p = &memory.Person{ID: user, Guild: guild}
				known[user] = p
			}
			p.Facts = append(p.Facts, f)
			return err
		}, `SELECT user, id, text, alias, by, channel, message FROM fact WHERE guild = ?
			AND text IS NOT NULL`+ofFact+" ORDER BY id", args...)
		if err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	people := make([]memory.Person, 0, len(known))
	for _, id := range slices.Sorted(maps.Keys(known)) {
		people = append(people, *known[id])
	}
	return people, nil
}

// Presence implements memory.Store.
func (s *Store) Presence(ctx context.Context, scope memory.Scope,
	users []memory.UserID) (map[memory.UserID]memory.Presence, error) {
	if err := s.engine.Notice(ctx); err != nil {
		return nil, err
	}
	present := map[memory.UserID]memory.Presence{}
	err := Each(ctx, s.engine, func(scan Scanner) error {
		var user memory.UserID
		var p memory.Presence
		var last memory.MessageID
		err := scan(&user, &p.Messages, &last)
		p.Last = last.Time()
		present[user] = p
		return err
	}, `SELECT author, sum(messages), max(last) FROM presence
		WHERE channel IN (SELECT value FROM json_each(?)) AND author IN (SELECT value FROM json_each(?)) GROUP BY author`, jsonOf(s.channelNos(scope)), jsonOf(users))
	return present, s.failed(err, "read who was here")
}
