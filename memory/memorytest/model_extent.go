package memorytest

import "hark/memory"

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
	all := m.things()
	for i := range m.closure(all, m.fallsUnder(g)) {
		switch all[i].kind {
		case "fact":
			e.Facts++
		case "lore":
			e.Lore++
		case "summary":
			e.Summaries++
		case "answer":
			e.Answers++
		}
	}
	return e
}
