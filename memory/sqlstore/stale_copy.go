package sqlstore

import "hark/memory"

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

// isOutdated reports whether a version that was copied isn't now's. Hark's answers grow while they are sent.
func (t *transaction) isOutdated(now memory.Message, version int64) bool {
	return now.Kind != memory.FromHark && millis(now.Edited) > version
}
