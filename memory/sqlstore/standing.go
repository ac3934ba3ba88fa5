package sqlstore

import (
	"encoding/json"

	"hark/memory"
)

// standing is a trace under the first message of its answer that is there, so that what is left of an answer
// is found by what it was made from. It is false if none is left.
func (t *transaction) standing(trace memory.Trace) (memory.Trace, bool, error) {
	for {
		gone, err := t.isGone(trace.Guild, trace.Channel, trace.Answer)
		if !gone || err != nil {
			return trace, err == nil, err
		}
		if len(trace.Parts) == 0 {
			return trace, false, nil
		}
		trace.Answer, trace.Parts = trace.Parts[0], trace.Parts[1:]
	}
}

// handOn has the trace of an answer whose first message is gone be kept under the next, and takes its prompt away.
func (t *transaction) handOn(channel memory.ChannelID, answer memory.MessageID) error {
	trace, known, err := t.traceOf(channel, answer)
	if !known || err != nil {
		return err
	}
	trace, there, err := t.standing(trace)
	if err != nil {
		return err
	}
	if !there {
		return t.dropTrace(channel, answer)
	}
	if err := t.dropPrompt(channel, answer); err != nil {
		return err
	}
	body, err := json.Marshal(trace)
	if err != nil {
		return err
	}
	if err := t.exec("UPDATE derived SET id = ?1, at = ?1 WHERE kind = ?2 AND place = ?3 AND id = ?4",
		int64(trace.Answer), int(anAnswer), int64(channel), int64(answer)); err != nil {
		return err
	}
	return t.exec("UPDATE trace SET answer = ?, parts = ?, body = ? WHERE channel = ? AND answer = ?",
		int64(trace.Answer), jsonOf(trace.Parts), string(body), int64(channel), int64(answer))
}
