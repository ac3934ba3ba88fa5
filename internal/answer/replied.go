package answer

import (
	"slices"

	"hark/internal/digest"
	"hark/memory"
)

// A question may reply to a message that isn't logged, such as a bot's. It is shown for that answer alone. The answer
// has it for a source by its id, so that the answer's trace goes with it; no prompt that shows it is kept.

// isReplied reports whether m is the unlogged message that the question replies to.
func (q Question) isReplied(m memory.Message) bool { return q.Replied != nil && q.Replied.ID == m.ID }

// withReplied adds to older the unlogged message that the question replies to, unless it is shown, or is from before
// attended, when not everybody was there to read it.
func (q Question) withReplied(older, shown []memory.Message, attended memory.MessageID) []memory.Message {
	if q.Replied == nil || q.Replied.ID < attended {
		return older
	}
	if digest.Has(older, q.Replied.ID) || digest.Has(shown, q.Replied.ID) {
		return older
	}
	return sortByID(append(slices.Clone(older), q.Replied.Message))
}

// unloggedVersion is the version of a source that isn't logged. Any edit that Hark hears of is newer.
const unloggedVersion = -1

// markReplied marks what the answer was made from and isn't logged. The answer is about it, so it repeats it.
func (q Question) markReplied(sources []memory.Source) {
	for i, s := range sources {
		if s.Kind == memory.SourceMessage && q.isReplied(memory.Message{ID: memory.MessageID(s.ID)}) {
			sources[i].Version = unloggedVersion
			sources[i].Repeats = true
		}
	}
}

// withoutReplied leaves out the unlogged message that the question replies to.
func (q Question) withoutReplied(messages []memory.Message) []memory.Message {
	return slices.DeleteFunc(slices.Clone(messages), q.isReplied)
}
