package sqlstore

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"hark/memory"
)

// personEvents are about people and what Hark knows of them.
var personEvents = []handler{
	handle((*transaction).seePerson),
	handle((*transaction).leave),
	handle((*transaction).tellFact),
	handle(func(t *transaction, e memory.FactGone) { t.deleteKnowledge(aFact, e.Guild, e.Fact) }),
	handle((*transaction).learn),
}

// seePerson stores what is known of somebody. Empty names and unknown roles change nothing. With known roles,
// an empty nickname means none.
func (t *transaction) seePerson(e memory.PersonSeen) {
	p := e.Person
	d := t.decisions()
	if d.hasOptedOut(p.Guild, p.ID) || e.Said != 0 && d.forgotten(location{guild: p.Guild}, e.Said, p.ID) {
		return
	}
	t.guildNo(p.Guild)
	p.Username = memory.Clean(p.Username)
	p.Name = memory.Clean(p.Name)
	p.Nick = memory.Clean(p.Nick)
	old, known := t.person(p.Guild, p.ID)
	now := memory.Person{
		Username:   cmp.Or(p.Username, old.Username),
		Name:       cmp.Or(p.Name, old.Name),
		Nick:       p.Nick,
		Bot:        p.Bot,
		RolesKnown: p.RolesKnown || old.RolesKnown,
		Roles:      p.Roles,
	}
	if !p.RolesKnown {
		now.Nick = cmp.Or(p.Nick, old.Nick)
		now.Roles = old.Roles
	}
	if known && now.Username == old.Username && now.Name == old.Name && now.Nick == old.Nick && now.Bot == old.Bot &&
		now.RolesKnown == old.RolesKnown && slices.Equal(now.Roles, old.Roles) {
		return // every message sees its author, and only a change may drop the cache
	}
	t.changed.people[p.Guild] = true
	var roles any
	if now.RolesKnown {
		roles = t.jsonText(now.Roles)
	}
	sealed := func(column, name string) any { return t.seal(at("person", column, p.Guild, p.ID), name) }
	t.put(table{"person", 2, "guild, id, username, name, nick, bot, roles"}, p.Guild, p.ID,
		sealed("username", now.Username), sealed("name", now.Name), sealed("nick", now.Nick), now.Bot, roles)
}

// person returns what is known of somebody, without facts.
func (t *transaction) person(guild memory.GuildID, id memory.UserID) (p memory.Person, known bool) {
	p.Guild = guild
	p.ID = id
	v := t.store.vault
	known = t.row("SELECT username, name, nick, bot, roles IS NOT NULL, roles FROM person WHERE guild = ? AND id = ?",
		guild, id).into(v.personName(&p, "username", &p.Username), v.personName(&p, "name", &p.Name),
		v.personName(&p, "nick", &p.Nick), &p.Bot, &p.RolesKnown, asJSON{&p.Roles})
	return p, known
}

// leave makes unknown what only a member has, and takes back their token.
func (t *transaction) leave(e memory.PersonLeft) {
	t.changed.people[e.Guild] = true
	t.exec("UPDATE person SET nick = '', roles = NULL WHERE guild = ? AND id = ?", e.Guild, e.User)
	t.exec("UPDATE connection SET hash = '', uses = 0, used = 0 WHERE guild = ? AND user = ?", e.Guild, e.User)
}

// tellFact keeps a fact, unless it was deleted, its source is gone, or its person has opted out.
func (t *transaction) tellFact(e memory.FactTold) {
	f := e.Fact
	if t.decisions().hasOptedOut(e.Guild, e.User) ||
		value[bool](t, "SELECT text IS NULL FROM fact WHERE guild = ? AND id = ?", e.Guild, f.ID) {
		return
	}
	var source []memory.Source
	if f.Message != 0 {
		if t.isGone(e.Guild, f.Channel, f.Message) {
			t.deleteKnowledge(aFact, e.Guild, f.ID)
			return
		}
		source = append(source, memory.Message{Channel: f.Channel, ID: f.Message}.AsSource(true))
	}
	t.dropPromptsFrom(e.Guild, aFact, e.Guild, f.ID) // they show the earlier text
	t.changed.people[e.Guild] = true
	t.changed.Text = true
	t.put(factTable, e.Guild, f.ID, e.User, f.Alias, f.By, f.Channel, f.Message,
		t.seal(at("fact", "text", e.Guild, f.ID), memory.Clean(f.Text)))
	t.derive(derived{
		kind:    aFact,
		guild:   e.Guild,
		channel: f.Channel,
		id:      f.ID,
	}, source, []memory.UserID{e.User})
}

