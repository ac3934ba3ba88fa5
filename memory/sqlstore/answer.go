package sqlstore

import (
	"database/sql"
	"slices"

	"hark/memory"
)

// answerEvents are about Hark's own messages after they were logged.
var answerEvents = []handler{
	handle((*transaction).rewrite),
	handle((*transaction).marked),
}

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
		t.invalidate(madeFrom(aMessage, e.Channel, id).only(aFact, aLore, aSummary, aCondensed, aRecord, aCopy), cause{})
		t.restore(e.Guild, e.Channel, id)
		if !t.isGone(e.Guild, e.Channel, id) {
			t.put(table{"rewritten", 2, "channel, id, edited"}, e.Channel, id, sql.Null[int64]{})
		}
	}
}

// marked ends what is to be done about a withdrawn answer.
func (t *transaction) marked(e memory.Marked) {
	t.exec("DELETE FROM withdrawn WHERE channel = ? AND message = ?", e.Channel, e.Message)
}

// inheritSources adds an answer's sources to the answers made from it. It deletes the answer's messages that
// aren't rewritten with it, because their sources would be lost.
func (t *transaction) inheritSources(e memory.Rewritten, answer memory.MessageID) {
	trace, kept := t.traceOf(e.Channel, answer)
	if !kept {
		var known bool
		trace, known = t.shownOf(e.Guild, e.Channel, answer)
		if !known {
			return
		}
	}
	messages := jsonOf(append([]memory.MessageID{answer}, trace.Parts...))
	own := value[int64](t, "SELECT no FROM derived WHERE kind IN (?, ?) AND place = ? AND id = ?", anAnswer, aShown,
		e.Channel, answer)
	sources := listIn(t, func(scan Scanner, s *storedSource) error {
		return scan(&s[0], &s[1], &s[2], &s[3], &s[4])
	}, "SELECT kind, place, id, version, repeats FROM source WHERE derived = ?", own)
	named := columnIn[memory.UserID](t, "SELECT user FROM named WHERE derived = ?", own)
	for _, heir := range t.madeFromAnswer(e.Channel, messages, own) {
		t.inherit(heir, sources, named)
	}
	stale := slices.DeleteFunc(trace.Parts, func(id memory.MessageID) bool { return slices.Contains(e.IDs, id) })
	t.loseSource(e.Channel, jsonOf(stale))
	if kept {
		t.deleteParts(trace, stale, true)
		return
	}
	for _, id := range stale {
		t.withdraw(derived{guild: trace.Guild, channel: trace.Channel}, id, false)
		t.unshow(trace.Channel, id)
	}
}

// heir is an answer made from another.
type heir struct {
	guild   memory.GuildID
	no      int64
	repeats int64
}

// madeFromAnswer returns the answers made from messages of a channel, except answer own.
func (t *transaction) madeFromAnswer(channel memory.ChannelID, messages string, own int64) []heir {
	defer t.inAnyThatCites()()
	return listIn(t, func(scan Scanner, h *heir) error { return scan(&h.guild, &h.no, &h.repeats) },
		`SELECT d.guild, d.no, s.repeats FROM source s CROSS JOIN derived d ON d.no = s.derived AND d.kind IN (?1, ?2)
			WHERE s.kind = 0 AND s.place = ?3 AND s.id IN (SELECT value FROM json_each(?4)) AND s.derived <> ?5`,
		anAnswer, aShown, channel, messages, own)
}

func (t *transaction) inherit(h heir, sources []storedSource, named []memory.UserID) {
	defer t.in(h.guild)()
	for _, s := range sources {
		t.exec("INSERT INTO source (derived, kind, place, id, version, repeats) VALUES (?, ?, ?, ?, ?, ?)"+orRepeats,
			h.no, s[0], s[1], s[2], s[3], s[4]*h.repeats)
	}
	for _, user := range named {
		t.exec("INSERT INTO named (user, derived) VALUES (?, ?) ON CONFLICT DO NOTHING", user, h.no)
	}
}

// loseSource takes messages of a channel out of the sources of answers.
func (t *transaction) loseSource(channel memory.ChannelID, messages string) {
	defer t.inAnyThatCites()()
	t.exec(`DELETE FROM source WHERE kind = 0 AND place = ?2 AND id IN (SELECT value FROM json_each(?3))
		AND derived IN (SELECT no FROM derived WHERE kind IN (?1, ?4))`, anAnswer, channel, messages, aShown)
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
	defer t.inGuildOf(source.Channel)()
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
	ids := columnIn[memory.MessageID](t, `SELECT s.id FROM derived d CROSS JOIN shown s ON s.derived = d.no
		WHERE d.kind = ? AND d.place = ? AND d.id = ? ORDER BY s.id`, aShown, channel, answer)
	parts := slices.DeleteFunc(slices.Clone(ids), func(id memory.MessageID) bool { return id == answer })
	return memory.Trace{Guild: guild, Channel: channel, Answer: answer, Parts: parts}, len(ids) > 0
}
