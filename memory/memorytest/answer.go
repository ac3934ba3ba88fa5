package memorytest

import (
	"cmp"
	"slices"
	"time"

	"hark/memory"
)

// answers posts an answer to Ben in general, with its trace.
func (t *harness) answers(n int, sources ...memory.Source) memory.Trace {
	t.Helper()
	trace := memory.Trace{Guild: guild, Channel: general, Answer: id(n), Asker: ben, Sources: sources}
	t.apply(post(said(general, trace.Answer, hark, "At noon")), memory.Answered{Trace: trace})
	return trace
}

// madeOf posts an answer made from one unedited message.
func (t *harness) madeOf(n int, channel memory.ChannelID, source memory.MessageID, repeats bool) memory.Trace {
	t.Helper()
	s := shown(channel, source)
	s.Repeats = repeats
	return t.answers(n, s)
}

// answersTwofold posts a question and an answer in two parts, with ids from n on. Its sources are the
// question, a message that it only saw, and one that it repeats.
func (t *harness) answersTwofold(n int) memory.Trace {
	t.Helper()
	t.post(said(staff, id(n), ben, "tpyo"), said(staff, id(n+1), ada, "the code is 4711"),
		said(general, id(n+10), ben, "code?"),
		said(general, id(n+11), hark, "The code"), said(general, id(n+12), hark, "is 4711 [1]"))
	trace := memory.Trace{Guild: guild, Channel: general, Answer: id(n + 11),
		Parts: []memory.MessageID{id(n + 12)}, Question: id(n + 10), Asker: ben,
		Sources: []memory.Source{repeated(general, id(n+10), 0), shown(staff, id(n)), repeated(staff, id(n+1), 0)}}
	t.apply(memory.Answered{Trace: trace})
	return trace
}

// anew rewrites an answer's first message, minutes after began.
func anew(trace memory.Trace, minutes int, content string) events {
	trace.Parts, trace.Recalled, trace.Sources, trace.Prompt = nil, nil, nil, nil
	return events{memory.Rewritten{Guild: trace.Guild, Channel: trace.Channel, IDs: []memory.MessageID{trace.Answer}},
		post(edited(said(trace.Channel, trace.Answer, hark, ""), minutes, content)), memory.Answered{Trace: trace}}
}

const (
	stays     = "stays"
	bare      = "stays without its prompt"
	gone      = "gone, and Discord may show it"
	withdrawn = "gone, and Discord is to show it no more"
	unasked   = "gone, and Discord is to show nothing of it, for its question is deleted"
)

func (t *harness) outcome(trace memory.Trace) string {
	t.Helper()
	all := append([]memory.MessageID{trace.Answer}, trace.Parts...)
	kept, prompted := false, false
	for _, id := range all {
		_, known := t.trace(trace.Channel, id)
		_, there := t.prompt(trace.Channel, id)
		kept, prompted = kept || known, prompted || there
	}
	switch there := t.around(trace.Channel, all, 0, 0); {
	case kept != (len(there) > 0):
		t.Fatalf("of an answer and how it came about only one is there")
	case prompted:
		return stays
	case kept:
		return bare
	}
	for _, w := range t.withdrawn() {
		if w.Channel == trace.Channel && slices.Contains(all, w.Message) {
			if w.Unasked {
				return unasked
			}
			return withdrawn
		}
	}
	return gone
}

func (t *harness) becomes(what, want string, answers ...memory.Trace) {
	t.Helper()
	for _, a := range answers {
		t.same(what, t.outcome(a), want)
	}
}

