package sqlstore

import "hark/memory"

// An answer that Hark keeps no more may be shown by Discord still: it was made from what went, but repeats
// none of it. Of such an answer what it was made from stays and whom it is about, and the ids of its messages
// (shown), without a word of it. So it is found when something goes that it does repeat.

// leaveShown notes which messages Discord goes on showing of an answer that goes.
func (t *transaction) leaveShown(g invalid, question memory.MessageID, messages []memory.MessageID) error {
	for _, id := range messages {
		if err := t.put("shown", 2, "channel, id, derived, question", int64(g.channel), int64(id), g.no,
			int64(question)); err != nil {
			return err
		}
	}
	return t.settleShown(g.channel, g.no)
}

// settleShown has what is left of an answer be known by the first message that Discord shows, and be
// forgotten if there is none.
func (t *transaction) settleShown(channel memory.ChannelID, no int64) error {
	var first int64
	if err := t.row("SELECT coalesce(min(id), 0) FROM shown WHERE derived = ?", no).Scan(&first); err != nil {
		return err
	}
	if err := t.exec("UPDATE derived SET id = ?1, at = ?1 WHERE no = ?2", first, no); err != nil || first != 0 {
		return err
	}
	_, err := t.underive(derived{kind: aShown, channel: channel})
	return err
}

// unshow notes that Discord shows a message no more, or not as it was.
func (t *transaction) unshow(channel memory.ChannelID, id memory.MessageID) error {
	var no int64
	shown, err := Found(t.row("DELETE FROM shown WHERE channel = ? AND id = ? RETURNING derived",
		int64(channel), int64(id)).Scan(&no))
	if !shown || err != nil {
		return err
	}
	return t.settleShown(channel, no)
}

// withdrawShown has Discord show what is left of an answer no more.
func (t *transaction) withdrawShown(g invalid, deleted memory.Spot) error {
	return t.eachKey(func(id, question int64) error {
		unasked := id == g.id && deleted == (memory.Spot{Channel: g.channel, Message: memory.MessageID(question)})
		if err := t.withdraw(g.derived, memory.MessageID(id), unasked); err != nil {
			return err
		}
		return t.exec("DELETE FROM shown WHERE channel = ? AND id = ?", int64(g.channel), id)
	}, "SELECT id, question FROM shown WHERE derived = ? ORDER BY id", g.no)
}

// shownOf is an answer of which nothing is left but what Discord shows, as far as its trace would tell where that is.
func (t *transaction) shownOf(guild memory.GuildID, channel memory.ChannelID,
	answer memory.MessageID) (trace memory.Trace, known bool, err error) {
	trace = memory.Trace{Guild: guild, Channel: channel, Answer: answer}
	err = t.eachKey(func(id, _ int64) error {
		if known = true; id != int64(answer) {
			trace.Parts = append(trace.Parts, memory.MessageID(id))
		}
		return nil
	}, `SELECT s.id, s.channel FROM derived d CROSS JOIN shown s ON s.derived = d.no WHERE d.kind = ?
		AND d.place = ? AND d.id = ? ORDER BY s.id`,
		int(aShown), int64(channel), int64(answer))
	return trace, known, err
}
