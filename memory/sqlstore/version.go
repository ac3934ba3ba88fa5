package sqlstore

import (
	"hark/memory"
)

// newer reports whether the version edited at a with text x follows the one edited at b with text y. Texts
// order versions of one moment.
func newer(a int64, x string, b int64, y string) bool {
	return a > b || a == b && x > y
}

// replace updates a message to m where m is newer. Text and the rest have separate times, because some edits
// hold only the text.
func (t *transaction) replace(c *channel, old storedMessage, m memory.Message) {
	if old.Original.Gone && millis(m.Edited) <= old.whole {
		return // the version whose text went
	}
	now := old
	newWhole := millis(m.Edited) > old.whole
	newText := newer(millis(m.Edited), m.Content, millis(old.Edited), old.Content)
	if newWhole {
		now.whole = millis(m.Edited)
		now.ReplyTo = m.ReplyTo
		now.Files = memory.KeepTold(old.Files, m.Files)
		now.Mentions = m.Mentions
		now.Links = m.Links
		now.Original = m.Original
	}
	if newText {
		now.Edited = m.Edited
		now.Content = m.Content
	}
	if newWhole && now.Edited.After(m.Edited) { // an edit told a later text
		now.Message = t.editedCopy(now.Message)
	}
	if millis(m.Edited) == old.whole { // previews come later
		now.Links = memory.JoinLinks(old.Links, m.Links)
	}
	switch {
	case newWhole || newText:
		t.update(c, old, now)
	case len(now.Links) > len(old.Links):
		t.write(c, old, now)
	}
}

// update is write that deletes what was made from the old text.
func (t *transaction) update(c *channel, old, now storedMessage) {
	changed := t.write(c, old, now)
	t.deriveCopy(now.Message)
	t.emptyStaleCopies(now.Message)
	if !changed {
		return
	}
	made := madeFrom(c.guild, aMessage, old.Channel, old.ID)
	if old.Kind != memory.FromHark {
		t.invalidate(made.exceptCopies(), cause{hide: hideRepeats})
		return
	}
	// an answer grows while it is sent
	t.invalidate(made.only(aFact, aLore, aSummary, aCondensed), cause{})
	t.dropPromptsFrom(c.guild, aMessage, old.Channel, old.ID)
}

// editEvents change a stored message's text, or what belongs to it.
var editEvents = []handler{
	handle((*transaction).edit),
	handle((*transaction).tell),
}

// edit changes a message's text, or keeps the edit until the message comes.
func (t *transaction) edit(e memory.Edited) {
	if e.Unlogged {
		older := madeFrom(e.Guild, aMessage, e.Channel, e.ID).before(millis(e.At))
		t.invalidate(older, cause{hide: hideRepeats})
		return
	}
	if t.isGone(e.Guild, e.Channel, e.ID) {
		return
	}
	c := t.channel(e.Guild, e.Channel)
	old := t.stored(c, e.ID)
	if old.row == 0 {
		t.keepEdit(c, e)
	} else if !old.pendingDeletion && newer(millis(e.At), e.Content, millis(old.Edited), old.Content) {
		now := old
		now.Edited = e.At
		now.Content = e.Content
		now.Message = t.editedCopy(now.Message)
		t.update(c, old, now)
	}
}

func (t *transaction) keepEdit(c *channel, e memory.Edited) {
	if t.mayBeDropped(c, e.ID) {
		return
	}
	c.highest = max(c.highest, e.ID)
	t.changed.Text = true
	place := editPlace(e.Channel, e.ID)
	var edited int64
	var content string
	known := t.row("SELECT edited, content FROM early_edit WHERE guild = ? AND channel = ? AND id = ?", c.guild, e.Channel,
		e.ID).into(&edited, t.store.vault.opened(&content, func() Place { return place }))
	if known && !newer(millis(e.At), e.Content, edited, content) {
		return
	}
	t.put(table{"early_edit", 3, "channel, id, guild, edited, content"}, e.Channel, e.ID, c.guild, millis(e.At),
		t.seal(place, e.Content))
}

// tell keeps what was told of a file of a stored message.
func (t *transaction) tell(e memory.Told) {
	c := t.knownChannel(e.Channel)
	if c == nil || t.isGone(e.Guild, e.Channel, e.ID) {
		return
	}
	old := t.stored(c, e.ID)
	if old.row == 0 || old.pendingDeletion {
		return
	}
	files, isNew := memory.Tell(old.Files, e.File, e.Text)
	if isNew {
		now := old
		now.Files = files
		t.write(c, old, now)
	}
}
