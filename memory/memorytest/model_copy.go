package memorytest

import "hark/memory"

// copies returns the messages that copy another of their guild and have a text.
func (m *model) copies() (all []thing) {
	for at, e := range m.entries {
		message, there := m.message(at)
		from, is := message.CopiedHere()
		if !there || !is || message.Original.Gone {
			continue
		}
		all = append(all, thing{kind: "copy", guild: message.Guild, from: []memory.Source{from}, as: &message,
			is:   func(s memory.Source) bool { return isAt(s, at) },
			goes: func(bool) { m.empty(at, e) }})
	}
	return all
}

// empty takes the text of a copy.
func (m *model) empty(at place, e *entry) {
	message, _ := m.message(at)
	version := editedAt(message)
	e.emptied = &version
}

// settleCopy takes the text of a copy that comes after its original changed or went.
func (m *model) settleCopy(at place) {
	message, there := m.message(at)
	from, is := message.CopiedHere()
	if !there || !is {
		return
	}
	m.meet(message.Guild, from.Channel)
	if m.isStale(from) {
		m.empty(at, m.entry(at))
	}
}

// isStale reports whether what was copied is gone or was edited.
func (m *model) isStale(from memory.Source) bool {
	at := place{from.Channel, memory.MessageID(from.ID)}
	now, there := m.message(at)
	switch {
	case m.isGone(at):
		return true
	case !there:
		return false
	}
	return now.Original.Gone || now.Kind != memory.FromHark && editedAt(now) > from.Version
}

// emptyStaleCopies takes the text of the copies of older versions of a message; of all, if it lost its own.
func (m *model) emptyStaleCopies(now memory.Message) {
	m.invalidate(madeFrom(1, func(s memory.Source) bool {
		return isAt(s, place{now.Channel, now.ID}) && (now.Original.Gone || s.Version < editedAt(now))
	}, "copy"), place{})
}
