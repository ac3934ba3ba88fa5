package answer

import (
	"crypto/rand"
	"time"

	"hark/memory"
)

// MethodAsk is the method of the call that a question is.
const MethodAsk = "ask"

// methodAnswer is the method of the call that an answer is.
const methodAnswer = "answer"

// notAnswered is how a question came out that came to no answer.
const notAnswered = "not answered"

// Called are the events by which the records of an answer are kept with it: those of t's answer, which has
// its id by now, made at a time unless they say when. What can't be kept is left out, so that the answer is.
//
// Of a question that wasn't answered, so that nothing tells what the calls for it were made from, t tells the
// question alone and no answer; then only the question's own record is kept, with nothing but its id.
func Called(records []memory.Record, t memory.Trace, at time.Time) []memory.Event {
	var events []memory.Event
	asked, known := false, map[string]bool{}
	keep := func(r memory.Record) {
		r.Guild, r.Channel, r.Question, r.Asker, r.Answer = t.Guild, t.Channel, t.Question, t.Asker, t.Answer
		if r.Timestamp.IsZero() {
			r.Timestamp = at
		}
		if r.CallID == "" || known[r.CallID] {
			r.CallID = rand.Text()
		}
		if r, err := r.Checked(); err == nil {
			known[r.CallID], asked = true, asked || r.Speaker == memory.SpeakerUser
			events = append(events, memory.Called{Record: r})
		}
	}
	for _, r := range records {
		switch {
		case t.Answer != 0:
			keep(r)
		case r.Speaker == memory.SpeakerUser && !asked:
			r.Args, r.Kwargs, r.Outcome = []any{t.Question}, nil, notAnswered
			keep(r)
		}
	}
	if t.Answer == 0 && !asked {
		keep(memory.Record{Speaker: memory.SpeakerUser, Method: MethodAsk, Args: []any{t.Question},
			Outcome: notAnswered})
	}
	return events
}
