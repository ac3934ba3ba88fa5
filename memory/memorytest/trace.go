package memorytest

import (
	"time"

	"hark/memory"
)

// answered posts a source, a question and an answer in two parts, and keeps the trace.
func (t *trial) answered() memory.Trace {
	t.Helper()
	source, aside := said(staff, id(1), ben, "the ferry leaves at noon"), said(staff, id(2), ben, "see you")
	question := said(general, id(10), ada, "when does the ferry leave?")
	answer, part := said(general, id(11), hark, "At noon [1]"), said(general, id(12), hark, "says Ben.")
	answer.Kind, part.Kind = memory.FromHark, memory.FromHark
	t.post(source, aside, question, answer, part)
	trace := memory.Trace{
		Guild: guild, Channel: general, Answer: answer.ID, Parts: []memory.MessageID{part.ID}, Question: question.ID, Asker: ada,
		Model: "toy", Search: time.Millisecond, Total: time.Second,
		Recalled: []memory.TraceHit{
			{Channel: staff, Message: source.ID, Relevance: 0.9, Why: []string{"words"}, Number: 1, Cited: true},
			{Channel: staff, Message: aside.ID, Relevance: 0.1, Why: []string{"around"}},
		},
		Sections: []memory.TraceUse{{Section: "history", Tokens: 20, Dropped: 1}},
	}
	t.keep(trace)
	return trace
}

// answerGone fails the test unless the answer is gone with its trace.
func (t *trial) answerGone(trace memory.Trace) {
	t.Helper()
	t.same("the answer", t.messages(trace.Channel, append(trace.Parts, trace.Answer)...), []memory.Message(nil))
	if _, ok := t.trace(trace.Channel, trace.Answer); ok {
		t.Fatalf("the trace is still there")
	}
}

