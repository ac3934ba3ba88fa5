package sqlstore

import (
	"database/sql"
	"encoding/json"
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
	e.Guild = t.guildAt(e.Guild, e.Channel)
	for _, id := range e.IDs {
		t.inheritSources(e, id)
	}
	for _, id := range e.IDs {
		t.dropTrace(e.Guild, e.Channel, id)
		t.unshow(e.Guild, e.Channel, id)
		made := madeFrom(e.Guild, aMessage, e.Channel, id)
		t.invalidate(made.only(aFact, aLore, aSummary, aCondensed, aRecord, aCopy), cause{})
		t.restore(e.Guild, e.Channel, id)
		if !t.isGone(e.Guild, e.Channel, id) {
			t.put(table{"rewritten", 3, "channel, id, guild, edited"}, e.Channel, id, e.Guild, sql.Null[int64]{})
		}
	}
}

// marked ends what is to be done about a withdrawn answer.
func (t *transaction) marked(e memory.Marked) {
	t.exec("DELETE FROM withdrawn WHERE (guild = ?1 OR ?1 = -1) AND channel = ?2 AND message = ?3",
		t.guildAt(memory.Everywhere, e.Channel), e.Channel, e.Message)
}

// inheritSources adds an answer's sources to the answers made from it. It deletes the answer's messages that
// aren't rewritten with it, because their sources would be lost.
func (t *transaction) inheritSources(e memory.Rewritten, answer memory.MessageID) {
	trace, kept := t.traceOf(e.Guild, e.Channel, answer)
	if !kept {
		var known bool
		trace, known = t.shownOf(e.Guild, e.Channel, answer)
		if !known {
			return
		}
	}
	messages := jsonOf(append([]memory.MessageID{answer}, trace.Parts...))
	own := value[int64](t, "SELECT no FROM derived WHERE guild = ? AND kind IN (?, ?) AND place = ? AND id = ?", e.Guild,
		anAnswer, aShown, e.Channel, answer)
	sources := listIn(t, func(scan Scanner, s *storedSource) error {
		return scan(&s[0], &s[1], &s[2], &s[3], &s[4])
	}, "SELECT kind, place, id, version, repeats FROM source WHERE guild = ? AND derived = ?", e.Guild, own)
	named := columnIn[memory.UserID](t, "SELECT user FROM named WHERE guild = ? AND derived = ?", e.Guild, own)
	for _, guild := range citing(e.Guild) {
		for _, heir := range t.madeFromAnswer(guild, e.Channel, messages, own) {
			t.inherit(heir, sources, named)
		}
	}
	stale := slices.DeleteFunc(trace.Parts, func(id memory.MessageID) bool { return slices.Contains(e.IDs, id) })
	t.loseSource(e.Guild, e.Channel, jsonOf(stale))
	if kept {
		t.deleteParts(trace, stale, true)
		return
	}
	for _, id := range stale {
		t.withdraw(derived{guild: trace.Guild, channel: trace.Channel}, id, false)
		t.unshow(trace.Guild, trace.Channel, id)
	}
}

// heir is an answer made from another.
type heir struct {
	guild   memory.GuildID
	no      int64
	repeats int64
}

// madeFromAnswer returns a guild's answers that are made from messages of a channel, except answer own.
func (t *transaction) madeFromAnswer(guild memory.GuildID, channel memory.ChannelID, messages string,
	own int64) []heir {
	read := func(scan Scanner, h *heir) error {
		h.guild = guild
		return scan(&h.no, &h.repeats)
	}
	return listIn(t, read, `SELECT d.no, s.repeats FROM source s CROSS JOIN derived d
		WHERE s.guild = ?1 AND s.kind = 0 AND s.place = ?2 AND s.id IN (SELECT value FROM json_each(?3)) AND s.derived <> ?4
		AND d.guild = ?1 AND d.no = s.derived AND d.kind IN (?5, ?6)`, guild, channel, messages, own, anAnswer, aShown)
}

func (t *transaction) inherit(h heir, sources []storedSource, named []memory.UserID) {
	for _, s := range sources {
		s[4] *= h.repeats
		t.addSource(h.guild, h.no, s)
	}
	for _, user := range named {
		t.addName(h.guild, h.no, user)
	}
}

// loseSource takes messages of a channel out of the sources of answers.
func (t *transaction) loseSource(guild memory.GuildID, channel memory.ChannelID, messages string) {
	for _, in := range citing(guild) {
		t.exec(`DELETE FROM source WHERE guild = ?1 AND kind = 0 AND place = ?2
			AND id IN (SELECT value FROM json_each(?3)) AND EXISTS (SELECT 1 FROM derived d
				WHERE d.guild = ?1 AND d.no = source.derived AND d.kind IN (?4, ?5))`,
			in, channel, messages, anAnswer, aShown)
	}
}

