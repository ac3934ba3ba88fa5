package sqlstore

import (
	"encoding/json"

	"hark/internal/text"
	"hark/memory"
)

// apply writes one event.
func (t *transaction) apply(e *event) error {
	switch v := e.Event.(type) {
	case memory.Posted:
		return t.post(e)
	case memory.Heard:
		c, err := t.channel(v.Guild, v.Channel)
		if err == nil {
			t.hear(c.no, v.ID)
		}
		return err
	case memory.Starred:
		return t.star(v)
	case memory.Edited:
		return t.edit(v)
	case memory.Deleted:
		for _, id := range v.IDs {
			if err := t.deleted(v.Channel, id, v.Unlogged); err != nil {
				return err
			}
		}
		return nil
	case memory.Rewritten:
		return t.rewrite(v)
	case memory.Named:
		return t.name(v)
	case memory.Answered:
		return t.keepTrace(v.Trace)
	case memory.Called:
		return t.keepRecord(e.record)
	case memory.GapFound:
		return t.findGap(v.Gap)
	case memory.GapFilled:
		return t.fillGap(v)
	case memory.Absent:
		return t.sweep(v)
	case memory.ShutOut:
		return t.shutOut(v)
	case memory.QuestionOpened:
		return t.exec("INSERT INTO question (channel, id, guild) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
			int64(v.Question.Channel), int64(v.Question.ID), int64(v.Question.Guild))
	case memory.QuestionClosed:
		return t.exec("DELETE FROM question WHERE channel = ? AND id = ?", int64(v.Channel), int64(v.ID))
	case memory.Spent:
		return t.spend(v)
	case memory.Marked:
		return t.exec("DELETE FROM withdrawn WHERE channel = ? AND message = ?", int64(v.Channel), int64(v.Message))
	}
	return t.applyPerson(e.Event)
}

// applyPerson writes what changes what is known of people.
func (t *transaction) applyPerson(e memory.Event) error {
	switch v := e.(type) {
	case memory.PersonSeen:
		return t.seePerson(v.Person, v.Said)
	case memory.PersonLeft:
		return t.leave(v)
	case memory.FactTold:
		return t.tellFact(v)
	case memory.FactGone:
		return t.takeFact(v.Guild, v.Fact)
	case memory.LoreTold:
		return t.tellLore(v.Lore)
	case memory.LoreGone:
		return t.takeLore(v.Guild, v.ID)
	case memory.Summarised:
		return t.summarise(v)
	case memory.SessionCondensed:
		return t.condense(v.Condensed)
	case memory.CondensedGone:
		return t.endSession(v)
	case memory.Opted:
		return t.opt(v)
	case memory.Forgetting:
		return t.forgetOnce(v)
	case memory.Learn:
		return t.learn(v)
	}
	return t.applyStructure(e)
}

// post logs a message, or its newer version, unless its author has opted out or it is forgotten.
func (t *transaction) post(e *event) error {
	m := e.message
	c, err := t.channel(m.Guild, m.Channel)
	if err != nil {
		return err
	}
	if e.live {
		t.hear(c.no, m.ID)
	}
	d, err := t.decisions()
	if err != nil {
		return err
	}
	if out := d.out[member{m.Guild, m.Author}]; out || d.forgotten(spot{m.Guild, m.Channel, c.parent}, m.ID, m.Author) {
		return t.drop(c, m, out)
	}
	t.changed.newest = max(t.changed.newest, m.ID)
	if m.ID > c.highest { // so that nothing is known of it: neither itself, nor an edit, a star or a deletion
		c.highest = m.ID
		return t.insert(c, m, millis(m.Edited), e.terms)
	}
	if gone, err := t.isGone(m.Guild, m.Channel, m.ID); gone || err != nil {
		return err
	}
	old, row, err := t.stored(c, m.ID)
	if err != nil || old.doomed {
		return err
	}
	if row != 0 {
		return t.replace(c, row, old, m)
	}
	return t.insertEdited(c, m, e.terms)
}

// drop takes care that of a message that isn't logged, because its author has opted out or it is forgotten,
// no edit is kept either, nor anything else. It leaves a tombstone only where there was something: without
// one, what is told of the message later ends the same. The message itself is dropped again, by the author's
// opting out, by the forgetting that opting in begins, or by the one that it fell under, which stays on
// record. What follows soon is known by writer.dropped, and later, but for deletions, by mayBeDropped.
func (t *transaction) drop(c *channel, m memory.Message, out bool) error {
	if gone, err := t.isGone(m.Guild, m.Channel, m.ID); gone || err != nil {
		return err
	}
	known, err := t.isKnown(m.Channel, m.ID)
	if err != nil {
		return err
	}
	if !known {
		t.store.ingest.dropped.add(m.Channel, m.ID)
		return nil
	}
	if out {
		if _, row, err := t.stored(c, m.ID); row != 0 || err != nil {
			return err // it was logged before
		}
	}
	return t.delete(m.Channel, m.ID, hideRepeats)
}

