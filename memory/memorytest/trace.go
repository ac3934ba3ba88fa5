package memorytest

import (
	"slices"
	"time"

	"hark/memory"
)

// repeated is a message as a source that an answer repeats, edited so many milliseconds since 1970.
func repeated(channel memory.ChannelID, id memory.MessageID, edited int64) memory.Source {
	return memory.Source{Kind: memory.SourceMessage, Channel: channel, ID: int64(id), Version: edited, Repeats: true}
}

// factSource and loreSource are a fact and lore as sources that an answer repeats.
func factSource(id int64) memory.Source {
	return memory.Source{Kind: memory.SourceFact, ID: id, Repeats: true}
}
func loreSource(id int64) memory.Source {
	return memory.Source{Kind: memory.SourceLore, ID: id, Repeats: true}
}

// answers posts an answer to Ben in general, and keeps its trace.
func (t *trial) answers(n int, sources ...memory.Source) memory.Trace {
	t.Helper()
	return t.answersIn(guild, general, n, sources...)
}

func (t *trial) answersIn(guild memory.GuildID, channel memory.ChannelID, n int, sources ...memory.Source) memory.Trace {
	t.Helper()
	answer := said(channel, id(n), hark, "At noon")
	answer.Kind = memory.FromHark
	trace := memory.Trace{Guild: guild, Channel: channel, Answer: answer.ID, Asker: ben, Sources: sources}
	t.apply(memory.Posted{Message: answer}, memory.Answered{Trace: trace})
	return trace
}

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
		Sources:  []memory.Source{repeated(general, question.ID, 0), repeated(staff, source.ID, 0)},
		Sections: []memory.TraceUse{{Section: "history", Tokens: 20, Dropped: 1}},
	}
	t.keep(trace)
	return trace
}