// whole returns an answer in two parts, to Ada, with all kinds of sources, and the events before it.
func whole() (events, memory.Trace) {
	sum, lore := summed(general, id(6), 1, id(5), id(6)), note(1, ada, general, 1)
	elsewhere := facts(ben, 5, "rows")
	elsewhere.Guild = village
	before := append(posted(
		said(staff, id(1), ben, "the ferry leaves at noon"), said(staff, id(2), ben, "see you"),
		said(staff, id(3), 504, "tpyo"), said(general, id(4), hark, "At"), said(general, id(5), ben, "five"),
		said(general, id(6), 504, "six"), said(general, id(7), 504, "seven"),
		said(general, id(10), ada, "when does the ferry leave?"),
		said(general, id(11), hark, "At noon [1]"), said(general, id(12), hark, "says Ben.")),
		facts(ben, 5, "sails"), facts(ben, 6, "sails"), elsewhere, tells(lore), tells(note(2, ada, general, 1)),
		sums(0, sum), sums(id(6), summed(general, id(7), 1, id(7))), person(505, "Zoe"), seenTown)
	return before, memory.Trace{
		Guild: guild, Channel: general, Answer: id(11), Parts: []memory.MessageID{id(12)}, Question: id(10), Asker: ada,
		Named: []memory.UserID{503}, Model: "toy", Search: time.Millisecond, Total: time.Second,
		Recalled: []memory.TraceHit{{Channel: staff, Message: id(1), Relevance: 0.9, Why: []string{"words"},
			Number: 1, Cited: true}},
		Sections: []memory.TraceUse{{Section: "history", Tokens: 20, Dropped: 1}},
		Sources: []memory.Source{repeated(general, id(10), 0), repeated(staff, id(1), 0), shown(staff, id(3)),
			repeated(general, id(4), 0), factSource(5), lore.AsSource(true), summarySource(sum)},
		Prompt: sent(built, "When?\n\n東京"),
	}
}

// answerCases check what happens to an answer, kept or being written, when its sources change.
func answerCases() []testCase {
	before, trace := whole()
	forgets := func(f memory.Forgetting) events {
		f.Guild = cmp.Or(f.Guild, guild)
		return events{completed(f)}
	}
	all := []testCase{}
	for _, c := range []struct {
		what         string
		happens      events
		became, late string
	}{
		{"nothing", nil, stays, stays},
		{"a message that it wasn't made from", events{deletes(staff, id(2))}, stays, stays},
		{"a star", events{stars(staff, id(1), true, 1)}, stays, stays},
		{"a source that it repeats", events{deletes(staff, id(1))}, withdrawn, withdrawn},
		{"a source that it was shown only", events{deletes(staff, id(3))}, gone, gone},
		{"two sources at once", events{deletes(staff, id(3), id(1))}, withdrawn, withdrawn},
		{"its question", events{deletes(general, id(10))}, unasked, withdrawn},
		{"what a source said", events{edits(said(staff, id(1), ben, ""), 9, "the ferry leaves at two")},
			withdrawn, withdrawn},
		{"what a source said, told as a whole",
			events{post(edited(said(staff, id(1), ben, ""), 9, "the ferry leaves at two"))},
			withdrawn, withdrawn},
		{"an edit that changes nothing",
			events{edits(said(staff, id(1), ben, ""), 9, "the ferry leaves at noon")}, stays, withdrawn},
		{"what its question said", events{edits(said(general, id(10), ada, ""), 9, "when?")}, withdrawn, withdrawn},
		{"an answer of Hark's that grows", events{edits(said(general, id(4), hark, ""), 9, "At noon")}, bare, bare},
		{"an answer of Hark's", events{deletes(general, id(4))}, withdrawn, withdrawn},
		{"an answer of Hark's that is written anew",
			anew(memory.Trace{Guild: guild, Channel: general, Answer: id(4)}, 9, "At two"),
			bare, gone},
		{"a fact", events{memory.FactGone{Guild: guild, User: ben, Fact: 5}}, withdrawn, withdrawn},
		{"a fact that it didn't use, or of another guild", events{memory.FactGone{Guild: village, User: ben, Fact: 5},
			memory.FactGone{Guild: guild, User: ben, Fact: 6}}, stays, stays},
		{"a fact that is told anew", events{facts(ben, 5, "used to sail")}, bare, stays},
		{"lore", events{memory.LoreGone{Guild: guild, ID: 1}}, withdrawn, withdrawn},
		{"other lore", events{memory.LoreGone{Guild: guild, ID: 2}}, stays, stays},
		{"lore that is changed", events{tells(note(1, ada, general, 2))}, withdrawn, withdrawn},
		{"an older version of lore", events{tells(note(1, ada, general, 0))}, stays, stays},
		{"a summary that makes room", events{memory.Summarised{Guild: guild, Channel: general, Until: id(8),
			Evicted: []memory.MessageID{id(6)}}},
			stays, withdrawn},
		{"a source of a summary", events{deletes(general, id(5))}, withdrawn, withdrawn},
		{"who asked", forgets(memory.Forgetting{User: ada}), withdrawn, withdrawn},
		{"somebody whom it names", forgets(memory.Forgetting{User: 503}), withdrawn, withdrawn},
		{"somebody whom it names, everywhere",
			forgets(memory.Forgetting{Guild: memory.Everywhere, User: 503}), withdrawn, withdrawn},
		{"somebody whom it names, who opts out", events{opts(503, true, 9)}, withdrawn, bare},
		{"somebody whom it names, but less than all of them",
			slices.Concat(forgets(memory.Forgetting{Guild: village, User: 503}),
				forgets(memory.Forgetting{User: 503, Channel: thread}),
				forgets(memory.Forgetting{User: 503, Before: began})), stays, stays},
		{"somebody else", forgets(memory.Forgetting{User: 505}), stays, stays},
		{"who wrote a source that it repeats, before a time",
			forgets(memory.Forgetting{User: ben, Before: id(2).Time()}), withdrawn, withdrawn},
		{"who wrote sources that it was shown only, before a time",
			forgets(memory.Forgetting{User: 504, Channel: staff, Before: id(9).Time()}), gone, gone},
		{"who wrote sources that it was shown only", forgets(memory.Forgetting{User: 504, Channel: staff}),
			withdrawn, gone},
		{"what is old", forgets(memory.Forgetting{Before: id(2).Time()}), withdrawn, withdrawn},
		{"a source's channel", forgets(memory.Forgetting{Channel: staff}), withdrawn, withdrawn},
		{"a source's channel, deleted",
			events{memory.ChannelDeleted{Guild: guild, Channel: staff, At: later}}, withdrawn, withdrawn},
		{"its guild", forgets(memory.Forgetting{}), withdrawn, gone},
		{"its first message", events{deletes(general, id(11))}, bare, stays},
		{"its further message", events{deletes(general, id(12))}, stays, stays},
		{"its further message and then its question",
			events{deletes(general, id(12)), deletes(general, id(10))}, unasked, withdrawn},
		{"its first message and then a source", events{deletes(general, id(11)), deletes(staff, id(1))},
			withdrawn, withdrawn},
		{"its first message and then its question",
			events{deletes(general, id(11)), deletes(general, id(10))}, unasked, withdrawn},
		{"a source that it was shown only and then one that it repeats",
			events{deletes(staff, id(3)), deletes(staff, id(1))}, withdrawn, withdrawn},
		{"a source that it was shown only and then its question",
			events{deletes(staff, id(3)), deletes(general, id(10))}, unasked, withdrawn},
		{"a source that it was shown only and then somebody whom it names", slices.Concat(events{deletes(staff, id(3))},
			forgets(memory.Forgetting{User: 503})), withdrawn, withdrawn},
		{"a source that it was shown only and then its channel", slices.Concat(events{deletes(staff, id(3))},
			forgets(memory.Forgetting{Channel: general})), withdrawn, gone},
	} {
		all = append(all, testCase{"what becomes of an answer with: " + c.what, nil, func(t *harness) {
			t.apply(append(slices.Clone(before), memory.Answered{Trace: trace})...)
			t.same("how it came about", got(memory.TraceOf(t.ctx, t.store, general, id(12)))(t).Total, time.Second)
			t.apply(c.happens...)
			t.becomes("the answer", c.became, trace)
			t.carryOut()
			t.compare()
			t.apply(memory.Answered{Trace: trace}) // repeated
		}}, testCase{"what becomes of an answer that was being written, with: " + c.what, nil, func(t *harness) {
			t.apply(append(slices.Clone(before), c.happens...)...)
			t.carryOut()
			t.apply(memory.Answered{Trace: trace})
			t.becomes("the answer", c.late, trace)
		}})
	}
	return slices.Concat(all, otherAnswerCases, traceCases)
}

