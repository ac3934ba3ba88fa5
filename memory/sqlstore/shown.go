package sqlstore

import (
	"slices"

	"hark/memory"
)

// Discord may still show an answer that Hark has deleted because a source is gone, if it repeats none of
// it. Hark keeps the answer's sources, the people it names and the ids of its messages (shown), but no
// text. So the answer is found when something that it does repeat is deleted.

func (t *transaction) leaveShown(g invalid, question memory.MessageID, messages []memory.MessageID) {
	for _, id := range messages {
		t.put(table{"shown", 2, "channel, id, derived, question"}, g.channel, id, g.no, question)
	}
	t.settleShown(g.channel, g.no)
}

// settleShown keys what is left of an answer by the first message that Discord shows. If there is none, it
// deletes it.
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

// shownOf returns the place and messages of an answer that only Discord still has. The trace has nothing else.
func (t *transaction) shownOf(guild memory.GuildID, channel memory.ChannelID,
	answer memory.MessageID) (trace memory.Trace, known bool) {
	ids := must(column[memory.MessageID](t.ctx, t, `SELECT s.id FROM derived d CROSS JOIN shown s ON s.derived = d.no
		WHERE d.kind = ? AND d.place = ? AND d.id = ? ORDER BY s.id`, aShown, channel, answer))
	parts := slices.DeleteFunc(slices.Clone(ids), func(id memory.MessageID) bool { return id == answer })
	return memory.Trace{Guild: guild, Channel: channel, Answer: answer, Parts: parts}, len(ids) > 0
}
