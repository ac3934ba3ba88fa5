package answer

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hark/memory"
)

// TestARepliedMessageIsShownForOneAnswerAndLeavesNothing holds that the text of an unlogged message is in the prompt
// of the question that replies to it and nowhere else, and that the answer goes with it.
func TestARepliedMessageIsShownForOneAnswerAndLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, gone := range []memory.Event{
		memory.Deleted{Guild: guild, Channel: lobby},
		memory.Edited{Guild: guild, Channel: lobby, At: noon.Add(time.Hour), Unlogged: true},
	} {
		w := newWorld(t, nil)
		alarm := before(time.Minute, 77, "Backup of node crane-7 aborted: disk quota 93%")
		alarm.Channel = lobby
		alarm.Kind = memory.FromWebhook
		q := w.asks(lobby, "what does this mean?")
		q.ReplyTo = alarm.ID
		q.Replied = &Replied{Message: alarm, Name: "CI"}
		has(t, w.prompt(q), "(CI): Backup of node crane-7 aborted: disk quota 93%")

		model := &scripted{pieces: []string{"The disk of crane-7 is nearly full."}}
		w.engine.model = model
		id := w.gives(q, -time.Minute)
		answered := w.traceOf(lobby, id)
		isSource := func(s memory.Source) bool { return s.ID == int64(alarm.ID) && s.Repeats }
		if !slices.ContainsFunc(answered.Sources, isSource) {
			t.Fatalf("the answer has no such source: %+v", answered.Sources)
		}
		if answered.Prompt != nil {
			t.Errorf("the prompt is kept: %+v", answered.Prompt)
		}
		// a later question knows the answer, but not what it was about
		later := w.asksAt(2*time.Minute, lobby, "and how do I mend it?")
		later.ReplyTo = id
		p := w.prompt(later)
		has(t, p, "The disk of crane-7 is nearly full.")
		hasNot(t, p, "quota")

		switch e := gone.(type) {
		case memory.Deleted:
			e.IDs = []memory.MessageID{alarm.ID}
			w.apply(e)
		case memory.Edited:
			e.ID = alarm.ID
			w.apply(e)
		}
		if trace := w.traceOf(lobby, id); trace.Answer != 0 {
			t.Errorf("after %T the trace is there: %+v", gone, trace)
		}
		withdrawn, err := w.store.Withdrawn(t.Context(), 9)
		if err != nil || len(withdrawn) != 1 || withdrawn[0].Message != id {
			t.Errorf("after %T: withdrawn %+v, %v", gone, withdrawn, err)
		}
	}
}

// traceOf is the kept trace of an answer, with its prompt; zero if there is none.
func (w *world) traceOf(channel memory.ChannelID, answer memory.MessageID) memory.Trace {
	w.t.Helper()
	all, err := w.store.Traces(w.t.Context(), memory.TraceQuery{Channel: channel, Answer: answer, Prompts: true})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, trace := range all {
		return trace
	}
	return memory.Trace{}
}

func TestARepliedMessageIsNotShownToWhoCameLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	alarm := before(time.Minute, 77, "disk quota 93%")
	q := unlogged("what does this mean?")
	q.ReplyTo = alarm.ID
	q.Replied = &Replied{Message: alarm, Name: "CI"}
	has(t, w.prompt(q), "disk quota")
	q.Attended = attendedSince(alarm.ID + 1)
	hasNot(t, w.prompt(q), "disk quota")
}

func TestAnAnswerIsTakenBackIfWhatItRepliesToIsDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	stands := true
	w.engine.model = &scripted{pieces: []string{"The disk is full."}, before: func() { stands = false }}
	q := w.asks(lobby, "what does this mean?")
	alarm := before(time.Minute, 77, "disk quota 93%")
	alarm.Channel = lobby
	q.Replied = &Replied{Message: alarm, Name: "CI"}
	q.ReplyTo = alarm.ID
	q.SessionStands = func() bool { return stands }
	if got := w.answer(q).Text; strings.Contains(got, "disk") {
		t.Errorf("the answer is %q", got)
	}
}
