package memorytest

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"hark/memory"
)

var gapRules = []modelRule{
	on((*model).findGap),
	on((*model).fillGap),
	on((*model).sweep),
	on(func(m *model, e memory.ShutOut) {
		m.meet(e.Guild, e.Channel)
		m.dropSweeps(e.Channel)
		m.channels[e.Channel].Shut = true
	}),
}

func (m *model) findGap(e memory.GapFound) {
	key := gapKey{false, e.Gap.Channel, e.Gap.Until}
	if _, known := m.gaps[key]; !known && !e.Gap.Sweep && e.Gap.After < e.Gap.Until {
		m.gaps[key] = e.Gap
	}
}

// listened is from when Hark listens in a guild's channels, as far as known.
func (m *model) listened(guild memory.GuildID) map[memory.ChannelID]memory.MessageID {
	until := map[memory.ChannelID]memory.MessageID{}
	for _, c := range m.channels {
		if at := max(c.heard, m.guild(guild).Since); c.Guild == guild && at != 0 {
			until[c.ID] = at
		}
	}
	return until
}

type gapKey struct {
	sweep   bool
	channel memory.ChannelID
	until   memory.MessageID
}

func (m *model) fillGap(e memory.GapFilled) {
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
		m.openSwept(c)
	}
}

func (m *model) openSwept(c *channel) {
	c.Shut = c.Shut && slices.ContainsFunc(m.gapsTo(true), func(g memory.Gap) bool { return g.Channel == c.ID })
}

// dropSweeps returns how far the first of a channel's sweeps was.
func (m *model) dropSweeps(channel memory.ChannelID) (after memory.MessageID, some bool) {
	for key, g := range m.gaps {
		if g.Sweep && g.Channel == channel {
			after, some = max(after, g.After), true
			delete(m.gaps, key)
		}
	}
	return after, some
}

// sweep compares a guild or a channel, first from where an earlier sweep stopped.
func (m *model) sweep(e memory.Absent) {
	for _, c := range m.channels {
		if !m.isWithin(c, e.Guild, e.Channel) {
			continue
		}
		at, some := m.dropSweeps(c.ID)
		if !some {
			at = memory.FirstMessageID(e.At.Add(-memory.SweptFirst))
		}
		log := m.log(c.ID)
		newest := memory.FirstMessageID(e.At.Add(time.Millisecond))
		for _, s := range log {
			newest = max(newest, s.ID)
		}
		for _, g := range []memory.Gap{{After: at, Until: newest}, {After: 0, Until: at}} {
			if slices.ContainsFunc(log, func(s memory.Message) bool { return s.ID > g.After && s.ID <= g.Until }) {
				g.Guild, g.Channel, g.Sweep = c.Guild, c.ID, true
				m.gaps[gapKey{true, c.ID, g.Until}] = g
			}
		}
		m.openSwept(c)
	}
}

// gapsTo returns the gaps to compare, newest first, or those to fetch, missed ones first.
func (m *model) gapsTo(sweep bool) []memory.Gap {
	past := map[bool]int{true: 1}
	all := slices.DeleteFunc(slices.Collect(maps.Values(m.gaps)), func(g memory.Gap) bool { return g.Sweep != sweep })
	slices.SortFunc(all, func(a, b memory.Gap) int {
		if sweep {
			return cmp.Or(cmp.Compare(b.Until, a.Until), cmp.Compare(a.Channel, b.Channel))
		}
		return cmp.Or(past[a.Past]-past[b.Past], cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.Until, b.Until))
	})
	return all
}