// dropped are the newest messages that were dropped because of who wrote them, and of which nothing is kept.
// An edit, a star, a name or a deletion doesn't tell whose message it is about: of these it leaves nothing
// either.
type dropped struct{ newer, older map[memory.Spot]bool }

// maxDropped is how many messages dropped holds at least, once there were so many.
const maxDropped = 10_000

func (d *dropped) add(channel memory.ChannelID, id memory.MessageID) {
	if len(d.newer) >= maxDropped {
		d.older, d.newer = d.newer, nil
	}
	if d.newer == nil {
		d.newer = map[memory.Spot]bool{}
	}
	d.newer[memory.Spot{Channel: channel, Message: id}] = true
}

func (d *dropped) has(channel memory.ChannelID, id memory.MessageID) bool {
	at := memory.Spot{Channel: channel, Message: id}
	return d.newer[at] || d.older[at]
}

// mayBeDropped reports whether a message that isn't there may have been dropped because of who wrote it: it
// was heard, and isn't in a gap, in a guild where somebody has opted out or is forgotten. Unlike
// writer.dropped this outlives the process.
func (t *transaction) mayBeDropped(c *channel, id memory.MessageID) (may bool, err error) {
	d, err := t.decisions()
	if err != nil || !d.mayDrop(c.spot, id) {
		return false, err
	}
	err = t.row(`SELECT ?2 <= max(c.heard, ?3, coalesce((SELECT since FROM guild g WHERE g.id = c.guild), 0)) AND NOT EXISTS (SELECT 1 FROM message WHERE channel = c.no AND id = ?2)
		AND NOT EXISTS (SELECT 1 FROM gap WHERE channel = c.id AND sweep = 0 AND after < ?2 AND until >= ?2)
		FROM channel c WHERE c.no = ?1`, c.no, int64(id), int64(t.heard[c.no])).Scan(&may)
	return may, err
}

// insertEdited logs a message that isn't there yet with the text of an edit that overtook it, if any did.
func (t *transaction) insertEdited(c *channel, m memory.Message, terms string) error {
	whole := millis(m.Edited)
	var edited int64
	var content string
	early, err := Found(t.row("DELETE FROM early_edit WHERE channel = ? AND id = ? RETURNING edited, content",
		m.Channel, m.ID).Scan(&edited, &content))
	if err != nil {
		return err
	}
	t.changed.Text = t.changed.Text || early
	if early && newer(edited, content, whole, m.Content) {
		m.Content, m.Edited = content, FromMillis(edited)
		m.Tokens = t.store.options.Tokens(m.Text())
		terms = indexTerms(new(text.Batch), m)
	}
	if _, err := Found(t.row("SELECT starred FROM star WHERE channel = ? AND id = ?", int64(m.Channel),
		int64(m.ID)).Scan(&m.Starred)); err != nil {
		return err
	}
	return t.insert(c, m, whole, terms)
}

// newer reports whether the version edited at a with text x comes after the one edited at b with text y. Two
// texts of the same moment can't be told apart but must have an order.
func newer(a int64, x string, b int64, y string) bool {
	return a > b || a == b && x > y
}

