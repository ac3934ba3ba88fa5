package sqlstore

import (
	"context"
	"errors"

	"hark/memory"
	"hark/memory/seal"
)

type Taken struct {
	Deleted int
	Edited  int
	Facts   int
	Lore    int // deleted or changed
	OptOuts int // opt-outs and opt-ins
	Choices int // about remembering

	from *Vault // of the replaced database
}

// TakeOver applies to a restored store the forgettings, deletions and decisions that only the replaced database
// (schema old) has. It only records forgettings. It takes over what is readable; the error describes the rest.
// The caller holds the write lock. key is that of the replaced database, if it is sealed.
func TakeOver(ctx context.Context, s *Store, key *seal.Secret, r *Taken) error {
	err := s.transact(ctx, false, func(t *transaction) {
		from, err := t.oldVault(key)
		ensure(err)
		r.from = from
	})
	if err != nil {
		return err
	}
	var errs []error
	for _, take := range []func(*transaction, *Taken){
		(*transaction).takeForgettings, (*transaction).takeOptOuts, decided(learnTable), (*transaction).takeConnections, (*transaction).takeChoices,
		(*transaction).takeWithdrawn, (*transaction).takeFacts, (*transaction).takeOldLore, (*transaction).takeDeleted,
		(*transaction).takeTaken, (*transaction).takeShown, (*transaction).takeRewritten, (*transaction).takeEdited,
		(*transaction).takeSettings, decided(limitTable), (*transaction).takeSpent,
	} {
		errs = append(errs, s.transact(ctx, false, func(t *transaction) { take(t, r) }))
	}
	return errors.Join(errs...)
}

// oldVault returns the vault of the replaced database.
func (t *transaction) oldVault(key *seal.Secret) (*Vault, error) {
	old, err := readSealing(t.ctx, t, "old.meta")
	if err != nil || !old.IsSealed() {
		return nil, err
	}
	return old.Unlock(key, t.store.options.TextOnly)
}

func (t *transaction) takeForgettings(*Taken) {
	t.exec(`INSERT INTO main.forgetting (guild, channel, user, before, why, at, whole, done, receipt)
		SELECT guild, channel, user, before, why, at, whole, 0, '{}' FROM old.forgetting o
		WHERE NOT EXISTS (SELECT 1 FROM main.forgetting f WHERE f.guild = o.guild AND f.channel = o.channel
			AND f.user = o.user AND f.why = o.why AND f.before >= o.before AND f.at >= o.at AND f.whole >= o.whole)
		ORDER BY id`)
}

func (t *transaction) takeOptOuts(r *Taken) { r.OptOuts = t.takeNewer(optedTable) }

func decided(from table) func(*transaction, *Taken) {
	return func(t *transaction, _ *Taken) {
		t.changed.structure[memory.Everywhere] = true
		t.takeNewer(from)
	}
}

// takeSettings takes over newer settings, whose values are sealed anew.
func (t *transaction) takeSettings(r *Taken) {
	decided(settingTable)(t, r)
	type setting struct {
		guild   memory.GuildID
		channel memory.ChannelID
		key     memory.Setting
		value   string
	}
	copied := listIn(t, func(scan Scanner, s *setting) error {
		value := r.from.opened(&s.value, func() Place { return placeOfSetting(s.guild, s.channel, s.key) })
		return scan(&s.guild, &s.channel, &s.key, value)
	}, `SELECT m.guild, m.channel, m.key, o.value FROM main.setting m JOIN old.setting o
		ON o.guild = m.guild AND o.channel = m.channel AND o.key = m.key AND o.value = m.value`)
	for _, s := range copied {
		t.exec("UPDATE main.setting SET value = ? WHERE guild = ? AND channel = ? AND key = ?",
			t.seal(placeOfSetting(s.guild, s.channel, s.key), s.value), s.guild, s.channel, s.key)
	}
}

// takeSpent takes over what was spent since the copy was made.
func (t *transaction) takeSpent(*Taken) {
	t.exec(`INSERT INTO main.spent (guild, question, user, tokens)
		SELECT guild, question, user, tokens FROM old.spent WHERE true ON CONFLICT (guild, question)
		DO UPDATE SET tokens = max(spent.tokens, excluded.tokens), user = min(spent.user, excluded.user)`)
}

