package memorytest

import (
	"fmt"
	"slices"
	"time"

	"hark/memory"

	"pgregory.net/rapid"
)

// prompt is what the store keeps of what was sent for an answer.
func (t *trial) prompt(channel memory.ChannelID, answer memory.MessageID) (memory.Prompt, bool) {
	t.Helper()
	for _, trace := range got(t.store.Traces(t.ctx, memory.TraceQuery{Channel: channel, Answer: answer, Prompts: true}))(t) {
		if p := trace.Prompt; p != nil && trace.Answer == answer {
			p.Built = p.Built.UTC()
			return *p, true
		}
	}
	return memory.Prompt{}, false
}

func (t *trial) lastTraces(before memory.MessageID, limit int) []memory.Trace {
	t.Helper()
	return got(t.store.Traces(t.ctx, memory.TraceQuery{Before: before, Limit: limit}))(t)
}

// built is when the prompts of the promises are built: after all that was said, and before later.
var built = began.Add(100 * time.Hour)

// sent is a prompt.
func sent() *memory.Prompt {
	return &memory.Prompt{
		Built:      built,
		Messages:   []memory.PromptMessage{{Role: "system", Content: "=== SYSTEM ===\nBe <kind> & \"brief\"."}, {Role: "user", Content: "When?\n\n東京"}},
		Boundaries: []memory.Boundary{{Section: "system_prompt", Start: 0, End: 35}, {Section: "current_query", Message: 1, Start: 0, End: 13}},
	}
}

// prompted is as answered, with a prompt that names these people.
func (t *trial) prompted(people ...memory.UserID) memory.Trace {
	t.Helper()
	trace := t.answered()
	trace.Prompt, trace.Named = sent(), people
	t.keep(trace)
	if got, ok := t.prompt(trace.Channel, trace.Answer); !ok {
		t.Fatalf("the prompt isn't kept")
	} else {
		t.same("the prompt", got, *trace.Prompt)
	}
	return trace
}

// promptGone fails the test unless an answer's prompt is gone, and the answer with its trace there, or not.
func (t *trial) promptGone(trace memory.Trace, answerStays bool) {
	t.Helper()
	if _, ok := t.prompt(trace.Channel, trace.Answer); ok {
		t.Fatalf("the prompt is still there")
	}
	got, ok := t.trace(trace.Channel, trace.Answer)
	if !answerStays {
		t.answerGone(trace)
		return
	}
	if trace.Prompt = nil; !ok {
		t.Fatalf("the trace is gone")
	}
	t.same("the trace", got, trace)
}

