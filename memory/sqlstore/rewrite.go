package sqlstore

import (
	"slices"

	"hark/memory"
)

// rewrite treats messages of Hark's as new: their trace and prompt are deleted. Answers made from them stay
// and inherit their sources, which would otherwise be lost. Everything else made from their old text is
// deleted. Messages that were deleted with a source count as never logged.
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
			t.put(table{"rewritten", 2, "channel, id, edited"}, e.Channel, id, nil)
		}
	}
}

// inheritSources adds the sources of an answer to the answers made from it. It deletes the answer's
// messages that aren't rewritten with it, because their sources would be lost.
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

// restore makes a message that was deleted with a source count as never logged, unless it is forgotten.
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

// settleRewritten records the version from which the messages of an answer match a trace.
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
