package memorytest

import (
	"slices"

	"hark/memory"
)

var messageRules = []modelRule{
	on((*model).post),
	on(func(m *model, e memory.Heard) {
		m.meet(e.Guild, e.Channel)
		m.hear(e.Channel, e.ID)
	}),
	on((*model).star),
	on((*model).tell),
	on((*model).edit),
	on((*model).deleteAll),
	on((*model).name),
	on(func(m *model, e memory.QuestionOpened) { m.open[place{e.Question.Channel, e.Question.ID}] = e.Question }),
	on(func(m *model, e memory.QuestionClosed) { delete(m.open, place{e.Channel, e.ID}) }),
}

func (m *model) star(e memory.Starred) {
	at := place{e.Channel, e.ID}
	if of := m.entry(at); !m.isAway(at) && e.At.After(of.star.At) {
		of.star = e
	}
}

func (m *model) deleteAll(e memory.Deleted) {
	for _, id := range e.IDs {
		at := place{e.Channel, id}
		if _, dropped := m.dropped[at]; !dropped {
			m.delete(at, 1)
		}
	}
}

func (m *model) post(p memory.Posted) {
	message := p.Message
	m.speak(message.Text())
	message.Starred = false
	at := place{message.Channel, message.ID}
	m.meet(message.Guild, message.Channel)
	if p.Live {
		m.hear(message.Channel, message.ID)
	}
	e := m.entry(at)
	out := m.isOut(message.Guild, message.Author)
	switch {
	case m.isAway(at):
	case out || m.isForgotten(message):
		if !m.isKnown(at) {
			// so nothing is kept of later events about it
			m.dropped[at] = memory.Opted{Guild: message.Guild, User: message.Author}
		} else if !out || e.posted == nil {
			m.delete(at, 1) // with an earlier edit, and later ones
		}
	default:
		m.changing(at, func() {
			if e.posted == nil {
				e.posted = &message
			} else if message.Edited.After(e.posted.Edited) {
				message.Files = memory.KeepTold(e.posted.Files, message.Files)
				e.posted = &message
			} else {
				return
			}
			m.settleCopy(at)
		})
		if message.Edited.Equal(e.posted.Edited) { // its previews may come later, and take nothing away
			joined := *e.posted
			joined.Links = memory.JoinLinks(joined.Links, message.Links)
			e.posted = &joined
		}
	}
}

// isAway reports whether a message was deleted or dropped.
func (m *model) isAway(at place) bool {
	_, dropped := m.dropped[at]
	return dropped || m.entry(at).deleted
}

// isGone reports whether a message was deleted, or would be forgotten if it came.
func (m *model) isGone(at place) bool { return m.isAway(at) || m.isForgotten(m.known(at)) }

// isKnown reports whether anything was heard of a message or derived from it.
func (m *model) isKnown(at place) bool {
	e := m.entry(at)
	_, asked := m.open[at]
	_, answer := m.traces[at]
	return e.posted != nil || e.edit != nil || !e.star.At.IsZero() || e.anew || asked || answer ||
		slices.ContainsFunc(m.things(), func(t thing) bool {
			return slices.ContainsFunc(t.from, func(s memory.Source) bool { return isAt(s, at) })
		})
}

func (m *model) hear(channel memory.ChannelID, id memory.MessageID) {
	c := m.channels[channel]
	c.heard = max(c.heard, id)
}

// tell keeps what was told of a file. That takes nothing away.
func (m *model) tell(told memory.Told) {
	m.speak(told.Text)
	if e := m.entries[place{told.Channel, told.ID}]; e != nil && !e.deleted && e.posted != nil {
		now := *e.posted
		now.Files, _ = memory.Tell(now.Files, told.File, told.Text)
		e.posted = &now
	}
}

func (m *model) edit(edit memory.Edited) {
	m.speak(edit.Content)
	at := place{edit.Channel, edit.ID}
	if edit.Unlogged {
		m.invalidate(madeBefore(at, edit.At.UnixMilli()), place{})
		return
	}
	e := m.entry(at)
	if m.isAway(at) || e.posted == nil &&
		m.isForgotten(memory.Message{ID: edit.ID, Guild: edit.Guild, Channel: edit.Channel}) {
		return
	}
	m.meet(edit.Guild, edit.Channel)
	m.changing(at, func() {
		if e.edit == nil || edit.At.After(e.edit.At) {
			e.edit = &edit
			m.settleCopy(at)
		}
	})
}

// changing deletes what was derived from a message if change changes its text. Hark's answers grow while they
// are sent.
func (m *model) changing(at place, change func()) {
	before, was := m.message(at)
	change()
	after, there := m.message(at)
	if there && after.Kind != memory.FromHark {
		m.emptyStaleCopies(after)
	}
	switch {
	case !was || after.Text() == before.Text():
	case before.Kind != memory.FromHark:
		m.invalidate(fromMessage(at, 1, "answer", "shown", "fact", "lore", "summary", "record"), place{})
	default:
		m.invalidate(fromMessage(at, 0, "fact", "lore", "summary"), place{})
		m.dropPrompts(func(a answer, _ memory.Prompt) bool {
			return slices.ContainsFunc(a.from, func(s memory.Source) bool { return isAt(s, at) })
		})
	}
}

// message returns the current message; false if there is none.
func (m *model) message(at place) (memory.Message, bool) {
	e := m.entries[at]
	if e == nil || e.deleted || e.posted == nil {
		return memory.Message{}, false
	}
	message := *e.posted
	if e.edit != nil && e.edit.At.After(message.Edited) {
		message.Content, message.Edited = e.edit.Content, e.edit.At
		if message.IsCopy() {
			message.Original.Version = message.Edited.UnixMilli()
		}
	}
	if e.emptied != nil && editedAt(message) <= *e.emptied {
		message = message.WithoutCopy()
	}
	message.Starred = e.star.On
	return message, true
}

// known returns the message, or what earlier events say of it; its author is then unknown.
func (m *model) known(at place) memory.Message {
	message, ok := m.message(at)
	if !ok {
		message = memory.Message{ID: at.id, Channel: at.channel}
		if c := m.channels[at.channel]; c != nil {
			message.Guild = c.Guild
		}
	}
	return message
}
