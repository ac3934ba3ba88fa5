package sqlstore

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"hark/memory"
)

// notice has the caches hold what is committed.
func (s *Store) notice(ctx context.Context) error {
	missed := s.missed.Load()
	if missed == s.caughtUp.Load() {
		return s.engine.Notice(ctx)
	}
	return s.engine.Latest(ctx, func(q Querier) error {
		err := s.reload(ctx, q, []memory.GuildID{memory.Everywhere})
		if err == nil {
			err = s.refreshVectors(ctx, q)
		}
		if err == nil {
			s.caughtUp.Store(missed)
		}
		return err
	})
}

// invalidateCaches is Engine.Watch's callback.
func (s *Store) invalidateCaches(ctx context.Context, q Querier, guilds []memory.GuildID, writing bool) error {
	s.othersWrote.Add(1)
	if writing {
		s.ingest.forget()
	}
	s.wakeUp()
	if err := s.noticeSealing(ctx, q, guilds); err != nil {
		return err
	}
	if err := s.refreshVectors(ctx, q); err != nil {
		return err
	}
	return s.reload(ctx, q, guilds)
}

// publish updates the readers' caches after a commit.
func (s *Store) publish(ctx context.Context, t *transaction) error {
	s.index.Apply(t.vectors)
	c := t.changed
	s.mu.Lock()
	s.newest = max(s.newest, c.newest)
	if len(c.people) > 0 {
		s.peopleVersion++
		for guild := range c.people {
			delete(s.people, guild)
			delete(s.lore, guild)
		}
	}
	s.mu.Unlock()
	if c.pending {
		s.wakeUp()
	}
	if len(c.structure) == 0 && !c.space {
		return nil
	}
	guilds := slices.Collect(maps.Keys(c.structure))
	return s.engine.Latest(ctx, func(q Querier) error {
		if c.space {
			if err := s.refreshVectors(ctx, q); err != nil {
				return err
			}
		}
		if len(guilds) == 0 {
			return nil
		}
		return s.reload(ctx, q, guilds)
	})
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
	r := structure{map[memory.GuildID]*memory.Guild{}, numbers{
		of:     map[memory.ChannelID]int64{},
		ids:    map[int64]memory.ChannelID{},
		guilds: map[int64]memory.GuildID{},
	},
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

// Space implements memory.Store.
func (s *Store) Space(ctx context.Context) (memory.Space, error) {
	if err := s.notice(ctx); err != nil {
		return memory.Space{}, err
	}
	use, _, err := readSpaces(ctx, s.engine)
	return parseSpace(use), s.failed(err, "read the space of the vectors")
}
