package sqlstore

import (
	"hark/internal/text"
	"hark/memory"
)

// write stores a message's new version, except the author. It reports whether the text is another.
func (t *transaction) write(c *channel, old, now storedMessage) bool {
	text := now.Text()
	t.exec(`UPDATE message SET reply_to = ?, edited = ?, whole = ?, tokens = ?, content = ?, extra = ?
		WHERE guild = ? AND row = ?`, now.ReplyTo, millis(now.Edited), now.whole, t.store.options.Tokens(text),
		t.seal(at("message", "content", c.no, now.ID), now.Content),
		t.sealAny(at("message", "extra", c.no, now.ID), t.encodeExtra(now.Message)), c.guild, old.row)
	if text == old.Text() {
		return false
	}
	t.reindex(old, now.Message)
	t.changed.Text = true
	if old.segment != 0 {
		t.segment(old.segment, c.no).invalid = true
	}
	return true
}

// remove deletes a stored message from the log, full text, its segment and the counts.
func (t *transaction) remove(c *channel, old storedMessage) {
	t.reindex(old, memory.Message{})
	t.exec("DELETE FROM message WHERE guild = ? AND row = ?", c.guild, old.row)
	t.underiveCopy(old.Message)
	c.tail = nil
	if old.segment == 0 {
		return
	}
	t.count(old.Message, c.no, -1)
	change := t.segment(old.segment, c.no)
	change.size--
	change.invalid = true
}

func (t *transaction) reindex(old storedMessage, new memory.Message) {
	var batch text.Batch
	t.unindex(old.row, indexTerms(&batch, old.Message))
	t.index(old.row, indexTerms(&batch, new))
}

// unindex removes a message with these terms from full text.
func (t *transaction) unindex(row int64, terms string) {
	if terms == "" {
		return
	}
	t.flushTerms()
	guild := t.guildOfNo(row >> SequenceBits)
	ensure(t.RemoveText(guild, row, t.store.vault.keyed(guild, terms)))
}
