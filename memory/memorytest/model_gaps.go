package memorytest

import (
	"maps"
	"slices"

	"hark/memory"
)

type gapKey struct {
	channel memory.ChannelID
	until   memory.MessageID
}

// chosen is what a choice is about: a guild, or a channel of it.
type chosen struct {
	guild   memory.GuildID
	channel memory.ChannelID
}

func (m *model) applyGap(e memory.Event) {
	switch e := e.(type) {
	case memory.GapFound:
		key := gapKey{e.Gap.Channel, e.Gap.Until}
		if _, known := m.gaps[key]; !known && e.Gap.After < e.Gap.Until {
			m.gaps[key] = e.Gap
		}
	case memory.GapFilled:
		key := gapKey{e.Gap.Channel, e.Gap.Until}
		gap, known := m.gaps[key]
		if !known {
			return
		}
		gap.After, gap.Fetched = max(gap.After, e.Through), max(gap.Fetched, e.Gap.Fetched)
		m.gaps[key] = gap
		if gap.After >= gap.Until {
			delete(m.gaps, key)
		}
	}
}

// choose keeps a choice, and moves the point before which nothing is missing to where remembering begins.
func (m *model) choose(e memory.Chose) {
	key := chosen{e.Guild, e.Channel}
	was, ok := m.choices[key]
	if ok && !e.At.After(was.At) {
		return
	}
	m.guild(e.Guild)
	if e.Channel != 0 {
		m.meet(e.Guild, e.Channel)
	}
	m.choices[key] = e
	if e.Choice == memory.Ignore || e.Choice == was.Choice {
		return
	}
	for _, c := range m.channels {
		above := m.channels[c.Parent]
		if c.Guild == e.Guild && (e.Channel == 0 || c.ID == e.Channel || c.Parent == e.Channel ||
			above != nil && above.Guild == e.Guild && above.Parent == e.Channel) {
			m.hear(c.ID, memory.FirstMessageID(e.At))
		}
	}
}

func remembers(c memory.Choice) bool { return c != memory.Undecided && c != memory.Ignore }

// listened is from when on Hark listens in the channels of a guild, as far as it is known.
func (m *model) listened(guild memory.GuildID) map[memory.ChannelID]memory.MessageID {
	until := map[memory.ChannelID]memory.MessageID{}
	for _, c := range m.channels {
		if c.Guild != guild {
			continue
		}
		if at := max(m.heard[c.ID], m.guild(guild).Since); at != 0 {
			until[c.ID] = at
		}
	}
	return until
}

// missing are the gaps, those that were missed first.
func (m *model) missing() []memory.Gap {
	return slices.SortedFunc(maps.Values(m.gaps), func(a, b memory.Gap) int {
		switch {
		case a.Past != b.Past && b.Past:
			return -1
		case a.Past != b.Past:
			return 1
		case a.Channel != b.Channel:
			return compare(a.Channel, b.Channel)
		}
		return compare(a.Until, b.Until)
	})
}

// found notes that a channel is there that wasn't known: what was said in it before its guild chose to remember isn't
// missing.
func (m *model) found(c *memory.Channel) {
	m.channels[c.ID] = c
	if e := m.choices[chosen{c.Guild, 0}]; remembers(e.Choice) {
		m.hear(c.ID, memory.FirstMessageID(e.At))
	}
}
