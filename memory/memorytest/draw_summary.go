package memorytest

import (
	"fmt"
	"maps"
	"slices"

	"hark/memory"

	"pgregory.net/rapid"
)

// someSummaries sums up a stretch, mostly as it is.
func (m *machine) someSummaries(t *rapid.T) {
	channel, until := drawSlot(t)
	after := rapid.IntRange(-1, until-1).Draw(t, "after")
	e := memory.Summarised{Guild: guildOf(channel), Channel: channel, After: slotID(after), Until: slotID(until)}
	if rapid.IntRange(0, 3).Draw(t, "evicts?") == 0 {
		e.Evicted = []memory.MessageID{slotID(rapid.IntRange(0, slots-1).Draw(t, "evicted"))}
	}
	if sources := m.drawSources(t, channel, after, until); len(sources) > 0 {
		made := drawTime(t, "made at")
		e.Summary = &memory.Summary{
			ID: e.Until, Guild: e.Guild, Channel: channel, Text: fmt.Sprintf("summary %d of %d", made.Minute(), until), Sources: sources, Made: made,
			Kind: memory.SummaryKinds()[until%len(memory.SummaryKinds())], Topics: words[:until%3],
		}
	}
	m.both(e)
}

// drawSources are mostly of messages that are there, as they are.
func (m *machine) drawSources(t *rapid.T, channel memory.ChannelID, after, until int) (sources []memory.SummarySource) {
	for n := after + 1; n <= until && len(sources) < 3; n++ {
		now, ok := m.model.message(place{channel, slotID(n)})
		if !ok && rapid.IntRange(0, 7).Draw(t, "though it isn't there?") > 0 || rapid.IntRange(0, 2).Draw(t, "left out?") == 0 {
			continue
		}
		source := memory.SummarySource{Message: slotID(n), Edited: editedAt(now)}
		if rapid.IntRange(0, 7).Draw(t, "another version?") == 0 {
			source.Edited = editedAt(version(channel, n, rapid.IntRange(0, versions-1).Draw(t, "version")))
		}
		sources = append(sources, source)
	}
	return sources
}

// drawUsedSummary is mostly none, or one that is there.
func (m *machine) drawUsedSummary(t *rapid.T, channel memory.ChannelID) []memory.Source {
	if rapid.Bool().Draw(t, "from a summary?") {
		return nil
	}
	for _, at := range slices.SortedFunc(maps.Keys(m.model.summaries), func(a, b place) int { return compare(a.id, b.id) }) {
		if s := m.model.summaries[at]; at.channel == channel && (s.there() || rapid.IntRange(0, 7).Draw(t, "though it is gone?") == 0) {
			return []memory.Source{{Kind: memory.SourceSummary, Channel: channel, ID: int64(at.id), Version: s.Made.UnixMilli()}}
		}
	}
	return nil
}
