package memorytest

import (
	"slices"

	"hark/memory"
)

// extent is how much a forgetting would take, as memory.Forgetter tells it.
func (m *model) extent(f memory.Forgetting) memory.Extent {
	g := &forgetting{Receipt: memory.Receipt{Forgetting: f}, all: f.Before.IsZero(), end: never}
	if !g.all {
		g.end = memory.FirstMessageID(f.Before)
	}
	var e memory.Extent
	channels := map[memory.ChannelID]bool{}
	for at := range m.entries {
		if message, there := m.message(at); there && m.covers(g, message) {
			e.Messages++
			channels[at.channel] = true
		}
	}
	e.Channels = len(channels)
	covered := func(channel memory.ChannelID, id memory.MessageID) bool {
		message, there := m.message(place{channel, id})
		return there && m.covers(g, message)
	}
	for key, known := range m.facts {
		if !known.gone && f.User != 0 && f.User == known.user && f.Channel == 0 && g.all && g.of(key.guild) {
			e.Facts++
		}
	}
	for _, l := range m.lore {
		if !l.gone && (m.covers(g, asMessage(l.Lore)) || slices.ContainsFunc(l.Sources, func(s memory.Spot) bool { return covered(s.Channel, s.Message) })) {
			e.Lore++
		}
	}
	of := func(channel memory.ChannelID, sources []memory.SummarySource) bool {
		return slices.ContainsFunc(sources, func(s memory.SummarySource) bool { return covered(channel, s.Message) })
	}
	for _, s := range m.summaries {
		if s.there() && of(s.Channel, s.Sources) {
			e.Summaries++
		}
	}
	for _, s := range m.condensed {
		if of(s.Channel, s.Sources) {
			e.Summaries++
		}
	}
	return e
}
