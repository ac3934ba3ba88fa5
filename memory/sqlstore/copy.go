package sqlstore

import "hark/memory"

// A copy of a message of its guild is derived from that message (kind aCopy), so that it loses its text with it. The
// copy itself stays: who copied it, when and where from.

// isStaleCopy reports whether a copy comes too late: its original was deleted, forgotten or edited since.
func (t *transaction) isStaleCopy(m memory.Message) bool {
	from, is := m.CopiedHere()
	if !is {
		return false
	}
	id := memory.MessageID(from.ID)
	if t.isGone(m.Guild, from.Channel, id) {
		return true
	}
	c := t.knownChannel(from.Channel)
	if c == nil || c.guild != m.Guild {
		return false
	}
	now := t.stored(c, id)
	switch {
	case now.row == 0:
		return t.mayBeDropped(c, id)
	case now.pendingDeletion || now.Original.Gone:
		return true
	case t.decisions().forgotten(c.location, id, now.Author):
		return true
	}
	return t.isOutdated(now.Message, from.Version)
}

// isOutdated reports whether a version that was copied isn't now's. Hark's answers grow while they are sent.
func (t *transaction) isOutdated(now memory.Message, version int64) bool {
	return now.Kind != memory.FromHark && millis(now.Edited) > version
}

// deriveCopy records the source of a copy, if m is one and has its text.
func (t *transaction) deriveCopy(m memory.Message) {
	from, is := m.CopiedHere()
	if !is || m.Original.Gone {
		t.underiveCopy(m)
		return
	}
	c := t.channel(m.Guild, from.Channel) // so that what is forgotten of it reaches the copy
	if c.guild != m.Guild {
		return
	}
	t.derive(derivedCopy(m), []memory.Source{from}, nil)
	c.highest = max(c.highest, memory.MessageID(from.ID)) // so that its original, if it comes, looks for copies
}

func (t *transaction) underiveCopy(m memory.Message) {
	if _, is := m.CopiedHere(); is {
		t.underive(derivedCopy(m))
	}
}

// derivedCopy is a copy as a derived thing. What is forgotten of its author is forgotten of it.
func derivedCopy(m memory.Message) derived {
	return derived{kind: aCopy, guild: m.Guild, channel: m.Channel, id: int64(m.ID), author: m.Author, at: m.ID}
}

// emptyStaleCopies takes the text of copies of older versions than m; of all, if m is a copy without a text itself.
func (t *transaction) emptyStaleCopies(m memory.Message) {
	stale := madeFrom(m.Guild, aMessage, m.Channel, m.ID)
	if !m.Original.Gone {
		if m.Edited.IsZero() || m.Kind == memory.FromHark {
			return
		}
		stale = stale.before(millis(m.Edited))
	}
	t.invalidate(stale.only(aCopy), cause{hide: hideRepeats})
}

// emptyCopy takes a copy's text.
func (t *transaction) emptyCopy(channel memory.ChannelID, id memory.MessageID) {
	c := t.knownChannel(channel)
	if c == nil {
		return
	}
	old := t.stored(c, id)
	if old.row == 0 || old.pendingDeletion {
		return
	}
	now := old
	now.Message = old.WithoutCopy()
	t.write(c, old, now)
}

// editedCopy returns m, of which an edit told only the text. A crosspost is edited with its original.
func (t *transaction) editedCopy(m memory.Message) memory.Message {
	if !m.IsCopy() {
		return m
	}
	m.Original.Version = millis(m.Edited)
	m.Original.Gone = false
	if t.isStaleCopy(m) {
		return m.WithoutCopy()
	}
	return m
}
