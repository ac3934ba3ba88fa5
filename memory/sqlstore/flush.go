package sqlstore

import (
	"cmp"
	"maps"
	"slices"
)

func (t *transaction) flush() {
	t.flushTerms()
	t.flushSegments()
	for key, change := range t.presence {
		t.flushPresence(key, change)
	}
	for channel, id := range t.heard {
		if _, ok := t.counts[channel]; !ok {
			guild := t.guildOfNo(channel)
			t.later("UPDATE channel SET heard = max(heard, ?) WHERE guild = ? AND no = ?", id, guild, channel)
		}
	}
	for channel, change := range t.counts {
		guild := t.guildOfNo(channel)
		t.later("UPDATE channel SET messages = messages + ?, heard = max(heard, ?) WHERE guild = ? AND no = ?",
			change, t.heard[channel], guild, channel)
	}
	clear(t.segments)
	clear(t.presence)
	clear(t.counts)
	clear(t.heard)
}

func (t *transaction) flushSegments() {
	if len(t.segments) == 0 {
		return
	}
	t.changed.pending = true
	next := t.nextFlag()
	for _, id := range slices.Sorted(maps.Keys(t.segments)) {
		t.flushSegment(id, t.segments[id], next)
	}
}

func (t *transaction) flushSegment(id int64, c *segmentChange, next int) {
	guild := t.guildOfNo(c.channel)
	if c.isNew {
		// A version starts at the first message's id, so a vector of a deleted segment never fits one that
		// reuses its id.
		t.later(`INSERT INTO segment (guild, id, channel, first, last, size, version, pending, next)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?4, 1, ?7)`, guild, id, c.channel, c.first, c.last, c.size, next)
	} else {
		t.growSegment(guild, id, c, next)
	}
	if c.invalid {
		t.deleteVectors(guild, id)
		t.exec("DELETE FROM segment WHERE guild = ? AND id = ? AND size <= 0", guild, id)
	}
}

func (t *transaction) flushPresence(key presenceKey, c *presenceChange) {
	guild := t.guildOfNo(key.channel)
	t.later(`INSERT INTO presence (guild, channel, author, messages, last) VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (channel, author, guild) DO UPDATE SET messages = presence.messages + ?4,
		last = max(presence.last, ?5)`, guild, key.channel, key.author, c.messages, c.newest)
	if !c.removed {
		return
	}
	t.exec("DELETE FROM presence WHERE guild = ? AND channel = ? AND author = ? AND messages <= 0", guild, key.channel,
		key.author)
	t.exec(`UPDATE presence SET last = (SELECT id FROM said WHERE guild = ?1 AND channel = ?2 AND author = ?3
			AND kind IN (`+recalledKinds+`) ORDER BY id DESC LIMIT 1) WHERE guild = ?1 AND channel = ?2 AND author = ?3`,
		guild, key.channel, key.author)
}

// index queues the terms of a message for flushTerms.
func (t *transaction) index(row int64, terms string) {
	if terms != "" {
		t.terms = append(t.terms, rowTerms{row, terms})
	}
}

// flushTerms writes the queued terms by ascending row. A smaller row after a greater one makes FTS5 flush
// its buffer, which took most of the time with many channels.
func (t *transaction) flushTerms() {
	slices.SortFunc(t.terms, func(a, b rowTerms) int { return cmp.Compare(a.row, b.row) })
	for _, r := range t.terms {
		t.addText(r.row, r.terms)
	}
	t.terms = nil
}

// addText adds the terms of a message to full text.
func (t *transaction) addText(row int64, terms string) {
	guild := t.guildOfNo(row >> SequenceBits)
	ensure(t.AddText(guild, row, t.store.vault.keyed(guild, terms)))
}
