package memorytest

import (
	"fmt"
	"time"

	"hark/memory"
)

// traceCases check which traces and prompts of answers are kept, and how they are listed.
var traceCases = []testCase{
	{"a trace that takes an earlier one's place has its own sources and prompt only", nil, func(t *harness) {
		trace := t.answersTwofold(100)
		for i, prompt := range []*memory.Prompt{sent(built, "When?"), sent(built, "How?"), nil} {
			trace.Prompt = prompt
			t.apply(memory.Answered{Trace: trace})
			t.compare()
			t.same("whether it has a prompt", t.outcome(trace), []string{stays, stays, bare}[i])
		}
		trace.Sources = trace.Sources[:2]
		t.apply(memory.Answered{Trace: trace}, deletes(staff, id(101)))
		t.becomes("without what it was made from before", bare, trace)
	}},
	{"a prompt is kept only if its question and all else in it is in the log, and nobody went whom it names",
		nil, func(t *harness) {
			for i, change := range []func(*memory.Trace){
				func(*memory.Trace) {}, func(trace *memory.Trace) { trace.Sources = trace.Sources[1:] },
				func(trace *memory.Trace) {
					trace.Question, trace.Sources = id(99), []memory.Source{repeated(general, id(99), 0)}
				},
				func(trace *memory.Trace) { trace.Sources[1].ID = int64(id(99)) },
				func(trace *memory.Trace) { trace.Named = []memory.UserID{503} }, // opted out
				func(trace *memory.Trace) { trace.Named = []memory.UserID{504} }, // forgotten
				func(trace *memory.Trace) {
					trace.Prompt.Built, trace.Named = built.Add(time.Second), []memory.UserID{504}
				},
			} {
				if i == 4 {
					t.apply(opts(503, true, 0))
					t.forget(memory.Forgetting{Guild: guild, User: 504, Why: memory.WhyMember, At: built})
				}
				trace := t.answersTwofold(100 * (i + 1))
				trace.Prompt = sent(built, "")
				change(&trace)
				t.apply(memory.Answered{Trace: trace})
				t.becomes("it", []string{stays, bare, bare, bare, bare, withdrawn, stays}[i], trace)
			}
		}},
	{"an answer at the command line goes with people of any guild in its prompt, and with their guild", nil,
		func(t *harness) {
			for i, f := range []memory.Forgetting{{Guild: guild, User: ben, Why: memory.WhyMember},
				{Guild: village, Why: memory.WhyLeft}} {
				t.apply(memory.PersonSeen{Person: memory.Person{ID: 505, Guild: village, Name: "Zoe"}})
				trace := memory.Trace{Guild: memory.LocalGuild, Channel: local, Answer: id(41 + 2*i),
					Question: id(40 + 2*i), Asker: ada,
					Sources: []memory.Source{repeated(local, id(40+2*i), 0)}, Named: []memory.UserID{ada, ben, 505},
					Prompt: sent(built.Add(2000*time.Hour), "")}
				t.post(said(local, trace.Question, ada, "who sails?"), said(local, trace.Answer, hark, "Ben does"))
				t.apply(memory.Answered{Trace: trace})
				t.becomes("before", stays, trace)
				f.At = later
				t.forget(f)
				t.becomes("then", withdrawn, trace)
			}
		}},
	{"an answer at the command line goes with the messages of a summary of any guild", steps{seenTown, post(first), post(second)},
		func(t *harness) {
			sum := summed(general, second.ID, 1, first.ID, second.ID)
			trace := memory.Trace{Guild: memory.LocalGuild, Channel: local, Answer: id(41), Question: id(40), Asker: ada,
				Sources: []memory.Source{repeated(local, id(40), 0), summarySource(sum)}, Named: []memory.UserID{ada}}
			t.apply(sums(0, sum))
			t.post(said(local, trace.Question, ada, "who sails?"), said(local, trace.Answer, hark, "Ben does"))
			t.apply(memory.Answered{Trace: trace})
			t.becomes("before", bare, trace)
			t.apply(memory.Deleted{Guild: guild, Channel: general, IDs: []memory.MessageID{first.ID}})
			t.becomes("then", withdrawn, trace)
		}},
	{"a prompt at the command line that shows the name of a channel of any guild goes when that is deleted",
		steps{seenTown}, func(t *harness) {
			trace := memory.Trace{Guild: memory.LocalGuild, Channel: local, Answer: id(41), Question: id(40), Asker: ada,
				Sources: []memory.Source{repeated(local, id(40), 0)}, Named: []memory.UserID{ada}, Prompt: sent(built, "in staff")}
			t.post(said(local, trace.Question, ada, "who sails?"), said(local, trace.Answer, hark, "Ben does"))
			t.apply(memory.Answered{Trace: trace})
			t.becomes("before", stays, trace)
			t.apply(memory.ChannelDeleted{Guild: guild, Channel: staff, At: later})
			t.becomes("then", bare, trace)
		}},
	{"a prompt that shows a name that is forgotten goes, and so does one that is old",
		steps{seenTown, threadOf(staff, thread, ada, "[plans] for *spring*")}, func(t *harness) {
			var all []memory.Trace
			for i, content := range []string{"what is said in [plans] for", "in (plans) for", "in staff"} {
				trace := t.answersTwofold(100 * (i + 1))
				trace.Prompt = sent(began, content)
				t.apply(memory.Answered{Trace: trace})
				all = append(all, trace)
			}
			t.forget(memory.Forgetting{Guild: guild, Channel: thread, User: ada, Why: memory.WhyMember})
			t.becomes("with the name", bare, all[:2]...)
			t.expire(memory.Expiry{Prompts: began})
			t.becomes("another", stays, all[2])
			t.expire(memory.Expiry{Prompts: began.Add(time.Millisecond)})
			t.becomes("an old one", bare, all...)
		}},
	{"traces are listed newest first, by any combination of filters", steps{seenTown}, func(t *harness) {
		for n, trace := range []memory.Trace{
			{Channel: general, Asker: ada, Model: "toy"},
			{Channel: general, Asker: ben, Model: "toy", Named: []memory.UserID{ada}},
			{Channel: staff, Asker: ada}, {Channel: square, Asker: ada, Model: "other"}, {Channel: square, Asker: ben},
		} {
			trace.Guild, trace.Answer = guildOf(trace.Channel), id(10+n)
			t.apply(post(said(trace.Channel, trace.Answer, hark, "At noon")), memory.Answered{Trace: trace})
		}
		direct := said(931, id(15), hark, "At noon")
		direct.Guild = memory.DirectGuild
		t.apply(post(direct),
			memory.Answered{Trace: memory.Trace{Channel: 931, Answer: id(15), Asker: ada, Model: "toy"}})
		for _, c := range []struct {
			q    memory.TraceQuery
			want []int
		}{
			{memory.TraceQuery{}, []int{15, 14, 13, 12, 11, 10}}, {memory.TraceQuery{Limit: 1}, []int{15}},
			{memory.TraceQuery{Before: id(12)}, []int{11, 10}}, {memory.TraceQuery{Before: id(10), Limit: 9}, nil},
			{memory.TraceQuery{Asker: ada}, []int{15, 13, 12, 10}}, {memory.TraceQuery{Asker: nobody}, nil},
			{memory.TraceQuery{Guilds: []memory.GuildID{village}}, []int{14, 13}},
			{memory.TraceQuery{Guilds: []memory.GuildID{memory.DirectGuild}}, []int{15}},
			{memory.TraceQuery{Guilds: []memory.GuildID{guild, village}, Asker: ada, Limit: 2}, []int{13, 12}},
			{memory.TraceQuery{Channel: general}, []int{11, 10}}, {memory.TraceQuery{Channel: nowhere}, nil},
			{memory.TraceQuery{Channel: general, Guilds: []memory.GuildID{village}}, nil},
			{memory.TraceQuery{Model: "toy", Before: id(15), Limit: 1}, []int{11}},
			{memory.TraceQuery{Model: "to"}, nil},
			{memory.TraceQuery{Generated: true, Asker: ben}, []int{11}},
			{memory.TraceQuery{Extractive: true}, []int{14, 12}},
			{memory.TraceQuery{Extractive: true, Model: "toy"}, nil},
		} {
			t.compareTraces(c.q)
			var answers, want []memory.MessageID
			for _, trace := range got(t.store.Traces(t.ctx, c.q))(t) {
				answers = append(answers, trace.Answer)
			}
			for _, n := range c.want {
				want = append(want, id(n))
			}
			t.same(fmt.Sprintf("the answers of %+v", c.q), answers, want)
		}
		t.forget(memory.Forgetting{Guild: guild, User: ben})
		for _, q := range []memory.TraceQuery{{Asker: ben}, {Channel: general}, {Model: "toy"}} {
			t.compareTraces(q)
		}
	}},
}
