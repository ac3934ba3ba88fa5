package memorytest

import (
	"slices"
	"time"

	"hark/memory"
)

// summary is what sums up a stretch that ends at its place: it is there, or to be made again.
type summary struct {
	again bool
	after memory.MessageID
	memory.Summary
}

// there reports whether s is a summary that is there.
func (s *summary) there() bool { return s != nil && !s.again }

func (m *model) summarise(e memory.Summarised) {
	if m.channels[e.Channel] == nil {
		return
	}
	m.summarised[e.Channel] = max(m.summarised[e.Channel], e.Until)
	at := place{e.Channel, e.Until}
	old := m.summaries[at]
	switch {
	case e.Summary == nil:
		m.makeRoom(e)
		if old != nil && old.again {
			delete(m.summaries, at)
		}
	case old.there() && !e.Summary.Made.After(old.Made):
	case !m.isAsItWas(*e.Summary):
		if old == nil {
			m.summaries[at] = &summary{again: true, after: e.After}
		}
	default:
		m.makeRoom(e)
		m.summaries[at] = &summary{after: e.After, Summary: *e.Summary}
	}
}

// makeRoom takes away the summaries that make room for one.
func (m *model) makeRoom(e memory.Summarised) {
	for _, id := range e.Evicted {
		if at := (place{e.Channel, id}); m.summaries[at].there() {
			delete(m.summaries, at)
		}
	}
}

// isAsItWas reports whether all that a summary was made from is there, as it was.
func (m *model) isAsItWas(s memory.Summary) bool {
	return !slices.ContainsFunc(s.Sources, func(source memory.SummarySource) bool {
		now, ok := m.message(place{s.Channel, source.Message})
		return !ok || editedAt(now) != source.Edited
	})
}

// summariesOf are those of a channel, by id.
func (m *model) summariesOf(channel memory.ChannelID) []memory.Summary {
	var all []memory.Summary
	for at, s := range m.summaries {
		if at.channel == channel && s.there() && m.channels[channel] != nil {
			all = append(all, s.Summary)
		}
	}
	slices.SortFunc(all, func(a, b memory.Summary) int { return compare(a.ID, b.ID) })
	return plainSummaries(all)
}

// plainSummaries takes off what two stores may differ in.
func plainSummaries(all []memory.Summary) []memory.Summary {
	all = slices.Clone(all)
	for i := range all {
		all[i].Made = all[i].Made.UTC().Truncate(time.Millisecond)
		if len(all[i].Topics) == 0 {
			all[i].Topics = nil
		}
	}
	return all
}

// unsummarised is what is to be summed up.
func (m *model) unsummarised(since memory.MessageID) []memory.Stretch {
	var again, fresh []memory.Stretch
	for at, s := range m.summaries {
		if c := m.channels[at.channel]; s.again && c != nil {
			again = append(again, memory.Stretch{Guild: c.Guild, Channel: at.channel, After: s.after, Until: at.id, Again: true})
		}
	}
	for id, c := range m.channels {
		after := m.summarised[id]
		if after == 0 {
			after = max(since-1, 0)
		}
		if last := m.lastIn(id, after, never); last != 0 {
			fresh = append(fresh, memory.Stretch{Guild: c.Guild, Channel: id, After: after, Until: last})
		}
	}
	byEnd := func(a, b memory.Stretch) int {
		if a.Until != b.Until {
			return compare(a.Until, b.Until)
		}
		return compare(a.Channel, b.Channel)
	}
	return append(slices.SortedFunc(slices.Values(again), byEnd), slices.SortedFunc(slices.Values(fresh), byEnd)...)
}

// lastIn is the last message of a stretch that can be recalled, or 0.
func (m *model) lastIn(channel memory.ChannelID, after, until memory.MessageID) (last memory.MessageID) {
	for at := range m.entries {
		message, ok := m.message(at)
		if ok && message.Kind.Recalled() && at.channel == channel && at.id > after && at.id <= until {
			last = max(last, at.id)
		}
	}
	return last
}
