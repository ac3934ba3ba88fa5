package sqlstore

import (
	"context"
	"fmt"

	"hark/memory"
)

// loreEvents are about lore.
var loreEvents = []handler{
	handle(func(t *transaction, e memory.LoreTold) { t.tellLore(e.Lore) }),
	handle(func(t *transaction, e memory.LoreGone) { t.deleteKnowledge(aLore, e.Guild, e.ID) }),
}

// tellLore keeps lore or its newer version, unless it was deleted, is forgotten, or its author has opted out.
func (t *transaction) tellLore(l memory.Lore) {
	d := t.decisions()
	var taken bool
	var last memory.MessageID
	known := t.row("SELECT text IS NULL, at FROM lore WHERE guild = ? AND id = ?", l.Guild, l.ID).into(&taken, &last)
	at := memory.FirstMessageID(l.At)
	where := location{
		guild:   l.Guild,
		channel: l.Channel,
		parent:  t.locationAt(l.Guild, l.Channel).parent,
	}
	if taken || known && at <= last || d.hasOptedOut(l.Guild, l.By) || d.forgotten(where, at, l.By) {
		return
	}
	var sources []memory.Source
	for _, s := range l.Sources {
		if t.isGone(l.Guild, s.Channel, s.Message) {
			t.deleteKnowledge(aLore, l.Guild, l.ID)
			return
		}
		sources = append(sources, memory.Message{Channel: s.Channel, ID: s.Message}.AsSource(true))
	}
	t.guildNo(l.Guild)
	if known {
		t.invalidate(madeFrom(l.Guild, aLore, 0, l.ID), cause{hide: hideRepeats})
	}
	t.changed.people[l.Guild] = true
	t.changed.Text = true
	sealed := func(column, text string) any { return t.seal(lorePlace(column, l), text) }
	t.put(loreTable, l.Guild, l.ID, l.By, l.Channel, at, sealed("name", l.Name), sealed("own", t.jsonText(l.Own)),
		sealed("text", l.Text), l.Scheduled)
	t.derive(derived{
		kind:    aLore,
		guild:   l.Guild,
		channel: l.Channel,
		id:      l.ID,
		author:  l.By,
		at:      at,
	}, sources, nil)
}

// selectLore selects lore that isn't gone, with its sources.
func selectLore(where string) string {
	return "SELECT l.id, l.guild, l.name, l.text, l.own, l.by, l.channel, l.at, l.scheduled, " + sourcesColumn +
		" FROM lore l JOIN derived d ON d.guild = l.guild AND d.kind = " + fmt.Sprint(int(aLore)) +
		" AND d.place = l.guild AND d.id = l.id WHERE l.text IS NOT NULL AND " + where + " ORDER BY l.guild, l.id"
}

func lorePlace(column string, l memory.Lore) Place { return at("lore", column, l.Guild, l.ID) }

func (v *Vault) scanLore(scan Scanner, l *memory.Lore) error {
	var at memory.MessageID
	opened := func(column string, to any) any { return v.opened(to, func() Place { return lorePlace(column, *l) }) }
	err := scan(&l.ID, &l.Guild, opened("name", &l.Name), opened("text", &l.Text), opened("own", asJSON{&l.Own}),
		&l.By, &l.Channel, &at, &l.Scheduled, asJSON{&l.Sources})
	l.At = at.Time()
	return rowError(err, "lore", l.ID)
}

// Lore implements memory.Store.
func (s *Store) Lore(ctx context.Context, guild memory.GuildID) ([]memory.Lore, error) {
	return cached(ctx, s, &s.lore, guild, "read the lore of server %d", func() ([]memory.Lore, error) {
		return list(ctx, s.engine, s.vault.scanLore, selectLore("l.guild = ?"), guild)
	})
}
