package memorytest

import (
	"maps"
	"slices"
	"time"

	"hark/memory"
)

// keepPrompt keeps what the model was sent for an answer that is kept, if its sources are as they were and nobody in it is forgotten.
func (m *model) keepPrompt(t memory.Trace, same bool) {
	at := place{t.Channel, t.Answer}
	if delete(m.prompts, at); t.Prompt != nil && same &&
		!m.areForgotten(t.Guild, about(t), memory.FirstMessageID(t.Prompt.Built)-1) {
		m.prompts[at] = *t.Prompt
	}
}

// about are those whom an answer is about.
func about(t memory.Trace) []memory.UserID {
	return append([]memory.UserID{t.Asker}, t.Named...)
}

// areForgotten reports whether any of some people has opted out, or was forgotten as a whole, with the guild or alone, since a moment.
func (m *model) areForgotten(guild memory.GuildID, who []memory.UserID, since memory.MessageID) bool {
	for of, opted := range m.opted {
		if opted.Out && slices.Contains(who, of.user) && (of.guild == guild || guild == memory.LocalGuild) {
			return true
		}
	}
	return len(who) > 0 && slices.ContainsFunc(m.forgottenSince(guild, since), func(user memory.UserID) bool { return user == 0 || slices.Contains(who, user) })
}

// forgottenSince are those who were forgotten as a whole, with the guild (0) or alone, since a moment.
func (m *model) forgottenSince(guild memory.GuildID, since memory.MessageID) (all []memory.UserID) {
	for _, g := range m.forgettings {
		if f := g.Forgetting; g.all && f.Why != memory.WhyDeleted && f.Channel == 0 && (g.of(guild) || guild == memory.LocalGuild) && g.end > since {
			all = append(all, f.User)
		}
	}
	return all
}

// withoutPrompt is what of t is kept as the trace.
func withoutPrompt(t memory.Trace) memory.Trace {
	t.Prompt = nil
	return t
}

// dropPrompts takes the prompts away for whose traces a condition holds, and tells how many.
func (m *model) dropPrompts(holds func(answer, memory.Prompt) bool) int {
	n := len(m.prompts)
	maps.DeleteFunc(m.prompts, func(at place, p memory.Prompt) bool { return holds(m.traces[at], p) })
	return n - len(m.prompts)
}

// forgetOld takes the prompts away that were built before a time.
func (m *model) forgetOld(before time.Time) int {
	return m.dropPrompts(func(_ answer, p memory.Prompt) bool { return p.Built.Before(before) })
}

// lastTraces are those of the answers before an id, newest first.
func (m *model) lastTraces(before memory.MessageID, limit int) []memory.Trace {
	var all []memory.Trace
	for at, a := range m.traces {
		if at.id < before {
			all = append(all, a.Trace)
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