var promptPromises = []promise{
	{"a prompt is kept beside its trace", func(t *trial) {
		trace := t.prompted(ada, ben)
		if got, _ := t.trace(trace.Channel, trace.Answer); got.Prompt != nil {
			t.Fatalf("the trace holds the prompt: %+v", got.Prompt)
		}
		if p, there := t.prompt(staff, trace.Answer); there {
			t.Fatalf("in another channel: %+v", p)
		}
		trace.Prompt = sent()
		trace.Prompt.Messages[1].Content = "How?"
		t.keep(trace)
		got, _ := t.prompt(trace.Channel, trace.Answer)
		t.same("another prompt", got, *trace.Prompt)
		trace.Prompt = nil
		t.keep(trace)
		t.promptGone(trace, true)
	}},
	{"a prompt goes with its answer", func(t *trial) {
		for i, gone := range []memory.Event{
			memory.Deleted{Guild: guild, Channel: staff, IDs: []memory.MessageID{id(10)}},
			memory.Edited{Guild: guild, Channel: general, ID: id(20), Content: "never mind", At: later},
			memory.Deleted{Guild: guild, Channel: general, IDs: []memory.MessageID{id(31)}},
		} {
			n := 10 * (i + 1)
			question, answer := said(general, id(n), ada, "and now?"), said(general, id(n+1), hark, "now as well")
			answer.Kind = memory.FromHark
			t.post(question, said(staff, id(n), ben, "noon"), answer)
			trace := memory.Trace{Guild: guild, Channel: general, Answer: answer.ID, Asker: ada, Prompt: sent(),
				Sources: []memory.Source{repeated(general, id(n), 0), repeated(staff, id(n), 0)}, Question: question.ID}
			if t.keep(trace); !t.hasPrompt(trace) {
				t.Fatalf("no prompt was kept")
			}
			t.apply(gone)
			t.promptGone(trace, false)
		}
	}},
	{"an answer goes with all of somebody whom its prompt names, kept or not, and Discord is to show it no more", func(t *trial) {
		trace := t.prompted(ada, ben, 503)
		for i, gone := range []memory.Event{
			memory.Forgetting{Guild: guild, User: 503, Why: memory.WhyMember, At: later}, memory.Forgetting{Guild: memory.Everywhere, User: 503, Why: memory.WhyPurge, At: later},
			memory.Forgetting{Guild: guild, User: 503, Why: memory.WhyMember, At: later.Add(time.Minute)}, memory.Opted{Guild: guild, User: 503, Out: true, At: later},
		} {
			trace.Answer, trace.Parts, trace.Prompt = trace.Answer+1, nil, nil
			if i > 0 {
				trace.Prompt = sent()
				trace.Prompt.Built = later.Add(2 * time.Minute) // whoever came back
			}
			answer := said(general, trace.Answer, hark, "At noon")
			answer.Kind = memory.FromHark
			t.apply(memory.Posted{Message: answer}, memory.Answered{Trace: trace})
			for _, other := range []memory.Event{
				memory.Forgetting{Guild: 901, User: 503}, memory.Forgetting{Guild: guild, User: 504}, memory.Forgetting{Guild: guild, User: 503, Channel: thread},
				memory.Forgetting{Guild: guild, User: 503, Before: began}, memory.Opted{Guild: 901, User: 503, Out: true, At: later},
			} {
				if f, ok := other.(memory.Forgetting); ok {
					f.Why, f.At = memory.WhyPurge, built.Add(-time.Hour)
					other = f
				}
				t.apply(other)
				t.hasTrace(fmt.Sprintf("after %+v", other), trace)
				t.same("whether the prompt is there", t.hasPrompt(trace), trace.Prompt != nil)
			}
			if f, ok := gone.(memory.Forgetting); ok {
				t.forget(f)
			} else {
				t.apply(gone)
			}
			t.promptGone(trace, false)
			if all := t.withdrawn(); !slices.ContainsFunc(all, func(w memory.Withdrawn) bool { return w.Message == trace.Answer }) {
				t.Fatalf("withdrawn: %+v", all)
			}
		}
	}},
	{"a prompt isn't kept of whoever went while the answer was being written", func(t *trial) {
		trace := t.prompted(ada)
		t.apply(memory.Opted{Guild: guild, User: 503, Out: true, At: began})
		t.forget(memory.Forgetting{Guild: guild, User: 504, Why: memory.WhyMember, At: built})
		trace.Prompt, trace.Named = sent(), []memory.UserID{503} // who had gone before, and is named all the same
		t.keep(trace)
		t.promptGone(trace, true)
		trace.Prompt, trace.Named = sent(), []memory.UserID{504} // who came back
		trace.Prompt.Built = built.Add(time.Second)
		if t.keep(trace); !t.hasPrompt(trace) {
			t.Fatalf("it isn't kept of somebody who came back")
		}
		trace.Prompt = sent()
		t.keep(trace)
		t.promptGone(trace, false)
		t.same("withdrawn", len(t.withdrawn()), len(trace.Parts)+1)
	}},
	{"an answer at the command line goes with people of any guild in its prompt, and with their guild", func(t *trial) {
		for i, forget := range []memory.Forgetting{{Guild: guild, User: ben, Why: memory.WhyMember}, {Guild: 901, Why: memory.WhyLeft}} {
			t.apply(memory.PersonSeen{Person: memory.Person{ID: 505, Guild: 901, Name: "Zoe"}})
			question, answer := said(local, id(40+2*i), ada, "who sails?"), said(local, id(41+2*i), hark, "Ben does")
			answer.Kind = memory.FromHark
			trace := memory.Trace{Guild: memory.LocalGuild, Channel: local, Answer: answer.ID, Question: question.ID, Asker: ada,
				Sources: []memory.Source{repeated(local, question.ID, 0)}, Named: []memory.UserID{ada, ben, 505}, Prompt: sent()}
			trace.Prompt.Built = built.Add(2000 * time.Hour)
			t.post(question, answer)
			if t.keep(trace); !t.hasPrompt(trace) {
				t.Fatalf("no prompt was kept")
			}
			forget.At = later
			t.forget(forget)
			t.promptGone(trace, false)
		}
	}},
	{"prompts go with their guild", func(t *trial) {
		trace := t.prompted(ada)
		t.forget(memory.Forgetting{Guild: guild, Why: memory.WhyLeft, At: later})
		t.promptGone(trace, false)
	}},
	{"a prompt goes when an answer of Hark's in it grows", func(t *trial) {
		first, trace := said(general, id(5), hark, "At"), t.answered()
		first.Kind = memory.FromHark
		t.post(first)
		trace.Sources, trace.Prompt = append(trace.Sources, repeated(general, first.ID, 0)), sent()
		if t.keep(trace); !t.hasPrompt(trace) {
			t.Fatalf("no prompt was kept")
		}
		t.apply(memory.Edited{Guild: guild, Channel: general, ID: first.ID, Content: "At noon", At: began.Add(time.Hour)})
		t.promptGone(trace, true)
		t.keep(trace) // it was on its way when the answer grew
		t.promptGone(trace, true)
	}},
	{"a prompt goes when a fact in it is told anew", func(t *trial) {
		told := func(guild memory.GuildID, text string) memory.Event {
			return memory.FactTold{Guild: guild, User: 503, Fact: memory.Fact{ID: 5, Text: text, By: ada}}
		}
		t.apply(told(guild, "sails"), told(901, "rows"))
		trace := t.answered()
		trace.Sources, trace.Prompt = append(trace.Sources, factSource(5)), sent()
		t.keep(trace)
		if t.apply(told(901, "rows a boat")); !t.hasPrompt(trace) {
			t.Fatalf("it goes with another guild's fact")
		}
		t.apply(told(guild, "used to sail"))
		t.promptGone(trace, true)
	}},
	{"a prompt is kept only if its question and all else in it is in the log", func(t *trial) {
		for name, change := range map[string]func(*memory.Trace){
			"no question": func(trace *memory.Trace) { trace.Sources = trace.Sources[1:] },
			"a question that isn't there": func(trace *memory.Trace) {
				trace.Question, trace.Sources = id(99), []memory.Source{repeated(general, id(99), 0)}
			},
			"a source that isn't there": func(trace *memory.Trace) { trace.Sources[1].ID = int64(id(99)) },
		} {
			trace := t.answered()
			trace.Prompt = sent()
			change(&trace)
			if t.keep(trace); t.hasPrompt(trace) {
				t.Fatalf("%s: it is kept", name)
			}
		}
	}},
	{"prompts are kept for a time", func(t *trial) {
		trace := t.prompted(ada)
		t.expire(memory.Expiry{Prompts: built})
		if !t.hasPrompt(trace) {
			t.Fatalf("it went too soon")
		}
		t.expire(memory.Expiry{Prompts: built.Add(time.Millisecond)})
		t.promptGone(trace, true)
	}},
	{"the last traces are given, newest first", func(t *trial) {
		var all []memory.Trace
		for n := range 3 {
			answer := said(general, id(10+n), hark, "yes")
			trace := memory.Trace{Guild: guild, Channel: general, Answer: answer.ID, Asker: ada}
			t.post(answer)
			t.keep(trace)
			all = append([]memory.Trace{trace}, all...)
		}
		t.same("all", t.lastTraces(never, 9), all)
		t.same("two", t.lastTraces(never, 2), all[:2])
		t.same("those before", t.lastTraces(id(12), 9), all[1:])
	}},
}

