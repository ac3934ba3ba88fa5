package memorytest

import (
	"slices"
	"time"

	"hark/memory"
)

// condense keeps what a session was condensed to if all that it was made from is there, as it was.
func (m *model) condense(c memory.Condensed) {
	if m.channels[c.Channel] == nil || !c.Made.After(m.condensed[c.Channel].Made) {
		return
	}
	if m.isAsItWas(memory.Summary{Channel: c.Channel, Sources: c.Sources}) {
		m.condensed[c.Channel] = c
	}
}

// condensedIn is what the session of a channel was condensed to, or of all, with channel 0.
func (m *model) condensedIn(channel memory.ChannelID) []memory.Condensed {
	var all []memory.Condensed
	for id, c := range m.condensed {
		if channel == 0 || channel == id {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b memory.Condensed) int { return compare(a.Channel, b.Channel) })
	return plainCondensed(all)
}

// plainCondensed takes off what two stores may differ in.
func plainCondensed(all []memory.Condensed) []memory.Condensed {
	all = slices.Clone(all)
	for i := range all {
		all[i].Made = all[i].Made.UTC().Truncate(time.Millisecond)
	}
	return all
}
