package memorytest

import (
	"slices"
	"time"

	"hark/memory"

	"pgregory.net/rapid"
)

// repeats posts an answer that is made from another message of general, as it is or was, and keeps its trace.
func (t *trial) repeats(n int, source memory.MessageID, version int64) memory.Trace {
	t.Helper()
	return t.answers(n, repeated(general, source, version))
}

// madeOf posts an answer that is made from a message, and keeps its trace.
func (t *trial) madeOf(n int, source memory.MessageID, channel memory.ChannelID, repeats bool) memory.Trace {
	t.Helper()
	from := repeated(channel, source, 0)
	from.Repeats = repeats
	return t.answers(n, from)
}

// anew writes an answer anew, so many minutes after the beginning.
func (t *trial) anew(trace memory.Trace, minutes int, content string) {
	t.Helper()
	again := edited(said(general, trace.Answer, hark, ""), minutes, content)
	again.Kind = memory.FromHark
	trace.Parts, trace.Recalled, trace.Sources = nil, nil, nil
	t.apply(memory.Rewritten{Guild: guild, Channel: general, IDs: []memory.MessageID{trace.Answer}}, memory.Posted{Message: again}, memory.Answered{Trace: trace})
}

// hasTrace fails the test unless the trace of an answer is there.
func (t *trial) hasTrace(what string, trace memory.Trace) {
	t.Helper()
	if _, ok := t.trace(general, trace.Answer); !ok {
		t.Fatalf("%s: the answer went", what)
	}
}

var rewritePromises = []promise{
	{"when an answer is written anew, other answers stay, and what else was made from it goes", func(t *trial) {
		trace := t.answered()
		other := t.repeats(13, trace.Question, 0)
		next, fromPart := t.repeats(20, trace.Answer, 0), t.repeats(21, trace.Parts[0], 0)
		last := t.repeats(22, next.Answer, 0)
		t.told(note(1, ben, general, 1, memory.Spot{Channel: general, Message: trace.Answer}), note(2, ben, general, 1))
		lore := t.answers(23, loreSource(1))
		sum := summed(trace.Answer, 1, trace.Question, trace.Answer)
		t.sums(0, sum)
		fromSum := t.answeredFrom(24, sum)
		t.condenses(condensedTo("It leaves at noon.", 1, trace.Question, trace.Answer))
		t.anew(trace, 3, "At one")
		t.same("the answer", textsOf(t.messages(general, trace.Answer, trace.Parts[0])), []string{"At one"})
		t.answerGone(lore) // which is gone
		t.same("withdrawn", t.withdrawn(), []memory.Withdrawn{{Guild: guild, Channel: general, Message: trace.Parts[0]}})
		t.same("lore", t.loreIDs(guild), []int64{2})
		t.same("summaries", t.summaryIDs(general), []memory.MessageID(nil))
		t.same("condensed", t.condensed(general), []memory.Condensed{})
		for what, stays := range map[string]memory.Trace{"made from the question": other, "made from it": next, "from a part that went": fromPart, "from what was made from it": last, "from a summary": fromSum} {
			t.hasTrace(what, stays)
		}
		t.delete(staff, id(1)) // which it was made from before
		for _, gone := range []memory.Trace{next, fromPart, last, fromSum} {
			t.answerGone(gone)
		}
		t.hasTrace("made from the question", other)
		t.same("the answer", textsOf(t.messages(general, trace.Answer)), []string{"At one"})
	}},
	{"what was made from an answer that was written anew is withdrawn if both repeat what went", func(t *trial) {
		for i, c := range []struct{ first, second, withdrawn bool }{{true, true, true}, {true, false, false}, {false, true, false}} {
			source := said(staff, id(100+10*i), ben, "the ferry leaves at noon")
			t.post(source)
			first := t.madeOf(101+10*i, source.ID, staff, c.first)
			second := t.madeOf(102+10*i, first.Answer, general, c.second)
			t.anew(first, 3, "At one")
			t.hasTrace("written anew", first)
			t.delete(staff, source.ID)
			t.answerGone(second)
			shown := slices.ContainsFunc(t.withdrawn(), func(w memory.Withdrawn) bool { return w.Message == second.Answer })
			t.same("withdrawn", shown, c.withdrawn)
		}
	}},
	{"what was made from an answer that was written anew stays when its trace is told again", func(t *trial) {
		source := said(staff, id(100), ben, "the ferry leaves at noon")
		t.post(source)
		first := t.madeOf(101, source.ID, staff, true)
		second := t.madeOf(102, first.Answer, general, true)
		t.anew(first, 3, "At one")
		again, _ := t.trace(general, second.Answer)
		t.keep(again)
		t.hasTrace("told again", second)
		t.delete(staff, source.ID)
		t.answerGone(second)
		t.same("withdrawn", len(t.withdrawn()), 1)
	}},
	{"an answer that was being made from one that was written anew goes when its trace comes", func(t *trial) {
		trace := t.answered()
		t.anew(trace, 3, "At one")
		t.answerGone(t.repeats(20, trace.Answer, 0))
		t.same("withdrawn", len(t.withdrawn()), 1) // the part that wasn't written anew
		now := began.Add(3 * time.Minute).UnixMilli()
		kept := t.repeats(21, trace.Answer, now)
		t.hasTrace("made from what it is now", kept)
		t.apply(memory.Edited{Guild: guild, Channel: general, ID: trace.Answer, Content: "At one.", At: began.Add(4 * time.Minute)})
		t.hasTrace("when it has grown since", t.repeats(22, trace.Answer, now))
		t.anew(trace, 4, "At one.")
		t.hasTrace("made from what it was", kept)
		t.hasTrace("made from the same as before", t.repeats(23, trace.Answer, began.Add(4*time.Minute).UnixMilli()))
		t.apply(memory.Rewritten{Guild: guild, Channel: general, IDs: []memory.MessageID{trace.Answer}})
		t.answerGone(t.repeats(24, trace.Answer, began.Add(4*time.Minute).UnixMilli())) // nothing tells how it came about
	}},
	{"the records of calls that came to an answer go when that is written anew", func(t *trial) {
		trace := t.answered()
		call := func(name string, answer memory.MessageID) memory.Record {
			r := call(name, general, 10, ada, 10)
			r.Answer = answer
			return r
		}
		t.called(call("of-it", trace.Answer), call("of-none", 0), call("of-a-part", trace.Parts[0]), call("of-another", id(30)))
		t.apply(memory.Rewritten{Guild: guild, Channel: general, IDs: append(trace.Parts, trace.Answer)})
		t.leaves("written anew", call("of-none", 0), call("of-another", id(30)))
		t.called(call("of-it-anew", trace.Answer))
		t.leaves("answered again", call("of-none", 0), call("of-another", id(30)), call("of-it-anew", trace.Answer))
	}},
}

