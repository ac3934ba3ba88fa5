package sqlite

import (
	"encoding/json"

	"hark/memory"
)

// standing is a trace under the first message of its answer that is there, so that what is left of an answer is found by what it
// was made from. It is false if none is left.
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

// handOn has the trace of an answer whose first message is gone be kept under the next.
func (t *transaction) handOn(channel memory.ChannelID, answer memory.MessageID) error {
	var body []byte
	var trace memory.Trace
	known, err := found(t.row("SELECT body FROM trace WHERE channel = ? AND answer = ?", int64(channel), int64(answer)).Scan(&body))
	if err == nil && known {
		err = json.Unmarshal(body, &trace)
	}
	if err != nil {
		return err
	}
	if err := t.dropTrace(channel, answer); err != nil || !known {
		return err
	}
	return t.keepTrace(trace)
}
