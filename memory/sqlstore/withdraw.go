package sqlstore

import "hark/memory"

func (t *transaction) dropTrace(guild memory.GuildID, channel memory.ChannelID, answer memory.MessageID) {
	t.dropPrompt(guild, channel, answer)
	t.underive(derived{
		kind:    anAnswer,
		guild:   guild,
		channel: channel,
		id:      int64(answer),
	})
	t.exec("DELETE FROM trace WHERE guild = ? AND channel = ? AND answer = ?", guild, channel, answer)
}

// rekeyTrace moves the trace of an answer whose first message is gone to the next, and deletes its prompt.
func (t *transaction) rekeyTrace(guild memory.GuildID, channel memory.ChannelID, answer memory.MessageID) {
	trace, known := t.traceOf(guild, channel, answer)
	if !known {
		return
	}
	trace, there := t.firstRemaining(trace)
	if !there {
		t.dropTrace(guild, channel, answer)
		return
	}
	t.dropPrompt(guild, channel, answer)
	t.exec("UPDATE derived SET id = ?1, at = ?1 WHERE guild = ?2 AND kind = ?3 AND place = ?4 AND id = ?5",
		trace.Answer, guild, anAnswer, channel, answer)
	var body string
	t.row("SELECT body FROM trace WHERE guild = ? AND channel = ? AND answer = ?", guild, channel, answer).
		into(t.store.vault.opened(&body, func() Place { return tracePlace(channel, answer) }))
	t.exec("UPDATE trace SET answer = ?, parts = ?, body = ? WHERE guild = ? AND channel = ? AND answer = ?",
		trace.Answer, jsonOf(trace.Parts), t.seal(tracePlace(channel, trace.Answer), body), guild, channel, answer)
}

// traceOf returns the trace under the first message of an answer, without sources and names.
func (t *transaction) traceOf(guild memory.GuildID, channel memory.ChannelID,
	answer memory.MessageID) (trace memory.Trace, known bool) {
	ensure(t.store.vault.scanTrace(func(dest ...any) error {
		known = t.row("SELECT "+traceColumns+" FROM trace t WHERE guild = ? AND channel = ? AND answer = ?", guild, channel,
			answer).into(dest...)
		return nil
	}, &trace))
	return trace, known
}

// withdraw makes Discord stop showing a message of an answer. unasked says that the question was deleted.
func (t *transaction) withdraw(answer derived, id memory.MessageID, unasked bool) {
	t.exec(`INSERT INTO withdrawn (guild, channel, message, first, unasked) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`, answer.guild, answer.channel, id, int64(id) == answer.id, unasked)
}