func (t *transaction) takeChoices(r *Taken) {
	t.changed.structure[memory.Everywhere] = true
	channels := listIn(t, func(scan Scanner, c *memory.Channel) error {
		c.Unplaced = true
		var no int64
		return scan(&no, &c.Guild, &c.ID, &c.Parent, &c.Kind, r.from.channelName(c, &no),
			r.from.channelTags(c, &no), &c.Owner)
	}, `SELECT no, guild, id, parent, kind, name, tags, owner FROM old.channel WHERE chosen <> 0
		AND id NOT IN (SELECT id FROM main.channel)`)
	for _, c := range channels {
		t.addChannel(c)
	}
	guilds := listIn(t, func(scan Scanner, g *memory.Guild) error {
		name := r.from.opened(&g.Name, func() Place { return placeOfGuildName(g.ID) })
		return scan(&g.ID, name, &g.Owner)
	}, "SELECT id, name, owner FROM old.guild WHERE chosen <> 0 AND id NOT IN (SELECT id FROM main.guild)")
	for _, g := range guilds {
		t.exec("INSERT INTO main.guild (id, name, owner) VALUES (?, ?, ?)", g.ID, t.seal(placeOfGuildName(g.ID), g.Name),
			g.Owner)
	}
	for _, table := range []string{"guild", "channel"} {
		r.Choices += t.exec("UPDATE main." + table + " SET choice = o.choice, chosen = o.chosen, chooser = o.chooser FROM (SELECT " +
			"id, choice, chosen, " + t.oldChooser(table) + " AS chooser FROM old." + table + ") o WHERE o.id = " + table + ".id AND o.chosen > " + table + ".chosen")
	}
}

// takeWithdrawn takes over which withdrawn answers Discord still shows.
func (t *transaction) takeWithdrawn(*Taken) {
	t.exec(`INSERT INTO main.withdrawn (guild, channel, message, first)
		SELECT guild, channel, message, first FROM old.withdrawn WHERE true ORDER BY no ON CONFLICT DO NOTHING`)
}

// takeTaken takes over why answers were deleted.
func (t *transaction) takeTaken(*Taken) {
	t.execAll(nil, `UPDATE main.withdrawn SET unasked = 1
		WHERE (channel, message) IN (SELECT channel, message FROM old.withdrawn WHERE unasked <> 0)`,
		`INSERT INTO main.taken SELECT guild, channel, id FROM old.taken o WHERE EXISTS (SELECT 1 FROM main.tombstone d
			WHERE d.channel = o.channel AND d.id = o.id) ON CONFLICT DO NOTHING`)
}

// takeShown takes over the sources of deleted answers that Discord still shows.
func (t *transaction) takeShown(*Taken) {
	t.execAll([]any{aShown}, `INSERT INTO main.derived (kind, place, id, guild, channel, author, at)
			SELECT kind, place, id, guild, channel, author, at FROM old.derived WHERE kind = ?1 ON CONFLICT DO NOTHING`,
		`INSERT INTO main.shown SELECT s.guild, s.channel, s.id, d.no, s.question`+shownBefore+
			`CROSS JOIN old.shown s ON s.derived = o.no WHERE o.kind = ?1 ON CONFLICT DO NOTHING`,
		`INSERT INTO main.source SELECT s.guild, s.kind, s.place, s.id, d.no, s.version, s.repeats`+shownBefore+
			`CROSS JOIN old.source s ON s.derived = o.no WHERE o.kind = ?1 ON CONFLICT DO NOTHING`,
		`INSERT INTO main.named SELECT n.guild, n.user, d.no`+shownBefore+
			`CROSS JOIN old.named n ON n.derived = o.no WHERE o.kind = ?1 ON CONFLICT DO NOTHING`)
}

// shownBefore joins derived things o of the old database with d, the same in the restored one.
const shownBefore = ` FROM old.derived o
	CROSS JOIN main.derived d ON d.kind = o.kind AND d.place = o.place AND d.id = o.id `

// message is a version of a message in one of two databases.
type message struct {
	channel, edited int64
	content         string
}

// text is the destination for the content of e's message. The columns before must be scanned before.
func (m *message) text(v *Vault, e *memory.Rewritten) any {
	return v.opened(&m.content, func() Place { return at("message", "content", m.channel, e.IDs[0]) })
}