// answeredTwofold posts an answer in two parts to a question, made from a message that it was only shown and another that it
// repeats, and keeps its trace: these are its sources, in this order. n is where their ids begin.
func (t *trial) answeredTwofold(n int) memory.Trace {
	t.Helper()
	typo, cited := said(staff, id(n), ben, "tpyo"), said(staff, id(n+1), ada, "the code is 4711")
	question, answer, part := said(general, id(n+10), ben, "code?"), said(general, id(n+11), hark, "The code"), said(general, id(n+12), hark, "is 4711 [1]")
	answer.Kind, part.Kind = memory.FromHark, memory.FromHark
	t.post(typo, cited, question, answer, part)
	trace := memory.Trace{Guild: guild, Channel: general, Answer: answer.ID, Parts: []memory.MessageID{part.ID}, Question: question.ID, Asker: ben,
		Sources: []memory.Source{
			{Kind: memory.SourceMessage, Channel: general, ID: int64(question.ID), Repeats: true},
			{Kind: memory.SourceMessage, Channel: staff, ID: int64(typo.ID)},
			{Kind: memory.SourceMessage, Channel: staff, ID: int64(cited.ID), Repeats: true}}}
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
		if _, err := memory.TraceOf(t.ctx, t.store, staff, trace.Answer); !notFound(err) {
			t.Fatalf("in another channel: %v", err)
		}
	}},
	{"a trace is found by any message of its answer", func(t *trial) {
		trace := t.answered()
		got, _ := t.trace(general, trace.Parts[0])
		t.same("the trace of the further part", got, trace)
		if _, err := memory.TraceOf(t.ctx, t.store, staff, trace.Parts[0]); !notFound(err) {
			t.Fatalf("in another channel: %v", err)
		}
		if _, err := memory.TraceOf(t.ctx, t.store, general, trace.Question); !notFound(err) {
			t.Fatalf("of the question: %v", err)
		}
	}},
	{"a trace that takes an earlier one's place has its own sources only", func(t *trial) {
		trace := t.answered()
		trace.Sources = []memory.Source{repeated(staff, id(2), 0)}
		t.keep(trace)
		t.delete(staff, id(1))
		got, _ := t.trace(general, trace.Answer)
		t.same("the trace, without what it was made from before", got, trace)
		t.delete(staff, id(2))
		t.answerGone(trace)
	}},
	{"an answer that went with a source is written anew", func(t *trial) {
		trace := t.answered()
		rewritten := memory.Rewritten{Guild: guild, Channel: general, IDs: append(trace.Parts, trace.Answer)}
		edit := memory.Edited{Guild: guild, Channel: general, ID: trace.Question, Content: "when does the bus leave?", At: began.Add(time.Minute)}
		t.apply(edit)
		t.answerGone(trace)
		again := edited(said(general, trace.Answer, hark, ""), 3, "At one")
		again.Kind = memory.FromHark
		next := trace
		next.Parts, next.Sources = nil, []memory.Source{repeated(general, trace.Question, edit.At.UnixMilli()), trace.Sources[1]}
		t.apply(memory.Posted{Message: again}, memory.Answered{Trace: next})
		t.answerGone(trace) // nobody said that it was written anew
		for range 2 {
			t.apply(rewritten, memory.Posted{Message: again}, memory.Answered{Trace: next})
			t.same("the answer", textsOf(t.messages(general, trace.Answer)), []string{"At one"})
			got, _ := t.trace(general, trace.Answer)
			t.same("the trace", got, next)
		}
		t.apply(rewritten)
		if _, ok := t.trace(general, trace.Answer); ok {
			t.Fatalf("the trace of what is written anew is still there")
		}
		t.keep(next)
		t.delete(staff, id(1))
		t.answerGone(trace)
		t.same("withdrawn", len(t.withdrawn()), 1)
		t.apply(rewritten)
		t.same("withdrawn once it is written anew", len(t.withdrawn()), 0)
		t.apply(memory.Posted{Message: again}, memory.Answered{Trace: next}) // a source of which is gone
		t.answerGone(trace)
		t.same("withdrawn again", len(t.withdrawn()), 1)
	}},
	{"an answer that was deleted isn't written anew", func(t *trial) {
		for i, first := range []func(memory.Trace){
			func(memory.Trace) {},
			func(trace memory.Trace) { // it had gone before
				t.apply(memory.Edited{Guild: guild, Channel: staff, ID: id(1), Content: "the ferry leaves at two", At: began.Add(time.Hour)})
			},
		} {
			trace := t.answered()
			if i == 1 {
				trace.Answer = id(50)
				again := said(general, trace.Answer, hark, "At noon")
				again.Kind = memory.FromHark
				t.post(again)
				t.keep(trace)
			}
			first(trace)
			t.delete(general, trace.Answer)
			again := edited(said(general, trace.Answer, hark, ""), 3, "At one")
			again.Kind = memory.FromHark
			t.apply(memory.Rewritten{Guild: guild, Channel: general, IDs: []memory.MessageID{trace.Answer}}, memory.Posted{Message: again})
			t.same("the answer", t.messages(general, trace.Answer), []memory.Message(nil))
		}
	}},
	{"Discord is to show nothing of an answer whose question was deleted", func(t *trial) {
		trace := t.answered()
		t.apply(memory.LoreTold{Lore: memory.Lore{ID: 7, Guild: guild, Name: "ferry", Text: "leaves at noon", By: ada, Channel: general, At: began.Add(time.Hour),
			Sources: []memory.Spot{{Channel: general, Message: trace.Question}}}})
		trace.Sources = append(trace.Sources, loreSource(7))
		t.keep(trace)
		t.delete(general, trace.Question)
		t.answerGone(trace)
		t.same("withdrawn", t.withdrawn(), []memory.Withdrawn{
			{Guild: guild, Channel: general, Message: trace.Answer, First: true, Unasked: true}, {Guild: guild, Channel: general, Message: trace.Parts[0]}})
	}},
	{"an answer is deleted with any of the facts that it used", func(t *trial) {
		told := func(id int64, who memory.UserID) memory.Event {
			return memory.FactTold{Guild: guild, User: who, Fact: memory.Fact{ID: id, Text: "sails", By: who}}
		}
		t.apply(told(5, ben), told(6, ben), told(7, ada), memory.FactTold{Guild: village, User: ben, Fact: memory.Fact{ID: 5, Text: "rows", By: ben}})
		trace := t.answered()
		trace.Sources = append(trace.Sources, factSource(5), factSource(7))
		t.keep(trace)
		t.apply(memory.FactGone{Guild: village, User: ben, Fact: 5}, memory.FactGone{Guild: guild, User: ben, Fact: 6})
		t.hasTrace("with another guild's fact, or with another", trace)
		t.apply(memory.FactGone{Guild: guild, User: ben, Fact: 5})
		t.answerGone(trace)
		if all := t.withdrawn(); len(all) != 2 || !all[0].First {
			t.Fatalf("withdrawn: %v", all)
		}
		t.answerGone(t.answers(13, factSource(5))) // it was on its way when the fact went
		trace = t.answers(14, factSource(7))
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
			t.post(first)
			trace := t.answers(10+i, repeated(general, first.ID, 0))
			grow := memory.Edited{Guild: guild, Channel: general, ID: first.ID, Content: "At noon", At: began.Add(time.Minute)}
			if i == 0 {
				t.apply(grow)
			}
			t.keep(trace)
			if i == 1 {
				t.apply(memory.Edited{Guild: guild, Channel: general, ID: first.ID, Content: "At noon.", At: began.Add(time.Hour)})
			}
			got, _ := t.trace(general, trace.Answer)
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
			for i, ms := range []int64{c.question, c.source} {
				if ms > 0 {
					trace.Sources[i].Version = began.UnixMilli() + ms
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
	{"what is left of an answer goes with its sources", func(t *trial) {
		trace := t.answered()
		left := trace
		left.Answer, left.Parts = trace.Parts[0], nil
		t.delete(general, trace.Answer)
		got, _ := t.trace(general, left.Answer)
		t.same("the trace of what is left", got, left)
		t.keep(trace) // as if it had come only now
		got, _ = t.trace(general, left.Answer)
		t.same("the trace that came late", got, left)
		t.delete(staff, id(1))
		t.answerGone(left)
		t.same("withdrawn", t.withdrawn(), []memory.Withdrawn{{Guild: guild, Channel: general, Message: left.Answer, First: true}})
		t.keep(trace)
		t.answerGone(left)
	}},
	{"what is left of an answer goes with its question", func(t *trial) {
		trace := t.answered()
		t.delete(general, trace.Answer)
		t.delete(general, trace.Question)
		t.answerGone(trace)
		t.same("withdrawn", t.withdrawn(), []memory.Withdrawn{{Guild: guild, Channel: general, Message: trace.Parts[0], First: true, Unasked: true}})
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
	{"Discord is to show an answer no more that repeats what went, or of whatever was forgotten as a whole", func(t *trial) {
		forget := func(f memory.Forgetting) memory.Event {
			f.Guild, f.Why = guild, memory.WhyAge
			if f.At.IsZero() {
				f.At = later
			}
			return f
		}
		for i, gone := range []struct {
			by     func(memory.MessageID) memory.Event
			author memory.UserID
			whole  bool
		}{
			{func(at memory.MessageID) memory.Event {
				return memory.Deleted{Guild: guild, Channel: staff, IDs: []memory.MessageID{at}}
			}, ben, false},
			{func(at memory.MessageID) memory.Event {
				return memory.Edited{Guild: guild, Channel: staff, ID: at, Content: "no", At: later}
			}, ben, false},
			{func(at memory.MessageID) memory.Event {
				return forget(memory.Forgetting{Channel: staff, Before: id(301).Time()})
			}, ben, false},
			{func(at memory.MessageID) memory.Event {
				return forget(memory.Forgetting{User: ben, Before: id(401).Time()})
			}, ben, false},
			{func(memory.MessageID) memory.Event { return forget(memory.Forgetting{User: ben, At: id(550).Time()}) }, ben, true},
			{func(memory.MessageID) memory.Event { return forget(memory.Forgetting{Channel: staff}) }, 503, true},
		} {
			n := 100 * (i + 1)
			source := said(staff, id(n), gone.author, "the ferry leaves at noon")
			t.post(source)
			silent, repeating := t.madeOf(n+10, source.ID, staff, false), t.madeOf(n+11, source.ID, staff, true)
			next, apart := t.madeOf(n+12, repeating.Answer, general, true), t.madeOf(n+13, silent.Answer, general, true)
			known := len(t.withdrawn())
			t.apply(gone.by(source.ID))
			var ids []memory.MessageID
			for _, w := range t.withdrawn()[known:] {
				if w.Message > source.ID { // not of those before, which ben asked for too
					ids = append(ids, w.Message)
				}
			}
			want := []memory.MessageID{repeating.Answer, next.Answer}
			if gone.whole {
				want = []memory.MessageID{silent.Answer, repeating.Answer, next.Answer, apart.Answer}
			}
			slices.Sort(ids)
			t.same("withdrawn", ids, want)
			for _, trace := range []memory.Trace{silent, repeating, next, apart} {
				t.answerGone(trace)
			}
		}
	}},
	{"an answer that was kept in Discord is found still when something goes that it repeats", func(t *trial) {
		for i, c := range []struct {
			by      func(memory.Trace) []memory.Event
			unasked bool
		}{
			{func(trace memory.Trace) []memory.Event {
				return []memory.Event{memory.Deleted{Guild: guild, Channel: staff, IDs: []memory.MessageID{memory.MessageID(trace.Sources[2].ID)}}}
			}, false},
			{func(memory.Trace) []memory.Event {
				return []memory.Event{memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyAge, At: id(250).Time()}}
			}, false},
			{func(trace memory.Trace) []memory.Event {
				return []memory.Event{memory.Deleted{Guild: guild, Channel: general, IDs: []memory.MessageID{trace.Question}}}
			}, true},
			{func(memory.Trace) []memory.Event {
				return []memory.Event{memory.Forgetting{Guild: guild, Channel: general, Why: memory.WhyPurge, At: later}}
			}, false},
		} {
			trace := t.answeredTwofold(100 * (i + 1))
			next := t.madeOf(100*(i+1)+30, trace.Answer, general, true)
			known := len(t.withdrawn())
			t.delete(staff, memory.MessageID(trace.Sources[1].ID))
			t.answerGone(trace)
			t.answerGone(next)
			t.same("withdrawn before", len(t.withdrawn()), known)
			t.apply(c.by(trace)...)
			var got []memory.Withdrawn
			for _, w := range t.withdrawn()[known:] {
				if w.Message == trace.Answer || w.Message == trace.Parts[0] || w.Message == next.Answer {
					got = append(got, w)
				}
			}
			slices.SortFunc(got, func(a, b memory.Withdrawn) int { return compare(a.Message, b.Message) })
			t.same("withdrawn", got, []memory.Withdrawn{{Guild: guild, Channel: general, Message: trace.Answer, First: true, Unasked: c.unasked},
				{Guild: guild, Channel: general, Message: trace.Parts[0]}, {Guild: guild, Channel: general, Message: next.Answer, First: true}})
		}
	}},
	{"an answer that was kept in Discord is no more there to withdraw once it is deleted or written anew", func(t *trial) {
		trace := t.answeredTwofold(100)
		typo, cited := memory.MessageID(trace.Sources[1].ID), memory.MessageID(trace.Sources[2].ID)
		t.delete(staff, typo)
		t.delete(general, trace.Answer)
		t.delete(staff, cited)
		t.same("withdrawn, of which the first message was deleted", t.withdrawn(), []memory.Withdrawn{{Guild: guild, Channel: general, Message: trace.Parts[0], First: true}})
		trace = t.answeredTwofold(200)
		next := t.madeOf(240, trace.Answer, general, true)
		typo, cited = memory.MessageID(trace.Sources[1].ID), memory.MessageID(trace.Sources[2].ID)
		t.delete(staff, typo)
		t.anew(trace, 500, "At one")
		known := []memory.Withdrawn{{Guild: guild, Channel: general, Message: id(112), First: true}, {Guild: guild, Channel: general, Message: trace.Parts[0]}}
		t.same("withdrawn, a part of which isn't written anew", t.withdrawn(), known)
		t.delete(staff, cited) // of which the one made from it was made as well
		t.same("withdrawn", t.withdrawn(), append(known, memory.Withdrawn{Guild: guild, Channel: general, Message: next.Answer, First: true}))
		t.same("the answer", textsOf(t.messages(general, trace.Answer)), []string{"At one"})
	}},
	{"an answer goes from Discord that was being written while a source's author or whom it names was forgotten as a whole", func(t *trial) {
		source := said(staff, id(100), ada, "the code is 4711")
		t.post(source)
		forgotten := memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyAge, At: id(105).Time()}
		t.forget(forgotten)
		for i, trace := range []memory.Trace{
			{Question: id(102), Sources: []memory.Source{{Kind: memory.SourceMessage, Channel: staff, ID: int64(source.ID)}}},
			{Named: []memory.UserID{ada}, Prompt: &memory.Prompt{Built: id(103).Time()}},
			{Named: []memory.UserID{ada}, Prompt: &memory.Prompt{Built: id(106).Time()}}, // since then
			{Question: id(110), Sources: []memory.Source{{Kind: memory.SourceMessage, Channel: staff, ID: int64(source.ID)}}},
		} {
			answer := said(general, id(111+i), hark, "Ada says so")
			answer.Kind = memory.FromHark
			trace.Guild, trace.Channel, trace.Answer, trace.Asker = guild, general, answer.ID, ben
			t.apply(memory.Posted{Message: answer}, memory.Answered{Trace: trace})
			shown := !slices.ContainsFunc(t.withdrawn(), func(w memory.Withdrawn) bool { return w.Message == answer.ID })
			t.same("whether Discord shows it", shown, i > 1)
		}
	}},
	{"an answer that repeats one of several messages that are deleted at once is withdrawn", func(t *trial) {
		trace := t.answeredTwofold(100)
		t.delete(staff, memory.MessageID(trace.Sources[1].ID), memory.MessageID(trace.Sources[2].ID))
		t.same("withdrawn", len(t.withdrawn()), 2)
	}},
}
