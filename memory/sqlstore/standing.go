package sqlstore

import "hark/memory"

// standing is a trace under the first message of its answer that is there, so that what is left of an answer
// is found by what it was made from. It is false if none is left.
func (t *transaction) standing(trace memory.Trace) (memory.Trace, bool) {
	for t.isGone(trace.Guild, trace.Channel, trace.Answer) {
		if len(trace.Parts) == 0 {
			return trace, false
		}
		trace.Answer, trace.Parts = trace.Parts[0], trace.Parts[1:]
	}
	return trace, true
}

// handOn has the trace of an answer whose first message is gone be kept under the next, and takes its prompt away.
func (t *transaction) handOn(channel memory.ChannelID, answer memory.MessageID) {
	trace, known := t.traceOf(channel, answer)
	if !known {
		return
	}
	trace, there := t.standing(trace)
	if !there {
		t.dropTrace(channel, answer)
		return
	}
	t.dropPrompt(channel, answer)
	t.exec("UPDATE derived SET id = ?1, at = ?1 WHERE kind = ?2 AND place = ?3 AND id = ?4",
		trace.Answer, anAnswer, channel, answer)
	t.exec("UPDATE trace SET answer = ?, parts = ?, body = ? WHERE channel = ? AND answer = ?",
		trace.Answer, jsonOf(trace.Parts), jsonText(trace), channel, answer)
}