// restore makes a message that went with a source count as never logged, unless it is forgotten.
func (t *transaction) restore(guild memory.GuildID, channel memory.ChannelID, id memory.MessageID) {
	if t.exec(`DELETE FROM tombstone WHERE guild = ?1 AND channel = ?2 AND id = ?3
		AND EXISTS (SELECT 1 FROM taken WHERE guild = ?1 AND channel = ?2 AND id = ?3)`, guild, channel, id) == 0 {
		return
	}
	if t.isGone(guild, channel, id) {
		t.addTombstone(guild, channel, id)
		return
	}
	t.execAll([]any{guild, channel, id}, "DELETE FROM withdrawn WHERE guild = ? AND channel = ? AND message = ?",
		"DELETE FROM taken WHERE guild = ? AND channel = ? AND id = ?")
}

// settleRewritten records the version from which an answer's messages match its trace.
func (t *transaction) settleRewritten(trace memory.Trace) {
	c := t.knownChannel(trace.Channel)
	if c == nil {
		return
	}
	for _, id := range append([]memory.MessageID{trace.Answer}, trace.Parts...) {
		if now := t.stored(c, id); now.row != 0 {
			t.exec("UPDATE rewritten SET edited = ? WHERE guild = ? AND channel = ? AND id = ? AND edited IS NULL",
				millis(now.Edited), c.guild, trace.Channel, id)
		}
	}
}

// Discord may still show an answer that Hark deleted with a source, if it repeats none of that. Hark keeps its
// sources, the people it names and the ids of its messages (shown), but no text. So it is found when something
// that it does repeat is deleted.

// shownOf returns only the place and messages of an answer that only Discord still has.
func (t *transaction) shownOf(guild memory.GuildID, channel memory.ChannelID,
	answer memory.MessageID) (trace memory.Trace, known bool) {
	ids := columnIn[memory.MessageID](t, `SELECT s.id FROM derived d CROSS JOIN shown s
		WHERE d.guild = ?1 AND d.kind = ?2 AND d.place = ?3 AND d.id = ?4 AND s.guild = ?1 AND s.derived = d.no
		ORDER BY s.id`, guild, aShown, channel, answer)
	parts := slices.DeleteFunc(slices.Clone(ids), func(id memory.MessageID) bool { return id == answer })
	return memory.Trace{
		Guild:   guild,
		Channel: channel,
		Answer:  answer,
		Parts:   parts,
	}, len(ids) > 0
}

func (t *transaction) keepTrace(e memory.Answered) {
	e.Trace.Guild = t.guildAt(e.Trace.Guild, e.Trace.Channel)
	trace, there := t.firstRemaining(e.Trace)
	if !there {
		return
	}
	body, err := json.Marshal(storedTraceOf(trace))
	ensure(err)
	t.put(table{"trace", 3, "channel, answer, guild, question, asker, model, parts, body"}, trace.Channel, trace.Answer,
		trace.Guild, trace.Question, trace.Asker, memory.Clean(trace.Model), jsonOf(trace.Parts),
		t.seal(tracePlace(trace.Channel, trace.Answer), string(body)))
	t.settleRewritten(trace)
	sources := slices.Clone(trace.Sources)
	asked := false
	same := true
	lost := false
	gone := false
	hide := hideNone
	for i, s := range sources {
		if s.Kind == memory.SourceMessage && s.Channel == trace.Channel && s.ID == int64(trace.Question) {
			asked = true
			sources[i].Repeats = true // an answer is nothing without its question
		}
		now := t.stateOf(trace.Guild, s)
		if now == sourceRewritten && t.hasSource(trace, s) { // the answer stays if it inherits that source's sources
			now = sourcePending
		}
		same = same && now == sourceSame
		lost = lost || now == sourceRewritten || now == sourceGone
		gone = gone || now == sourceGone
		if now == sourceGone && sources[i].Repeats {
			hide = hideAll
		}
	}
	if t.fallsUnderSince(trace, gone) {
		lost = true
		hide = hideAll
	}
	made := derived{
		kind:    anAnswer,
		guild:   trace.Guild,
		channel: trace.Channel,
		id:      int64(trace.Answer),
		at:      trace.Answer,
	}
	t.derive(made, sources, namedIn(trace))
	t.addSourcesOfSummaries(made)
	if lost || t.decisions().hasOptedOut(trace.Guild, trace.Asker) {
		// a source was deleted or edited during the answer
		t.invalidate(selects(made.guild, `SELECT guild, no AS derived, 1 AS repeats, 0 AS itself FROM derived
			WHERE guild = ? AND kind = ? AND place = ? AND id = ?`, made.guild, made.kind, made.place(), made.id),
			cause{hide: hide})
		return
	}
	t.keepPrompt(trace, same && asked)
}

// traceEvents are about how answers came about.
var traceEvents = []handler{handle((*transaction).keepTrace)}