func (t *trial) hasPrompt(trace memory.Trace) bool {
	t.Helper()
	_, ok := t.prompt(trace.Channel, trace.Answer)
	return ok
}

// drawPrompt is of one of a few moments, or none.
func drawPrompt(t *rapid.T, answer memory.MessageID) *memory.Prompt {
	if rapid.IntRange(0, 4).Draw(t, "no prompt?") == 0 {
		return nil
	}
	p := sent()
	p.Messages[1].Content += answer.String() + rapid.SampledFrom([]string{"", " in #quay", " in #pier"}).Draw(t, "where")
	p.Built = rapid.SampledFrom([]time.Time{began.Add(5 * time.Minute), built, later.Add(time.Hour)}).Draw(t, "built")
	return p
}

func (m *machine) comparePrompt(at place) {
	want, kept := m.model.prompts[at]
	got, ok := m.prompt(at.channel, at.id)
	m.same("whether there is a prompt", ok, kept)
	if want.Built = want.Built.UTC(); !kept {
		return
	}
	m.same("Prompt", got, want)
}

// forgetOldPrompts has the prompts of a moment, and older ones, go.
func (m *machine) forgetOldPrompts(t *rapid.T) {
	before := rapid.SampledFrom([]time.Time{began, built, built.Add(time.Minute)}).Draw(t, "before")
	m.expire(memory.Expiry{Prompts: before})
	m.model.forgetOld(before)
}
