package memorytest

import (
	"cmp"
	"slices"

	"hark/memory"
)

// summary is the summary of a stretch that ends at its place, or that it must be made again.
type summary struct {
	again bool
	after memory.MessageID
	memory.Summary
}

func (s *summary) there() bool { return s != nil && !s.again }

func (m *model) summarise(e memory.Summarised) {
	c := m.channels[e.Channel]
	if c == nil {
		return
	}
	c.summarised = max(c.summarised, e.Until)
	at := place{e.Channel, e.Until}
	old := m.summaries[at]
	if e.Summary == nil {
		m.makeRoom(e)
		if old != nil && old.again {
			delete(m.summaries, at)
		}
		return
	}
	s, _ := e.Summary.Checked()
	switch {
	case old.there() && !s.Made.After(old.Made):
	case !m.areAsTheyWere(e.Channel, s.Sources):
		if old == nil {
			m.summaries[at] = &summary{again: true, after: e.After}
		}
	default:
		m.makeRoom(e)
		m.summaries[at] = &summary{after: e.After, Summary: s}
	}
}

// makeRoom deletes the summaries that make room for a new one.
func (m *model) makeRoom(e memory.Summarised) {
	for _, id := range e.Evicted {
		if at := (place{e.Channel, id}); m.summaries[at].there() {
			delete(m.summaries, at)
		}
	}
}

// areAsTheyWere reports whether messages still have the versions of sources.
func (m *model) areAsTheyWere(channel memory.ChannelID, sources []memory.SummarySource) bool {
	return !slices.ContainsFunc(sources, func(s memory.SummarySource) bool {
		now, ok := m.message(place{channel, s.Message})
		return !ok || editedAt(now) != s.Edited
	})
}

func (m *model) summariesOf(channel memory.ChannelID) []memory.Summary {
	var all []memory.Summary
	for at, s := range m.summaries {
		if at.channel == channel && s.there() && m.channels[channel] != nil {
			all = append(all, s.Summary)
		}
	}
	return sorted(all, func(s memory.Summary) memory.MessageID { return s.ID })
}

// unsummarised returns the stretches to summarise: invalidated ones first.
func (m *model) unsummarised(since memory.MessageID) []memory.Stretch {
	var again, fresh []memory.Stretch
	for at, s := range m.summaries {
		if c := m.channels[at.channel]; s.again && c != nil {
			again = append(again, memory.Stretch{Guild: c.Guild, Channel: at.channel, After: s.after,
				Until: at.id, Again: true})
		}
	}
	for id, c := range m.channels {
		after := c.summarised
		if after == 0 {
			after = max(since-1, 0)
		}
		last := after
		for _, message := range m.inScope(in(id)) {
			last = max(last, message.ID)
		}
		if last > after {
			fresh = append(fresh, memory.Stretch{Guild: c.Guild, Channel: id, After: after, Until: last})
		}
	}
	for _, all := range [][]memory.Stretch{again, fresh} {
		sorted(all, func(s memory.Stretch) memory.ChannelID { return s.Channel })
		slices.SortStableFunc(all, func(a, b memory.Stretch) int { return cmp.Compare(a.Until, b.Until) })
	}
	return append(again, fresh...)
}

// condense keeps a condensed session if all its sources are unchanged.
func (m *model) condense(c memory.Condensed) {
	c, _ = c.Checked()
	if of := m.channels[c.Channel]; of != nil && c.Made.After(of.condensed.Made) &&
		m.areAsTheyWere(c.Channel, c.Sources) {
		of.condensed = c
	}
}