var otherAnswerCases = []testCase{
	{"what was made from an answer goes with it, and is withdrawn if both repeat, or a whole person or channel goes", nil,
		func(t *harness) {
			t.answersTwofold(0)
			fromPart := t.madeOf(50, general, id(12), true)
			t.delete(staff, id(1))
			t.becomes("what was made from its second message", withdrawn, fromPart)
			for i, c := range []struct {
				by    func(memory.MessageID) memory.Event
				whole bool
			}{
				{func(at memory.MessageID) memory.Event { return deletes(staff, at) }, false},
				{func(at memory.MessageID) memory.Event { return edits(said(staff, at, ben, ""), 9, "no") }, false},
				{func(memory.MessageID) memory.Event {
					return memory.Forgetting{Guild: guild, Channel: staff, Before: id(301).Time(),
						Why: memory.WhyAge, At: later}
				}, false},
				{func(memory.MessageID) memory.Event {
					return memory.Forgetting{Guild: guild, User: ben, Why: memory.WhyAge, At: id(450).Time()}
				}, true},
				{func(memory.MessageID) memory.Event {
					return memory.ChannelDeleted{Guild: guild, Channel: staff, At: later}
				}, true},
			} {
				n := 100 * (i + 1)
				t.post(said(staff, id(n), ben, "the ferry leaves at noon"))
				silent, repeating := t.madeOf(n+10, staff, id(n), false), t.madeOf(n+11, staff, id(n), true)
				next, apart := t.madeOf(n+12, general, repeating.Answer, true),
					t.madeOf(n+13, general, silent.Answer, true)
				t.apply(c.by(id(n)))
				t.becomes("what repeats it", withdrawn, repeating, next)
				t.becomes("what doesn't", map[bool]string{true: withdrawn, false: gone}[c.whole], silent, apart)
			}
		}},
	{"an answer that was kept in Discord is no more there to withdraw once it is deleted or written anew",
		nil, func(t *harness) {
			t.answersTwofold(100)
			t.apply(deletes(staff, id(100)), deletes(general, id(111)), deletes(staff, id(101)))
			known := []memory.Withdrawn{{Guild: guild, Channel: general, Message: id(112), First: true}}
			t.same("withdrawn, of which the first message was deleted", t.withdrawn(), known)
			trace := t.answersTwofold(200)
			next := t.madeOf(240, general, trace.Answer, true)
			t.apply(deletes(staff, id(200)))
			t.apply(anew(trace, 500, "At one")...)
			known = append(known, memory.Withdrawn{Guild: guild, Channel: general, Message: id(212)})
			t.same("withdrawn, a part of which isn't written anew", t.withdrawn(), known)
			t.delete(staff, id(201)) // also a source of the answer made from it
			t.same("withdrawn", t.withdrawn(),
				append(known, memory.Withdrawn{Guild: guild, Channel: general, Message: next.Answer,
					First: true}))
		}},
	{"an answer being written while its source's author or a named person is forgotten goes from Discord", nil,
		func(t *harness) {
			t.post(said(staff, id(100), ada, "the code is 4711"))
			t.forget(memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyAge, At: id(105).Time()})
			for i, trace := range []memory.Trace{
				{Question: id(102), Sources: []memory.Source{shown(staff, id(100))}},
				{Named: []memory.UserID{ada}, Prompt: sent(id(103).Time(), "")},
				{Named: []memory.UserID{ada}, Prompt: sent(id(106).Time(), "")}, {Question: id(110),
					Sources: []memory.Source{shown(staff, id(100))}},
			} {
				trace.Guild, trace.Channel, trace.Answer, trace.Asker = guild, general, id(111+i), ben
				t.apply(post(said(general, trace.Answer, hark, "Ada says so")), memory.Answered{Trace: trace})
				t.becomes("it", []string{withdrawn, withdrawn, bare, gone}[i], trace)
			}
		}},
	{"answers are withdrawn, the oldest first, until Discord shows it", nil, func(t *harness) {
		trace := t.answersTwofold(100)
		t.delete(staff, id(101))
		part := memory.Withdrawn{Guild: guild, Channel: general, Message: id(112)}
		t.same("the oldest one", got(t.store.Withdrawn(t.ctx, 1))(t),
			[]memory.Withdrawn{{Guild: guild, Channel: general, Message: trace.Answer, First: true}})
		t.apply(memory.Marked{Channel: general, Message: trace.Answer},
			memory.Marked{Channel: staff, Message: part.Message})
		t.same("after one was marked", t.withdrawn(), []memory.Withdrawn{part})
		t.forget(memory.Forgetting{Guild: guild, Channel: staff})
	}},
	{"an answer that went with a source is written anew, and one that was deleted isn't", nil, func(t *harness) {
		trace := t.answersTwofold(100)
		trace.Question = id(110)
		t.apply(edits(said(general, id(110), ben, ""), 1, "which code?"))
		again, next := post(edited(said(general, trace.Answer, hark, ""), 3, "4711")), trace
		next.Parts, next.Sources = nil, []memory.Source{repeated(general, id(110), minute(1).UnixMilli()),
			trace.Sources[2]}
		t.apply(again, memory.Answered{Trace: next})
		t.becomes("nobody said that it was written anew", withdrawn, trace)
		rewritten := memory.Rewritten{Guild: guild, Channel: general, IDs: append(trace.Parts, trace.Answer)}
		for range 2 {
			t.apply(rewritten, again, memory.Answered{Trace: next})
			t.becomes("written anew", bare, next)
			t.compare()
		}
		t.apply(rewritten, memory.Answered{Trace: next}, deletes(staff, id(101)))
		t.becomes("with a source", withdrawn, next)
		t.apply(rewritten)
		t.same("withdrawn once it is written anew", len(t.withdrawn()), 0)
		t.apply(again, memory.Answered{Trace: next}) // a source of it is gone
		t.becomes("made from what is gone", withdrawn, next)
		t.apply(deletes(general, trace.Answer), rewritten, again)
		t.same("once it is deleted", t.around(general, []memory.MessageID{trace.Answer}, 0, 0), []memory.Message(nil))
	}},
	{"when an answer is written anew, other answers stay, and what else was made from it goes", nil, func(t *harness) {
		trace := t.answersTwofold(100)
		other, next, fromPart := t.madeOf(200, general, trace.Question, true),
			t.madeOf(201, general, trace.Answer, true),
			t.madeOf(202, general, trace.Parts[0], true)
		last := t.madeOf(203, general, next.Answer, true)
		sum := summed(general, trace.Answer, 1, trace.Question, trace.Answer)
		t.apply(tells(note(1, ben, general, 1, spot(general, trace.Answer))),
			tells(note(2, ben, general, 1)), sums(0, sum),
			condenses(general, "It is 4711.", 1, trace.Question, trace.Answer), facts(ben, 3, "asks",
				spot(general, trace.Answer)))
		for name, of := range map[string][2]memory.MessageID{"of-it": {trace.Question, trace.Answer},
			"of-none":   {trace.Question},
			"of-a-part": {trace.Question, trace.Parts[0]}} {
			e := called(name, general, of[0], ada, 10)
			e.Record.Answer = of[1]
			t.apply(e)
		}
		lore, fromSum := t.answers(204, loreSource(1)), t.answers(205, summarySource(sum))
		t.apply(anew(trace, 3, "4711")...)
		t.becomes("what was made of lore from it", gone, lore)
		t.becomes("answers", bare, other, next, fromPart, last, fromSum)
		t.same("what is left", []int{len(t.lore(guild)), len(t.summaries(general)), len(t.condensed(0)),
			len(t.records(memory.RecordQuery{Channels: []memory.ChannelID{general}}))}, []int{1, 0, 0, 1})
		t.compare()
		t.delete(staff, id(101)) // an earlier source
		t.becomes("answers that were made from it", withdrawn, next, fromPart, last, fromSum)
		t.becomes("written anew, and made from its question", bare,
			memory.Trace{Channel: general, Answer: trace.Answer},
			other)
	}},
	{"an answer made from a rewritten one is withdrawn if both repeat, even if its trace comes again", nil,
		func(t *harness) {
			for i, c := range []struct {
				first, second, again bool
				became               string
			}{
				{true, true, false, withdrawn}, {true, false, false, gone}, {false, true, false, gone},
				{true, true, true, withdrawn}} {
				n := 100 + 10*i
				t.post(said(staff, id(n), ben, "the ferry leaves at noon"))
				from := t.madeOf(n+1, staff, id(n), c.first)
				made := t.madeOf(n+2, general, from.Answer, c.second)
				t.apply(anew(from, 3, "At one")...)
				if again, _ := t.trace(general, made.Answer); c.again {
					t.apply(memory.Answered{Trace: again})
				}
				t.becomes("before", bare, made, from)
				t.delete(staff, id(n))
				t.becomes("what it was made from went", c.became, made)
			}
		}},
	{"an answer that was being made from one that was written anew goes when its trace comes", nil, func(t *harness) {
		trace := t.answers(100)
		t.apply(anew(trace, 3, "At one")...)
		repeats := func(n, minutes int) memory.Trace {
			return t.answers(n, repeated(general, trace.Answer, minute(minutes).UnixMilli()))
		}
		t.becomes("made from what it was", gone, t.madeOf(200, general, trace.Answer, true))
		kept := repeats(201, 3)
		t.apply(edits(said(general, trace.Answer, hark, ""), 4, "At one."))
		t.becomes("made from what it is, or was before it has grown", bare, kept, repeats(202, 3))
		t.apply(anew(trace, 4, "At one.")...)
		t.becomes("made from the same as before", bare, kept, repeats(203, 4))
		t.apply(memory.Rewritten{Guild: guild, Channel: general, IDs: []memory.MessageID{trace.Answer}})
		t.becomes("made from what nothing tells how it came about", gone, repeats(204, 4))
	}},
}
