package memorytest

import (
	"maps"
	"slices"

	"hark/memory"
)

// rewrite takes away how messages of Hark's came about, and what was made from them, but for other answers, which get what they
// were made from for sources. Those that went with a source count as never logged.
func (m *model) rewrite(e memory.Rewritten) {
	for _, id := range e.IDs {
		was, kept := m.traces[place{e.Channel, id}]
		if !kept {
			was = m.shown[place{e.Channel, id}]
		}
		m.handDown(was, e.IDs, kept)
	}
	for _, id := range e.IDs {
		at := place{e.Channel, id}
		m.dropTrace(at)
		m.unshow(at)
		m.invalidate(fromMessage(at, 0, "fact", "lore", "summary", "record"), place{})
		now := m.known(at)
		now.Guild = e.Guild // of a channel that may be forgotten
		if m.entry(at).taken && !m.isForgotten(now) {
			*m.entry(at) = entry{}
			m.withdrawn = slices.DeleteFunc(m.withdrawn, func(w memory.Withdrawn) bool { return w.Channel == e.Channel && w.Message == id })
		}
		m.entry(at).anew, m.entry(at).since = true, nil
	}
}

// handDown gives those answers that were made from one its sources, and takes away its parts that don't stay. kept says that it is
// kept, rather than shown by Discord only.
func (m *model) handDown(was answer, stay []memory.MessageID, kept bool) {
	stale := slices.DeleteFunc(slices.Clone(was.Parts), func(id memory.MessageID) bool { return slices.Contains(stay, id) })
	for at, a := range m.made() {
		for _, id := range append([]memory.MessageID{was.Answer}, was.Parts...) {
			i := slices.IndexFunc(a.from, func(s memory.Source) bool { return isAt(s, place{was.Channel, id}) })
			if i < 0 || at == (place{was.Channel, was.Answer}) {
				continue
			}
			for _, s := range was.from {
				s.Repeats = s.Repeats && a.from[i].Repeats
				a.from = append(slices.Clone(a.from), s)
			}
			a.Trace = a.WithSourcesOf(was.Trace)
			if slices.Contains(stale, id) {
				a.from = slices.DeleteFunc(a.from, func(s memory.Source) bool { return isAt(s, place{was.Channel, id}) })
			}
		}
		if _, live := m.traces[at]; live {
			m.traces[at] = a
		} else {
			m.shown[at] = a
		}
	}
	for _, id := range stale {
		if kept {
			m.dropPart(was.Trace, id, true)
			continue
		}
		m.withdraw(memory.Withdrawn{Guild: was.Guild, Channel: was.Channel, Message: id})
		m.unshow(place{was.Channel, id})
	}
}

// made are the answers that are kept, and those that Discord only shows still.
func (m *model) made() map[place]answer {
	all := maps.Clone(m.traces)
	maps.Copy(all, m.shown)
	return all
}

// settleRewritten notes of the messages of an answer from which version on they are those that a trace tells of.
func (m *model) settleRewritten(t memory.Trace) {
	for _, id := range append([]memory.MessageID{t.Answer}, t.Parts...) {
		at := place{t.Channel, id}
		if now, ok := m.message(at); ok && m.entry(at).anew && m.entry(at).since == nil {
			edited := editedAt(now)
			m.entry(at).since = &edited
		}
	}
}

// isRewritten reports whether what was used of a message was written anew since.
func (m *model) isRewritten(s memory.Source) bool {
	e := m.entry(place{s.Channel, memory.MessageID(s.ID)})
	return e.anew && (e.since == nil || s.Version < *e.since)
}
