package bot

import (
	"hark/internal/answer"
	"hark/memory"
)

// called are the records of the calls that were made for a question, to be logged with the answer that trace
// tells of. If it tells of none, because there is no answer or nobody knows what it was made from, it is the
// question's alone.
func (b *Bot) called(a *ask, trace memory.Trace) []memory.Event {
	if !a.consulted || b.cfg.NoRecords {
		return nil
	}
	if trace.Asker == 0 || trace.Answer == 0 {
		trace = memory.Trace{Guild: a.guild, Channel: a.channel, Question: a.id, Asker: a.asker}
	}
	return answer.Called(a.calls, trace, b.now())
}
