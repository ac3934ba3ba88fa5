package reply

import (
	"hark/bot/ingest"
	"hark/internal/answer"
	"hark/memory"
)

// called are the records of the calls that were made for a question, to be logged with the answer that trace
// tells of. If it tells of none, because there is no answer or nobody knows what it was made from, it is the
// question's alone.
func (r *Replier) callEvents(a *ingest.Question, trace memory.Trace) []memory.Event {
	if !a.Consulted || r.NoRecords {
		return nil
	}
	if trace.Asker == 0 || trace.Answer == 0 {
		trace = memory.Trace{Guild: a.Guild, Channel: a.Channel, Question: a.ID, Asker: a.Asker}
	}
	return answer.Called(a.Calls, trace, r.Now())
}