// rewrite has Hark write one of its answers anew, which may be gone.
func (m *machine) rewrite(t *rapid.T) {
	if len(m.replies) == 0 {
		return
	}
	was := rapid.SampledFrom(m.replies).Draw(t, "reply")
	was.Recalled, was.Prompt = nil, nil
	was.Sources = was.Sources[:rapid.IntRange(1, len(was.Sources)).Draw(t, "sources")]
	if slices.ContainsFunc(was.Sources, func(s memory.Source) bool {
		return s.Kind == memory.SourceMessage && m.isUnknown(place{s.Channel, memory.MessageID(s.ID)})
	}) {
		return
	}
	m.answers++
	again := edited(said(was.Channel, was.Answer, hark, ""), m.answers, "so I hear now")
	again.Kind = memory.FromHark
	m.both(memory.Rewritten{Guild: was.Guild, Channel: was.Channel, IDs: []memory.MessageID{was.Answer}}, memory.Posted{Message: again}, memory.Answered{Trace: was})
}

// drawRepeated is an answer of before, as it was or is, among what another is made from; mostly none.
func (m *machine) drawRepeated(t *rapid.T) []memory.Source {
	if len(m.replies) == 0 || rapid.Bool().Draw(t, "nothing said before") {
		return nil
	}
	was := rapid.SampledFrom(m.replies).Draw(t, "said before")
	version := int64(0)
	if now, ok := m.model.message(place{was.Channel, was.Answer}); ok && rapid.IntRange(0, 3).Draw(t, "as it is now?") > 0 {
		version = editedAt(now)
	}
	return []memory.Source{repeated(was.Channel, was.Answer, version)}
}
