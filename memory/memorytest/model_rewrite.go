package memorytest

import (
	"slices"

	"hark/memory"
)

// rewrite takes away how messages of Hark's came about, and what was made from them, as if they were deleted, and has those
// that went with a source count as never logged.
func (m *model) rewrite(e memory.Rewritten) {
	for _, id := range e.IDs {
		stale := m.traces[place{e.Channel, id}]
		for _, part := range stale.Parts {
			if !slices.Contains(e.IDs, part) {
				m.dropPart(stale, part, true)
			}
		}
	}
	for _, id := range e.IDs {
		delete(m.traces, place{e.Channel, id})
		delete(m.prompts, place{e.Channel, id})
	}
	for _, id := range e.IDs {
		at := place{e.Channel, id}
		m.dropRecords(func(r memory.Record) bool { return r.Channel == e.Channel && r.Answer == id && id != 0 })
		m.dropMadeFrom(at)
		if m.entry(at).taken && !m.isForgotten(m.known(at)) {
			*m.entry(at) = entry{}
			m.withdrawn = slices.DeleteFunc(m.withdrawn, func(w memory.Withdrawn) bool { return w.Channel == e.Channel && w.Message == id })
		}
		m.entry(at).anew, m.entry(at).since = true, nil
	}
}

// dropMadeFrom takes away what was made from a message.
func (m *model) dropMadeFrom(at place) {
	m.dropFacts(at)
	m.dropLore(at)
	m.dropSummaries(at)
	m.dropCondensed(at)
	m.dropAnswers(at)
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
func (m *model) isRewritten(s used) bool {
	e := m.entry(s.place)
	return e.anew && (e.since == nil || s.edited < *e.since)
}