// insert logs a message that isn't there yet; whole is the time of the version that all but its text is from.
func (t *transaction) insert(c *channel, m memory.Message, whole int64, terms string) error {
	segment := int64(0)
	if m.Kind.Recalled() {
		var err error
		if segment, err = t.join(c, m); err != nil {
			return err
		}
		t.count(m, c.no, 1)
	}
	row := c.next
	c.next++
	extra, err := encodeExtra(m)
	if err != nil {
		return err
	}
	err = t.exec(`INSERT INTO message (row, channel, id, author, kind, reply_to, edited, whole, starred, tokens, segment, content, extra)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, row, c.no, int64(m.ID), int64(m.Author), int(m.Kind), int64(m.ReplyTo),
		millis(m.Edited), whole, m.Starred, m.Tokens, segment, m.Content, extra)
	t.index(row, terms)
	return err
}

// replace brings an older version of a message up to date with m: its text, and all else. The two have times of
// their own, since some edits tell of the text only.
func (t *transaction) replace(c *channel, row int64, old storedMessage, m memory.Message) error {
	now := old
	newWhole, newText := millis(m.Edited) > old.whole, newer(millis(m.Edited), m.Content, millis(old.Edited),
		old.Content)
	if !newWhole && !newText {
		return nil
	}
	if newWhole {
		now.whole = millis(m.Edited)
		now.ReplyTo, now.Files, now.Mentions = m.ReplyTo, m.Files, m.Mentions
	}
	if newText {
		now.Edited, now.Content = m.Edited, m.Content
	}
	return t.update(c, row, old, now)
}

// update stores what a message is now, who said it excepted.
func (t *transaction) update(c *channel, row int64, old, now storedMessage) error {
	extra, err := encodeExtra(now.Message)
	if err != nil {
		return err
	}
	text := now.Text()
	now.Tokens = t.store.options.Tokens(text)
	err = t.exec(`UPDATE message SET reply_to = ?, edited = ?, whole = ?, tokens = ?, content = ?, extra = ?
		WHERE row = ?`,
		int64(now.ReplyTo), millis(now.Edited), now.whole, now.Tokens, now.Content, extra, row)
	if err != nil || text == old.Text() {
		return err
	}
	t.changed.Text = true
	if err := t.reindex(row, old.Message, now.Message); err != nil {
		return err
	}
	if old.segment != 0 {
		t.segment(old.segment, c.no).torn = true
	}
	made := madeFrom(aMessage, int64(old.Channel), int64(old.ID))
	if old.Kind != memory.FromHark {
		return t.invalidate(made, cause{hide: hideRepeats})
	}
	// it grows while it is sent
	if err := t.invalidate(made.only(aFact, aLore, aSummary, aCondensed), cause{}); err != nil {
		return err
	}
	return t.dropPromptsFrom(aMessage, int64(old.Channel), int64(old.ID))
}

// reindex puts what full text holds of one version in the place of another.
func (t *transaction) reindex(row int64, old, new memory.Message) error {
	var batch text.Batch
	if err := t.unindex(row, indexTerms(&batch, old)); err != nil {
		return err
	}
	t.index(row, indexTerms(&batch, new))
	return nil
}

// unindex takes a message with these terms out of full text.
func (t *transaction) unindex(row int64, terms string) error {
	if terms == "" {
		return nil
	}
	if err := t.flushTerms(); err != nil {
		return err
	}
	return t.RemoveText(row, terms)
}

// edit changes the text of a message, or keeps the change for when the message comes.
func (t *transaction) edit(e memory.Edited) error {
	if gone, err := t.isGone(e.Guild, e.Channel, e.ID); gone || err != nil {
		return err
	}
	c, err := t.channel(e.Guild, e.Channel)
	if err != nil {
		return err
	}
	old, row, err := t.stored(c, e.ID)
	if err != nil || old.doomed {
		return err
	}
	if row == 0 {
		if dropped, err := t.mayBeDropped(c, e.ID); dropped || err != nil {
			return err
		}
		c.highest = max(c.highest, e.ID)
		t.changed.Text = true
		return t.exec(`INSERT INTO early_edit (channel, id, edited, content) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (channel, id)
			DO UPDATE SET edited = ?3, content = ?4 WHERE ?3 > early_edit.edited OR ?3 = early_edit.edited AND ?4 > early_edit.content`,
			int64(e.Channel), int64(e.ID), millis(e.At), e.Content)
	}
	if !newer(millis(e.At), e.Content, millis(old.Edited), old.Content) {
		return nil
	}
	now := old
	now.Edited, now.Content = e.At, e.Content
	return t.update(c, row, old, now)
}

// deleted removes a message that was deleted in Discord. One of which nothing is known yet leaves a
// tombstone, in case that it is on its way, unless nothing of it would be logged.
func (t *transaction) deleted(channelID memory.ChannelID, id memory.MessageID, unlogged bool) error {
	known, err := t.isKnown(channelID, id)
	if err != nil {
		return err
	}
	if known {
		return t.delete(channelID, id, hideRepeats)
	}
	if unlogged || t.store.ingest.dropped.has(channelID, id) {
		return nil
	}
	if c, err := t.knownChannel(channelID); err != nil {
		return err
	} else if c != nil {
		c.highest = max(c.highest, id)
	}
	return t.exec("INSERT INTO tombstone VALUES (?, ?) ON CONFLICT DO NOTHING", int64(channelID), int64(id))
}

// delete removes a message for good, whether it is there or yet to come, with all that was made from it.
func (t *transaction) delete(channelID memory.ChannelID, id memory.MessageID, hide hiding) error {
	t.changed.Text = true
	if err := t.exec("INSERT INTO tombstone VALUES (?, ?) ON CONFLICT DO NOTHING", int64(channelID),
		int64(id)); err != nil {
		return err
	}
	for _, table := range []string{"early_edit", "called", "star", "taken", "rewritten", "question"} {
		if err := t.exec("DELETE FROM "+table+" WHERE channel = ? AND id = ?", int64(channelID),
			int64(id)); err != nil {
			return err
		}
	}
	if err := t.handOn(channelID, id); err != nil {
		return err
	}
	if err := t.unshow(channelID, id); err != nil {
		return err
	}
	if err := t.invalidate(madeFrom(aMessage, int64(channelID), int64(id)),
		cause{hide, memory.Spot{Channel: channelID, Message: id}}); err != nil {
		return err
	}
	c, err := t.knownChannel(channelID)
	if c == nil || err != nil {
		return err
	}
	c.highest = max(c.highest, id)
	old, row, err := t.stored(c, id)
	if row == 0 || old.doomed || err != nil {
		return err
	}
	return t.remove(c, row, old)
}

// isKnown reports whether anything is kept of a message, or was made from it.
func (t *transaction) isKnown(channel memory.ChannelID, id memory.MessageID) (known bool, err error) {
	err = t.row(`SELECT EXISTS (SELECT 1 FROM channel c JOIN message m ON m.channel = c.no AND m.id = ?2 WHERE c.id = ?1)
		OR EXISTS (SELECT 1 FROM early_edit WHERE channel = ?1 AND id = ?2) OR EXISTS (SELECT 1 FROM star WHERE channel = ?1 AND id = ?2)
		OR EXISTS (SELECT 1 FROM called WHERE channel = ?1 AND id = ?2) OR EXISTS (SELECT 1 FROM question WHERE channel = ?1 AND id = ?2)
		OR EXISTS (SELECT 1 FROM taken WHERE channel = ?1 AND id = ?2) OR EXISTS (SELECT 1 FROM rewritten WHERE channel = ?1 AND id = ?2)
		OR EXISTS (SELECT 1 FROM trace WHERE channel = ?1 AND answer = ?2) OR EXISTS (SELECT 1 FROM source WHERE kind = 0 AND place = ?1 AND id = ?2)`,
		int64(channel), int64(id)).Scan(&known)
	return known, err
}

// remove takes a stored message out of everything made of it.
func (t *transaction) remove(c *channel, row int64, old storedMessage) error {
	if err := t.reindex(row, old.Message, memory.Message{}); err != nil {
		return err
	}
	if err := t.exec("DELETE FROM message WHERE row = ?", row); err != nil {
		return err
	}
	c.tail = nil
	if old.segment == 0 {
		return nil
	}
	t.count(old.Message, c.no, -1)
	change := t.segment(old.segment, c.no)
	change.size--
	change.torn = true
	return nil
}

// star keeps whether a message is marked as important, whether it is there or yet to come.
func (t *transaction) star(e memory.Starred) error {
	if gone, err := t.isGone(e.Guild, e.Channel, e.ID); gone || e.At.IsZero() || err != nil {
		return err
	}
	c, err := t.knownChannel(e.Channel)
	if err != nil {
		return err
	}
	if c != nil {
		if dropped, err := t.mayBeDropped(c, e.ID); dropped || err != nil {
			return err
		}
	}
	newer, err := Found(t.row(`INSERT INTO star (channel, id, starred, at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (channel, id)
		DO UPDATE SET starred = ?3, at = ?4 WHERE ?4 > star.at RETURNING 1`, int64(e.Channel), int64(e.ID), e.On, millis(e.At)).Scan(new(int)))
	if !newer || c == nil || err != nil {
		return err
	}
	c.highest = max(c.highest, e.ID)
	return t.exec("UPDATE message SET starred = ? WHERE channel = ? AND id = ?", e.On, c.no, int64(e.ID))
}

// name keeps what a message is called.
func (t *transaction) name(e memory.Named) error {
	return t.exec(`INSERT INTO called SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM channel c JOIN said m ON m.channel = c.no AND m.id = ?2 WHERE c.id = ?1)
		AND NOT EXISTS (SELECT 1 FROM called WHERE channel = ?1 AND name = ?3) ON CONFLICT DO NOTHING`, int64(e.Channel), int64(e.ID), memory.Clean(e.Name))
}

// extra is what few messages have.
type extra struct {
	Files    []memory.File   `json:"files,omitempty"`
	Mentions []memory.UserID `json:"mentions,omitempty"`
}

func encodeExtra(m memory.Message) (any, error) {
	if len(m.Files) == 0 && len(m.Mentions) == 0 {
		return nil, nil
	}
	b, err := json.Marshal(extra{m.Files, m.Mentions})
	return string(b), err
}
