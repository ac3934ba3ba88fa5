package memorytest

import (
	"maps"
	"slices"
	"time"

	"hark/memory"
)

// keepPrompt keeps what the model was sent for an answer that is kept, unless something in it has changed or somebody in it
// is forgotten.
func (m *model) keepPrompt(t memory.Trace) {
	at := place{t.Channel, t.Answer}
	delete(m.prompts, at)
	if t.Prompt != nil && t.Question != 0 && m.asUsed(t) && !slices.ContainsFunc(t.Prompt.People, func(who memory.UserID) bool { return m.isOutIn(t, who) }) && !m.wasForgotten(t) {
		m.prompts[at] = *t.Prompt
	}
}

// withoutPrompt is what of t is kept as the trace.
func withoutPrompt(t memory.Trace) memory.Trace {
	t.Prompt = nil
	return t
}

// asUsed reports whether all sources of an answer are in the log as they were used.
func (m *model) asUsed(t memory.Trace) bool {
	return !slices.ContainsFunc(sources(t), func(s used) bool {
		now, ok := m.message(s.place)
		return !ok || editedAt(now) != s.edited
	})
}

func (m *model) isOutIn(t memory.Trace, who memory.UserID) bool {
	for of, opted := range m.opted {
		if opted.Out && of.user == who && (of.guild == t.Guild || t.Guild == memory.LocalGuild) {
			return true
		}
	}
	return false
}

// wasForgotten reports whether all of somebody in a prompt was forgotten when it was built, or later.
func (m *model) wasForgotten(t memory.Trace) bool {
	return slices.ContainsFunc(m.forgettings, func(g *forgetting) bool {
		f := g.Forgetting
		return g.all && f.Channel == 0 && (g.of(t.Guild) || t.Guild == memory.LocalGuild) && g.end >= memory.FirstMessageID(t.Prompt.Built) &&
			(f.User == 0 || slices.Contains(t.Prompt.People, f.User))
	})
}

// dropPrompts takes the prompts away for whose traces a condition holds, and tells how many.
func (m *model) dropPrompts(holds func(memory.Trace, memory.Prompt) bool) int {
	n := len(m.prompts)
	maps.DeleteFunc(m.prompts, func(at place, p memory.Prompt) bool { return holds(m.traces[at], p) })
	return n - len(m.prompts)
}

// forgetPrompts forgets the prompts of a guild that is forgotten, and those that somebody is in of whom everything is.
func (m *model) forgetPrompts(g *forgetting) {
	f := g.Forgetting
	if f.Channel != 0 || !g.all {
		return
	}
	goes := func(who memory.UserID) bool {
		for guild, people := range m.people {
			if _, known := people[who]; known && g.of(guild) {
				return true
			}
		}
		return false
	}
	if f.User != 0 {
		goes = func(who memory.UserID) bool { return who == f.User }
	}
	m.dropPrompts(func(t memory.Trace, p memory.Prompt) bool {
		return f.User == 0 && g.of(t.Guild) || (g.of(t.Guild) || t.Guild == memory.LocalGuild) && slices.ContainsFunc(p.People, goes)
	})
}

// forgetOld takes the prompts away that were built before a time.
func (m *model) forgetOld(before time.Time) int {
	return m.dropPrompts(func(_ memory.Trace, p memory.Prompt) bool { return p.Built.Before(before) })
}

// lastTraces are those of the answers before an id, newest first.
func (m *model) lastTraces(before memory.MessageID, limit int) []memory.Trace {
	var all []memory.Trace
	for at, t := range m.traces {
		if at.id < before {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b memory.Trace) int {
		if a.Answer == b.Answer {
			return compare(a.Channel, b.Channel)
		}
		return compare(b.Answer, a.Answer)
	})
	return all[:min(limit, len(all))]
}
