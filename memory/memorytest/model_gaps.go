package memorytest

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"hark/memory"
)

type gapKey struct {
	sweep   bool
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
		key := gapKey{false, e.Gap.Channel, e.Gap.Until}
		if _, known := m.gaps[key]; !known && !e.Gap.Sweep && e.Gap.After < e.Gap.Until {
			m.gaps[key] = e.Gap
		}
	case memory.GapFilled:
		key := gapKey{e.Gap.Sweep, e.Gap.Channel, e.Gap.Until}
		gap, known := m.gaps[key]
		if !known {
			return
		}
		gap.After, gap.Fetched = max(gap.After, e.Through), max(gap.Fetched, e.Gap.Fetched)
		m.gaps[key] = gap
		if gap.After >= gap.Until {
			delete(m.gaps, key)
		}
		if c := m.channels[e.Gap.Channel]; c != nil && e.Gap.Sweep {
			c.Shut = c.Shut && len(m.sweepsOf(c.ID)) > 0
		}
	}
}

// sweepsOf are the stretches of a channel that are to be compared.
func (m *model) sweepsOf(channel memory.ChannelID) []memory.Gap {
	return slices.DeleteFunc(slices.Collect(maps.Values(m.gaps)), func(g memory.Gap) bool { return !g.Sweep || g.Channel != channel })
}

// sweep has all of a guild or a channel compared, first from where an earlier sweep was.
func (m *model) sweep(e memory.Absent) {
	until := memory.FirstMessageID(e.At.Add(time.Millisecond))
	for _, c := range m.channels {
		if !m.isWithin(c, e.Guild, e.Channel) {
			continue
		}
		at := memory.FirstMessageID(e.At.Add(-memory.SweptFirst))
		for i, g := range m.sweepsOf(c.ID) {
			if i == 0 || g.After > at {
				at = g.After
			}
			delete(m.gaps, gapKey{true, g.Channel, g.Until})
		}
		newest := until
		for _, s := range m.log(c.ID) {
			newest = max(newest, s.ID)
		}
		for _, g := range []memory.Gap{{After: at, Until: newest}, {After: 0, Until: at}} {
			if slices.ContainsFunc(m.log(c.ID), func(s memory.Message) bool { return s.ID > g.After && s.ID <= g.Until }) {
				g.Guild, g.Channel, g.Sweep = c.Guild, c.ID, true
				m.gaps[gapKey{true, c.ID, g.Until}] = g
			}
		}
		c.Shut = c.Shut && len(m.sweepsOf(c.ID)) > 0
	}
}

func (m *model) shutOut(e memory.ShutOut) {
	m.meet(e.Guild, e.Channel)
	for _, g := range m.sweepsOf(e.Channel) {
		delete(m.gaps, gapKey{true, g.Channel, g.Until})
	}
	m.channels[e.Channel].Shut = true
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
	m.sweep(memory.Absent{Guild: e.Guild, Channel: e.Channel, At: e.At})
	for _, c := range m.channels {
		if m.isWithin(c, e.Guild, e.Channel) {
			m.hear(c.ID, memory.FirstMessageID(e.At))
		}
	}
}

// isWithin reports whether a channel is of a guild, or, if that isn't 0, is a channel or category or lies in it.
func (m *model) isWithin(c *memory.Channel, guild memory.GuildID, channel memory.ChannelID) bool {
	above := m.channels[c.Parent]
	return c.Guild == guild && (channel == 0 || c.ID == channel || c.Parent == channel ||
		above != nil && above.Guild == guild && above.Parent == channel)
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

// unswept is what is to be compared of a guild, the newest first.
func (m *model) unswept(guild memory.GuildID) []memory.Gap {
	gaps := slices.DeleteFunc(slices.Collect(maps.Values(m.gaps)), func(g memory.Gap) bool {
		return !g.Sweep || guild != memory.Everywhere && g.Guild != guild
	})
	slices.SortFunc(gaps, func(a, b memory.Gap) int { return cmp.Or(-compare(a.Until, b.Until), compare(a.Channel, b.Channel)) })
	return gaps
}

// missing are the gaps, those that were missed first.
func (m *model) missing() []memory.Gap {
	gaps := slices.DeleteFunc(slices.Collect(maps.Values(m.gaps)), func(g memory.Gap) bool { return g.Sweep })
	return slices.SortedFunc(slices.Values(gaps), func(a, b memory.Gap) int {
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
