package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"hark/memory"
)

// tellLore keeps lore, or its newer version, unless it was taken away, falls under what was forgotten, or was said by
// somebody who has opted out.
func (t *transaction) tellLore(l memory.Lore) error {
	d, err := t.decisions()
	if err != nil || d.out[member{l.Guild, l.By}] {
		return err
	}
	var taken bool
	var last memory.MessageID
	known, err := Found(t.row("SELECT text IS NULL, at FROM lore WHERE guild = ? AND id = ?", int64(l.Guild),
		l.ID).Scan(&taken, &last))
	at := memory.FirstMessageID(l.At)
	if err != nil || taken || known && at <= last {
		return err
	}
	where := spot{guild: l.Guild, channel: l.Channel}
	if c, err := t.knownChannel(l.Channel); err != nil {
		return err
	} else if c != nil {
		where.parent = c.parent
	}
	if d.forgotten(where, at, l.By) {
		return nil
	}
	for _, s := range l.Sources {
		if gone, err := t.isGone(l.Guild, s.Channel, s.Message); err != nil {
			return err
		} else if gone {
			return t.takeLore(l.Guild, l.ID)
		}
	}
	if _, err := t.guildNo(l.Guild); err != nil {
		return err
	}
	if known {
		if err := t.invalidate(madeFrom(aLore, 0, l.ID), cause{hide: hideRepeats}); err != nil {
			return err
		}
	}
	return t.putLore(l, at)
}

const loreColumns = "guild, id, by, channel, at, name, own, text"

// putLore writes lore in the place of its older version.
func (t *transaction) putLore(l memory.Lore, at memory.MessageID) error {
	own, err := json.Marshal(l.Own)
	if err != nil {
		return err
	}
	t.loreChanged(l.Guild)
	if err := t.put("lore", 2, loreColumns,
		int64(l.Guild), l.ID, int64(l.By), int64(l.Channel), int64(at), l.Name, string(own), l.Text); err != nil {
		return err
	}
	var sources []memory.Source
	for _, s := range l.Sources {
		sources = append(sources, memory.Source{Kind: memory.SourceMessage, Channel: s.Channel,
			ID: int64(s.Message), Repeats: true})
	}
	return t.derive(derived{kind: aLore, guild: l.Guild, channel: l.Channel, id: l.ID, author: l.By, at: at},
		sources, nil)
}

func (t *transaction) loreChanged(guild memory.GuildID) {
	t.changed.person(guild)
	t.changed.Text = true
}

// takeLore takes lore away for good, with the answers that used it: of it only its id stays.
func (t *transaction) takeLore(guild memory.GuildID, id int64) error {
	if err := t.invalidate(madeFrom(aLore, 0, id), cause{hide: hideRepeats}); err != nil {
		return err
	}
	if _, err := t.underive(derived{kind: aLore, guild: guild, id: id}); err != nil {
		return err
	}
	return t.loseLore(invalid{derived: derived{guild: guild, id: id}})
}

// loseLore leaves nothing of lore but its id, under which none is kept any more. Of lore that fell under an
// order by itself not even that is left: the order keeps out all that was told before, and what is told under
// its id later may stay.
func (t *transaction) loseLore(g invalid) error {
	t.loreChanged(g.guild)
	if g.itself {
		return t.exec("DELETE FROM lore WHERE guild = ? AND id = ?", int64(g.guild), g.id)
	}
	return t.put("lore", 2, loreColumns, int64(g.guild), g.id, 0, 0, 0, "", "", nil)
}

// selectLore reads the lore for which a condition on l holds.
func selectLore(schema, where string) string {
	return "SELECT l.id, l.guild, l.name, l.text, l.own, l.by, l.channel, l.at, " +
		strings.Replace(sourcesColumn, "source", schema+"source", 1) +
		" FROM " + schema + "lore l JOIN " + schema + "derived d ON d.kind = " + fmt.Sprint(int(aLore)) +
		" AND d.place = l.guild AND d.id = l.id WHERE l.text IS NOT NULL AND " + where + " ORDER BY l.guild, l.id"
}

// scanLore reads what a row of selectLore tells.
func scanLore(scan Scanner, l *memory.Lore) error {
	var own []byte
	var at memory.MessageID
	var sources sourceList
	if err := scan(&l.ID, &l.Guild, &l.Name, &l.Text, &own, &l.By, &l.Channel, &at, &sources); err != nil {
		return err
	}
	if err := json.Unmarshal(own, &l.Own); err != nil {
		return fmt.Errorf("the aliases of lore %d: %w", l.ID, err)
	}
	for _, s := range sources {
		l.Sources = append(l.Sources, memory.Spot{Channel: memory.ChannelID(s[0]), Message: memory.MessageID(s[1])})
	}
	l.At = at.Time()
	return nil
}

// Lore implements memory.Store.
func (s *Store) Lore(ctx context.Context, guild memory.GuildID) ([]memory.Lore, error) {
	if err := s.engine.Notice(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	lore, ok := s.lore[guild]
	version := s.peopleVersion
	s.mu.RUnlock()
	if ok {
		return lore, nil
	}
	lore, err := list(ctx, s.engine, scanLore, selectLore("", "l.guild = ?"), int64(guild))
	if err != nil {
		return nil, s.failed(err, "read the lore of guild %d", guild)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peopleVersion == version { // nothing was written meanwhile
		s.lore[guild] = lore
	}
	return lore, nil
}

// takeOldLore takes away what the database that is replaced knows to be gone, and takes over what changed there since.
func (t *transaction) takeOldLore(r *Taken) error {
	gone := 0
	if err := t.eachKey(func(guild, id int64) error { gone++; return t.takeLore(memory.GuildID(guild), id) },
		`SELECT guild, id FROM old.lore o WHERE o.text IS NULL
		AND NOT EXISTS (SELECT 1 FROM main.lore l WHERE l.guild = o.guild AND l.id = o.id AND l.text IS NULL)`); err != nil {
		return err
	}
	changed, err := list(t.ctx, t, scanLore,
		selectLore("old.", "EXISTS (SELECT 1 FROM main.lore m WHERE m.guild = l.guild AND m.id = l.id AND m.text IS NOT NULL AND m.at < l.at)"))
	if err != nil {
		return err
	}
	for _, l := range changed {
		if err := t.tellLore(l); err != nil {
			return err
		}
	}
	r.Lore += gone + len(changed)
	return nil
}
