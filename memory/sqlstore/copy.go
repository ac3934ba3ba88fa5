package sqlstore

import "hark/memory"

// A copy of a message of its guild is derived from that message (kind aCopy), so that it loses its text with it. The
// copy itself stays: who copied it, when and where from.

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
	return derived{
		kind:    aCopy,
		guild:   m.Guild,
		channel: m.Channel,
		id:      int64(m.ID),
		author:  m.Author,
		at:      m.ID,
	}
}
