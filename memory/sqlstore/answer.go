package sqlstore

import (
	"database/sql"
	"slices"

	"hark/memory"
)

// rewrite treats messages of Hark's as new: it deletes their trace and prompt, and what was made from their old
// text, except answers, which inherit their sources. Messages that went with a source count as never logged.
func (t *transaction) rewrite(e memory.Rewritten) {
	t.changed.Text = true
	for _, id := range e.IDs {
		t.inheritSources(e, id)
	}
	for _, id := range e.IDs {
		t.dropTrace(e.Channel, id)
		t.unshow(e.Channel, id)
		t.invalidate(madeFrom(aMessage, e.Channel, id).only(aFact, aLore, aSummary, aCondensed, aRecord), cause{})
		t.restore(e.Guild, e.Channel, id)
		if !t.isGone(e.Guild, e.Channel, id) {
			t.put(table{"rewritten", 2, "channel, id, edited"}, e.Channel, id, sql.Null[int64]{})
		}
	}
}

// inheritSources adds an answer's sources to the answers made from it. It deletes the answer's messages that
// aren't rewritten with it, because their sources would be lost.
func (t *transaction) inheritSources(e memory.Rewritten, answer memory.MessageID) {
	trace, kept := t.traceOf(e.Channel, answer)
	if !kept {
		var known bool
		if trace, known = t.shownOf(e.Guild, e.Channel, answer); !known {
			return
		}
	}
	messages := jsonOf(append([]memory.MessageID{answer}, trace.Parts...))
	const made = ` FROM derived a CROSS JOIN source b ON b.kind = 0 AND b.place = a.place
			AND b.id IN (SELECT value FROM json_each(?3)) AND b.derived <> a.no
		CROSS JOIN derived d ON d.no = b.derived AND d.kind IN (?1, ?5) `
	args := []any{anAnswer, e.Channel, messages, answer, aShown}
	const these = " WHERE a.kind IN (?1, ?5) AND a.place = ?2 AND a.id = ?4"
	t.execAll(args,
		`INSERT INTO source (derived, kind, place, id, version, repeats)
			SELECT b.derived, s.kind, s.place, s.id, s.version, s.repeats * b.repeats`+made+
			"CROSS JOIN source s ON s.derived = a.no"+these+orRepeats,
		"INSERT INTO named (user, derived) SELECT n.user, b.derived"+made+
			"CROSS JOIN named n ON n.derived = a.no"+these+" ON CONFLICT DO NOTHING")
	stale := slices.DeleteFunc(trace.Parts, func(id memory.MessageID) bool { return slices.Contains(e.IDs, id) })
	t.exec(`DELETE FROM source WHERE kind = 0 AND place = ?2 AND id IN (SELECT value FROM json_each(?3))
		AND derived IN (SELECT no FROM derived WHERE kind IN (?1, ?4))`, anAnswer, e.Channel, jsonOf(stale), aShown)
	if kept {
		t.deleteParts(trace, stale, true)
		return
	}
	for _, id := range stale {
		t.withdraw(derived{guild: trace.Guild, channel: trace.Channel}, id, false)
		t.unshow(trace.Channel, id)
	}
}

// restore makes a message that went with a source count as never logged, unless it is forgotten.
func (t *transaction) restore(guild memory.GuildID, channel memory.ChannelID, id memory.MessageID) {
	if t.exec(`DELETE FROM tombstone WHERE channel = ?1 AND id = ?2
		AND EXISTS (SELECT 1 FROM taken WHERE channel = ?1 AND id = ?2)`, channel, id) == 0 {
		return
	}
	if t.isGone(guild, channel, id) {
		t.addTombstone(channel, id)
		return
	}
	t.execAll([]any{channel, id}, "DELETE FROM withdrawn WHERE channel = ? AND message = ?",
		"DELETE FROM taken WHERE channel = ? AND id = ?")
}

// settleRewritten records the version from which an answer's messages match its trace.
func (t *transaction) settleRewritten(trace memory.Trace) {
	c := t.knownChannel(trace.Channel)
	if c == nil {
		return
	}
	for _, id := range append([]memory.MessageID{trace.Answer}, trace.Parts...) {
		if now := t.stored(c, id); now.row != 0 {
			t.exec("UPDATE rewritten SET edited = ? WHERE channel = ? AND id = ? AND edited IS NULL",
				millis(now.Edited), trace.Channel, id)
		}
	}
}

// isRewritten reports whether a source was rewritten since the answer was made from it.
func (t *transaction) isRewritten(source memory.Source) bool {
	return t.has("SELECT 1 FROM rewritten WHERE channel = ? AND id = ? AND (edited IS NULL OR edited > ?)",
		source.Channel, source.ID, source.Version)
}

// Discord may still show an answer that Hark deleted with a source, if it repeats none of that. Hark keeps its
// sources, the people it names and the ids of its messages (shown), but no text. So it is found when something
// that it does repeat is deleted.

func (t *transaction) leaveShown(g invalid, question memory.MessageID, messages []memory.MessageID) {
	for _, id := range messages {
		t.put(table{"shown", 2, "channel, id, derived, question"}, g.channel, id, g.no, question)
	}
	t.settleShown(g.channel, g.no)
}

// settleShown keys what is left of an answer by the first message that Discord shows, or deletes it if there
// is none.
func (t *transaction) settleShown(channel memory.ChannelID, no int64) {
	first := value[int64](t, "SELECT coalesce(min(id), 0) FROM shown WHERE derived = ?", no)
	t.exec("UPDATE derived SET id = ?1, at = ?1 WHERE no = ?2", first, no)
	if first == 0 {
		t.underive(derived{kind: aShown, channel: channel})
	}
}

// unshow records that Discord no longer shows a message, or shows another text.
func (t *transaction) unshow(channel memory.ChannelID, id memory.MessageID) {
	if no := value[int64](t, "DELETE FROM shown WHERE channel = ? AND id = ? RETURNING derived", channel, id); no != 0 {
		t.settleShown(channel, no)
	}
}

func (t *transaction) withdrawShown(g invalid, deleted memory.MessageRef) {
	eachKey(t, func(id, question memory.MessageID) {
		unasked := int64(id) == g.id && deleted == memory.MessageRef{Channel: g.channel, Message: question}
		t.withdraw(g.derived, id, unasked)
		t.exec("DELETE FROM shown WHERE channel = ? AND id = ?", g.channel, id)
	}, "SELECT id, question FROM shown WHERE derived = ? ORDER BY id", g.no)
}

// shownOf returns only the place and messages of an answer that only Discord still has.
func (t *transaction) shownOf(guild memory.GuildID, channel memory.ChannelID,
	answer memory.MessageID) (trace memory.Trace, known bool) {
	ids := must(column[memory.MessageID](t.ctx, t, `SELECT s.id FROM derived d CROSS JOIN shown s ON s.derived = d.no
		WHERE d.kind = ? AND d.place = ? AND d.id = ? ORDER BY s.id`, aShown, channel, answer))
	parts := slices.DeleteFunc(slices.Clone(ids), func(id memory.MessageID) bool { return id == answer })
	return memory.Trace{Guild: guild, Channel: channel, Answer: answer, Parts: parts}, len(ids) > 0
}