// takeRewritten deletes messages of Hark's that were rewritten since, whose sources the copy lacks. Discord must
// stop showing them.
func (t *transaction) takeRewritten(r *Taken) {
	for _, e := range listIn(t, func(scan Scanner, e *memory.Rewritten) error {
		e.IDs = make([]memory.MessageID, 1)
		var was, now message
		err := scan(&e.Guild, &e.Channel, &e.IDs[0],
			&was.channel, &was.edited, was.text(r.from, e),
			&now.channel, &now.edited, now.text(t.store.vault, e))
		if was.edited == now.edited && was.content == now.content {
			e.IDs = nil
		}
		return err
	}, `SELECT c.guild, c.id, m.id, o.channel, o.edited, o.content, m.channel, m.edited, m.content FROM old.rewritten w CROSS JOIN old.channel oc ON oc.id = w.channel
		CROSS JOIN old.message o ON o.channel = oc.no AND o.id = w.id
		CROSS JOIN main.channel c ON c.id = w.channel CROSS JOIN main.message m ON m.channel = c.no AND m.id = w.id
		ORDER BY m.id`) {
		if e.IDs != nil && !t.isGone(e.Guild, e.Channel, e.IDs[0]) { // with the first message of its answer
			// so that things made from them inherit their sources
			t.rewrite(e)
			t.deleteParts(memory.Trace{Guild: e.Guild, Channel: e.Channel, Answer: e.IDs[0]}, e.IDs, true)
		}
	}
}

func (t *transaction) takeFacts(r *Taken) {
	eachKey(t, func(guild memory.GuildID, id int64) { r.Facts++; t.deleteKnowledge(aFact, guild, id) },
		`SELECT guild, id FROM old.fact o WHERE o.text IS NULL
		AND NOT EXISTS (SELECT 1 FROM main.fact f WHERE f.guild = o.guild AND f.id = o.id AND f.text IS NULL)`)
}

func (t *transaction) takeDeleted(r *Taken) {
	type deleted struct {
		guild   memory.GuildID
		channel memory.ChannelID
		id      memory.MessageID
		there   bool
		taken   bool // with a source; the other messages it lists weren't deleted
	}
	for _, d := range listIn(t, func(scan Scanner, d *deleted) error {
		return scan(&d.guild, &d.channel, &d.id, &d.there, &d.taken)
	}, `SELECT o.guild, o.channel, o.id, m.row IS NOT NULL,
		EXISTS (SELECT 1 FROM old.taken k WHERE k.channel = o.channel AND k.id = o.id) FROM old.tombstone o
		LEFT JOIN main.channel c ON c.id = o.channel LEFT JOIN main.message m ON m.channel = c.no AND m.id = o.id
		WHERE NOT EXISTS (SELECT 1 FROM main.tombstone d WHERE d.channel = o.channel AND d.id = o.id)
		AND NOT EXISTS (SELECT 1 FROM main.forgetting f
			WHERE f.begun = 0 AND f.guild IN (c.guild, ?1) AND f.user IN (0, m.author)
			AND f.channel IN (0, c.id, CASE WHEN c.kind IN (?2, ?3) THEN c.parent ELSE 0 END) AND m.id < f.before)`,
		memory.Everywhere, memory.PublicThread, memory.PrivateThread) { // those are forgotten together
		hide := hideRepeats
		if d.taken {
			hide = hideNone
		}
		t.delete(d.guild, d.channel, d.id, hide)
		if d.there {
			r.Deleted++
		}
	}
}

// takeEdited takes over texts that were edited since, so the old texts don't come back.
func (t *transaction) takeEdited(r *Taken) {
	edits := listIn(t, func(scan Scanner, e *memory.Edited) error {
		var no int64
		content := r.from.opened(&e.Content, func() Place { return at("message", "content", no, e.ID) })
		return scan(&e.Guild, &e.Channel, &e.ID, asTime{&e.At}, &no, content)
	}, `SELECT c.guild, c.id, m.id, o.edited, o.channel, o.content FROM old.message o
		CROSS JOIN old.channel oc ON oc.no = o.channel CROSS JOIN main.channel c ON c.id = oc.id
		CROSS JOIN main.message m ON m.channel = c.no AND m.id = o.id
		WHERE o.edited <> 0 AND o.edited > m.edited`)
	for _, e := range edits {
		t.edit(e)
	}
	r.Edited = len(edits)
}