func (t *transaction) learn(e memory.Learn) {
	if e.On && t.decisions().hasOptedOut(e.Guild, e.User) {
		return
	}
	if e.User == 0 {
		t.changed.structure[e.Guild] = true
	}
	t.changed.people[e.Guild] = true
	t.putNewer(learnTable, e.Guild, e.User, e.On, millis(e.At))
}

// People implements memory.Store.
func (s *Store) People(ctx context.Context, guild memory.GuildID, ids ...memory.UserID) ([]memory.Person, error) {
	if len(ids) > 0 {
		people, err := s.readPeople(ctx, guild, ids)
		return people, s.failed(err, "read people of server %d", guild)
	}
	return cached(ctx, s, &s.people, guild, "read the people of server %d", func() ([]memory.Person, error) {
		return s.readPeople(ctx, guild, nil)
	})
}

// cached returns what of caches of a guild, and reads it if needed.
func cached[T any](ctx context.Context, s *Store, of *map[memory.GuildID][]T, guild memory.GuildID, what string,
	read func() ([]T, error)) ([]T, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	all, ok := (*of)[guild]
	version := s.peopleVersion
	s.mu.RUnlock()
	if ok {
		return all, nil
	}
	all, err := read()
	if err != nil {
		return nil, s.failed(err, what, guild)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peopleVersion == version {
		(*of)[guild] = all
	}
	return all, nil
}

// readPeople returns, as of one moment, a guild's people who were seen or have facts: all, or those with ids.
func (s *Store) readPeople(ctx context.Context, guild memory.GuildID, ids []memory.UserID) ([]memory.Person, error) {
	var some any
	if len(ids) > 0 {
		some = jsonOf(ids)
	}
	known := map[memory.UserID]*memory.Person{}
	err := s.engine.Snapshot(ctx, func(q Querier) error {
		err := Each(ctx, q, func(scan Scanner) error {
			p := &memory.Person{Guild: guild}
			err := scan(&p.ID, s.vault.personName(p, "username", &p.Username), s.vault.personName(p, "name", &p.Name),
				s.vault.personName(p, "nick", &p.Nick), &p.Bot, &p.RolesKnown, asJSON{&p.Roles}, asTime{&p.Learn})
			known[p.ID] = p
			return err
		}, `SELECT p.id, p.username, p.name, p.nick, p.bot, p.roles IS NOT NULL, p.roles, coalesce(l.at, 0)
			FROM person p
			LEFT JOIN learn l ON l.guild = p.guild AND l.user = p.id AND l.allow = 1
			WHERE p.guild = ?1 AND (?2 IS NULL OR p.id IN (SELECT value FROM json_each(?2)))`, guild, some)
		if err != nil {
			return err
		}
		return Each(ctx, q, func(scan Scanner) error {
			var user memory.UserID
			var f memory.Fact
			err := scan(&user, &f.ID, s.vault.opened(&f.Text, func() Place { return at("fact", "text", guild, f.ID) }),
				&f.Alias, &f.By, &f.Channel, &f.Message)
			p := known[user]
			if p == nil {
				p = &memory.Person{ID: user, Guild: guild}
				known[user] = p
			}
			p.Facts = append(p.Facts, f)
			return err
		}, `SELECT user, id, text, alias, by, channel, message FROM fact WHERE guild = ?1 AND text IS NOT NULL
			AND (?2 IS NULL OR user IN (SELECT value FROM json_each(?2))) ORDER BY id`, guild, some)
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
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	present := map[memory.UserID]memory.Presence{}
	nos := s.numbers()
	for _, some := range byGuild(s.channelNos(scope), ChannelBits) {
		read := func(scan Scanner) error {
			var user memory.UserID
			var messages int
			var last memory.MessageID
			err := scan(&user, &messages, &last)
			p := present[user]
			p.Messages += messages
			if last.Time().After(p.Last) {
				p.Last = last.Time()
			}
			present[user] = p
			return err
		}
		err := Each(ctx, s.engine, read, `SELECT author, sum(messages), max(last) FROM presence
			WHERE guild = ? AND channel IN (SELECT value FROM json_each(?)) AND author IN (SELECT value FROM json_each(?))
			GROUP BY author`, nos.guildOf(some[0]), jsonOf(some), jsonOf(users))
		if err != nil {
			return nil, s.failed(err, "read who was here")
		}
	}
	return present, nil
}