var tracePromises = []promise{
	{"a trace is kept under its answer", func(t *trial) {
		trace := t.answered()
		got, _ := t.trace(general, trace.Answer)
		t.same("the trace", got, trace)
		trace.Model = "another"
		t.keep(trace)
		got, _ = t.trace(general, trace.Answer)
		t.same("the trace kept again", got, trace)
		if _, err := t.store.Trace(t.ctx, staff, trace.Answer); !notFound(err) {
			t.Fatalf("in another channel: %v", err)
		}
	}},
	{"an answer is deleted with any of the facts that it used", func(t *trial) {
		told := func(id int64, who memory.UserID) memory.Event {
			return memory.FactTold{Guild: guild, User: who, Fact: memory.Fact{ID: id, Text: "sails", By: who}}
		}
		t.apply(told(5, ben), told(6, ben), told(7, ada), memory.FactTold{Guild: village, User: ben, Fact: memory.Fact{ID: 5, Text: "rows", By: ben}})
		trace := t.answered()
		trace.Facts = []int64{5, 7}
		t.keep(trace)
		t.apply(memory.FactGone{Guild: village, User: ben, Fact: 5}, memory.FactGone{Guild: guild, User: ben, Fact: 6})
		if got, ok := t.trace(general, trace.Answer); !ok || len(got.Facts) != 2 {
			t.Fatalf("with another guild's fact, or with another, goes %v, %t", got, ok)
		}
		t.apply(memory.FactGone{Guild: guild, User: ben, Fact: 5})
		t.answerGone(trace)
		if all := t.withdrawn(); len(all) != 2 || !all[0].First {
			t.Fatalf("withdrawn: %v", all)
		}
		late := said(general, id(13), hark, "He sails.")
		late.Kind = memory.FromHark
		trace = memory.Trace{Guild: guild, Channel: general, Answer: late.ID, Asker: ada, Facts: []int64{5}}
		t.apply(memory.Posted{Message: late}, memory.Answered{Trace: trace})
		t.answerGone(trace) // it was on its way when the fact went
		next := said(general, id(14), hark, "She sails.")
		next.Kind = memory.FromHark
		trace = memory.Trace{Guild: guild, Channel: general, Answer: next.ID, Asker: ben, Facts: []int64{7}}
		t.apply(memory.Posted{Message: next}, memory.Answered{Trace: trace})
		r := t.forget(memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: later})
		t.same("answers in the receipt", r.Answers, 1)
		t.answerGone(trace)
	}},
	{"an answer is deleted with any of its sources", func(t *trial) {
		trace := t.answered()
		t.delete(staff, id(2)) // wasn't shown to the model
		if _, ok := t.trace(general, trace.Answer); !ok {
			t.Fatalf("it went with a message that it wasn't made from")
		}
		t.delete(staff, id(1))
		t.answerGone(trace)
	}},
	{"an answer that is told with its trace is deleted with any of its sources", func(t *trial) {
		for _, second := range []bool{false, true} {
			trace := t.answered()
			again := said(general, id(20), hark, "At noon")
			if second {
				again.ID = id(21)
			}
			trace.Answer, trace.Parts = again.ID, nil
			if second {
				t.delete(staff, id(1))
			}
			t.apply(memory.Posted{Message: again}, memory.Answered{Trace: trace})
			if got, ok := t.trace(general, again.ID); !second {
				t.same("the trace", got, trace)
			} else if ok {
				t.Fatalf("a trace of a deleted source was kept")
			}
			t.delete(staff, id(1))
			t.answerGone(trace)
		}
	}},
	{"an answer is deleted with its question", func(t *trial) {
		trace := t.answered()
		t.delete(general, trace.Question)
		t.answerGone(trace)
	}},
	{"an answer is deleted when the text of a source changes", func(t *trial) {
		trace := t.answered()
		t.apply(memory.Edited{Guild: guild, Channel: staff, ID: id(1), Content: "the ferry leaves at two", At: began.Add(time.Hour)})
		t.answerGone(trace)
	}},
	{"an answer of Hark's that grows takes no other with it, one that goes does", func(t *trial) {
		first := said(general, id(1), hark, "At")
		first.Kind = memory.FromHark
		for i := range 2 {
			second := said(general, id(10+i), hark, "At noon, as I said")
			second.Kind = memory.FromHark
			trace := memory.Trace{Guild: guild, Channel: general, Answer: second.ID, Asker: ada, Recalled: []memory.TraceHit{{Channel: general, Message: first.ID, Context: true}}}
			t.post(first, second)
			grow := memory.Edited{Guild: guild, Channel: general, ID: first.ID, Content: "At noon", At: began.Add(time.Minute)}
			if i == 0 {
				t.apply(grow)
			}
			t.keep(trace)
			if i == 1 {
				t.apply(memory.Edited{Guild: guild, Channel: general, ID: first.ID, Content: "At noon.", At: began.Add(time.Hour)})
			}
			got, _ := t.trace(general, second.ID)
			t.same("the trace", got, trace)
		}
		t.delete(general, first.ID)
		for i := range 2 {
			t.same("the answers", t.messages(general, id(10+i)), []memory.Message(nil))
		}
	}},
	{"an answer whose source was edited while it was written is deleted when its trace comes", func(t *trial) {
		for i, c := range []struct {
			source, question int64 // milliseconds after the beginning of the versions used; 0: as first written
			kept             bool
		}{{60_000, 120_000, true}, {0, 120_000, false}, {60_000, 0, false}, {60_001, 120_000, false}} {
			trace := t.answered()
			t.apply(memory.Edited{Guild: guild, Channel: staff, ID: id(1), Content: "the ferry leaves at two", At: began.Add(time.Minute)},
				memory.Posted{Message: edited(said(general, trace.Question, ada, ""), 2, "when does it leave?")})
			again := said(general, id(30+i), hark, "At noon")
			again.Kind = memory.FromHark
			trace.Answer, trace.Parts = again.ID, nil
			for _, v := range []struct {
				to *int64
				ms int64
			}{{&trace.Recalled[0].Edited, c.source}, {&trace.QuestionEdited, c.question}} {
				if v.ms > 0 {
					*v.to = began.UnixMilli() + v.ms
				}
			}
			t.post(again)
			t.keep(trace)
			if got, _ := t.trace(general, again.ID); c.kept {
				t.same("the trace", got, trace)
			} else {
				t.answerGone(trace)
			}
		}
	}},
	{"a trace goes with its answer", func(t *trial) {
		trace := t.answered()
		t.delete(general, trace.Answer)
		if _, ok := t.trace(general, trace.Answer); ok {
			t.Fatalf("the trace is still there")
		}
	}},
	{"an answer whose source went while it was written is deleted when its trace comes", func(t *trial) {
		trace := t.answered()
		t.delete(staff, id(1))
		again := said(general, id(20), hark, "At noon")
		again.Kind = memory.FromHark
		t.post(again)
		trace.Answer, trace.Parts = again.ID, nil
		t.keep(trace)
		t.answerGone(trace)
	}},
}
