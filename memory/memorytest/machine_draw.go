package memorytest

import (
	"fmt"
	"maps"
	"slices"

	"hark/memory"

	"pgregory.net/rapid"
)

func (m *machine) drawQuestion(t *rapid.T) memory.Event {
	at := place{general, slotID(between(t, "question", 0, 5))}
	if now, there := m.model.message(at); there && coin(t, "opened") {
		return memory.QuestionOpened{Question: memory.OpenQuestion{Guild: now.Guild, Channel: at.channel, ID: at.id}}
	}
	return memory.QuestionClosed{Channel: at.channel, ID: at.id}
}

// drawSummary summarises a stretch, mostly in its current versions.
func (m *machine) drawSummary(t *rapid.T) memory.Event {
	channel, until := drawSlot(t)
	after := between(t, "after", -1, until-1)
	e := memory.Summarised{Guild: guildOf(channel), Channel: channel, After: slotID(after), Until: slotID(until)}
	if between(t, "evicts?", 0, 3) == 0 {
		e.Evicted = []memory.MessageID{slotID(between(t, "evicted", 0, slots-1))}
	}
	if sources := m.drawSources(t, channel, after, until); len(sources) > 0 {
		made := drawMinute(t)
		s := summed(channel, e.Until, made)
		s.Text, s.Sources = fmt.Sprintf("summary %d of %d", made, until), sources
		s.Kind, s.Topics = memory.SummaryKinds()[until%len(memory.SummaryKinds())], words[:until%3]
		e.Summary = &s
	}
	return e
}

// drawSources draws mostly existing messages in their current versions.
func (m *machine) drawSources(t *rapid.T, channel memory.ChannelID, after, until int) (sources []memory.SummarySource) {
	for n := after + 1; n <= until && len(sources) < 3; n++ {
		now, ok := m.model.message(place{channel, slotID(n)})
		if !ok && between(t, "though it isn't there?", 0, 7) > 0 || between(t, "left out?", 0, 2) == 0 {
			continue
		}
		source := memory.SummarySource{Message: slotID(n), Edited: editedAt(now)}
		if between(t, "another version?", 0, 7) == 0 {
			source.Edited = editedAt(version(channel, n, between(t, "version", 0, versions-1)))
		}
		sources = append(sources, source)
	}
	return sources
}

// drawUsedSummary draws mostly none, or an existing one.
func (m *machine) drawUsedSummary(t *rapid.T, channel memory.ChannelID) []memory.Source {
	if coin(t, "from a summary?") {
		return nil
	}
	for _, at := range sorted(slices.Collect(maps.Keys(m.model.summaries)), func(at place) memory.MessageID {
		return at.id
	}) {
		if s := m.model.summaries[at]; at.channel == channel &&
			(s.there() || between(t, "though it is gone?", 0, 7) == 0) {
			return []memory.Source{{Kind: memory.SourceSummary, Channel: channel, ID: int64(at.id),
				Version: s.Made.UnixMilli()}}
		}
	}
	return nil
}

// drawCondensed condenses a channel's session, mostly in its current versions, or ends it.
func (m *machine) drawCondensed(t *rapid.T) memory.Event {
	channel, until := drawSlot(t)
	if between(t, "over?", 0, 7) == 0 {
		return memory.CondensedGone{Guild: guildOf(channel), Channel: channel, Until: slotID(until)}
	}
	sources := m.drawSources(t, channel, -1, until)
	if len(sources) == 0 {
		return nil
	}
	made := drawMinute(t)
	e := condenses(channel, fmt.Sprintf("condensed %d of %d", made, until), made, sources[len(sources)-1].Message)
	e.Condensed.Sources = slices.Clone(sources)
	return e
}

// drawReply draws one of the answers so far; false if there is none.
func (m *machine) drawReply(t *rapid.T) (memory.Trace, bool) {
	if len(m.replies) == 0 {
		return memory.Trace{}, false
	}
	return pick(t, "reply", m.replies...), true
}

// drawUsedLore draws mostly existing lore, in its current or another version, as sources of an answer in a channel.
// Only answers at the terminal are made from that of other guilds.
func (m *machine) drawUsedLore(t *rapid.T, channel memory.ChannelID) (used []memory.Source) {
	for _, id := range pick(t, "lore", [][]int64{nil, {1, 4}, {2, 3}, {5}}...) {
		l := m.model.loreAt(id)
		if l == nil && id != 5 {
			continue
		}
		if l != nil && l.Guild != guildOf(channel) && channel != local {
			continue
		}
		s := loreSource(id)
		if l != nil && coin(t, "as it is?") {
			s = l.AsSource(true)
		}
		used = append(used, s)
	}
	return used
}

// drawRepeated draws mostly none, or an earlier answer, in its old or current version, as a source of an answer in a
// channel. Only answers at the terminal are made from others there.
func (m *machine) drawRepeated(t *rapid.T, channel memory.ChannelID) []memory.Source {
	was, some := m.drawReply(t)
	if !some || coin(t, "nothing said before") || was.Channel == local && channel != local {
		return nil
	}
	id, version := pick(t, "message", append(was.Parts, was.Answer)...), int64(0)
	if now, ok := m.model.message(place{was.Channel, id}); ok && between(t, "as it is now?", 0, 3) > 0 {
		version = editedAt(now)
	}
	return []memory.Source{repeated(was.Channel, id, version)}
}
