package sqlstore

import "hark/memory"

// isRewritten reports whether a source was rewritten since the answer was made from it.
func (t *transaction) isRewritten(source memory.Source) bool {
	return t.has(`SELECT 1 FROM rewritten WHERE (guild = ?1 OR ?1 = -1) AND channel = ?2 AND id = ?3
		AND (edited IS NULL OR edited > ?4)`, t.guildAt(memory.Everywhere, source.Channel), source.Channel, source.ID,
		source.Version)
}

func (t *transaction) leaveShown(g invalid, question memory.MessageID, messages []memory.MessageID) {
	for _, id := range messages {
		t.put(table{"shown", 3, "channel, id, guild, derived, question"}, g.channel, id, g.guild, g.no, question)
	}
	t.settleShown(g.guild, g.channel, g.no)
}

// unshow records that Discord no longer shows a message, or shows another text.
func (t *transaction) unshow(guild memory.GuildID, channel memory.ChannelID, id memory.MessageID) {
	no := value[int64](t, "DELETE FROM shown WHERE guild = ? AND channel = ? AND id = ? RETURNING derived", guild, channel,
		id)
	if no != 0 {
		t.settleShown(guild, channel, no)
	}
}

func (t *transaction) withdrawShown(g invalid, deleted memory.MessageRef) {
	eachKey(t, func(id, question memory.MessageID) {
		unasked := int64(id) == g.id && deleted == memory.MessageRef{Channel: g.channel, Message: question}
		t.withdraw(g.derived, id, unasked)
		t.exec("DELETE FROM shown WHERE guild = ? AND channel = ? AND id = ?", g.guild, g.channel, id)
	}, "SELECT id, question FROM shown WHERE guild = ? AND derived = ? ORDER BY id", g.guild, g.no)
}

// settleShown keys what is left of an answer by the first message that Discord shows, or deletes it if there
// is none.
func (t *transaction) settleShown(guild memory.GuildID, channel memory.ChannelID, no int64) {
	first := value[int64](t, "SELECT coalesce(min(id), 0) FROM shown WHERE guild = ? AND derived = ?", guild, no)
	t.exec("UPDATE derived SET id = ?1, at = ?1 WHERE guild = ?2 AND no = ?3", first, guild, no)
	if first == 0 {
		t.underive(derived{
			kind:    aShown,
			guild:   guild,
			channel: channel,
		})
	}
}
