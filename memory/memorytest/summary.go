package memorytest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"hark/memory"
)

// summed is a summary of general up to a message, made so many minutes after the beginning from messages that were never
// edited.
func summed(until memory.MessageID, minutes int, sources ...memory.MessageID) memory.Summary {
	s := memory.Summary{
		ID: until, Guild: guild, Channel: general, Text: "Ada: the ferry leaves at noon", Topics: []string{"ferry", "noon"}, Kind: memory.SummaryFact,
		Made: began.Add(time.Duration(minutes) * time.Minute), Model: "toy",
	}
	for _, id := range sources {
		s.Sources = append(s.Sources, memory.SummarySource{Message: id})
	}
	return s
}

// sums tells of summaries, each of what was said in its channel after the message.
func (t *trial) sums(after memory.MessageID, all ...memory.Summary) {
	t.Helper()
	for _, s := range all {
		t.apply(memory.Summarised{Guild: s.Guild, Channel: s.Channel, After: after, Until: s.ID, Summary: &s})
	}
}

func (t *trial) summaries(channel memory.ChannelID) []memory.Summary {
	t.Helper()
	return plainSummaries(got(t.store.Summaries(t.ctx, channel))(t))
}

// summaryIDs are those of a channel's summaries.
func (t *trial) summaryIDs(channel memory.ChannelID) []memory.MessageID {
	t.Helper()
	var ids []memory.MessageID
	for _, s := range t.summaries(channel) {
		ids = append(ids, s.ID)
	}
	return ids
}

func (t *trial) unsummarised(since memory.MessageID) []memory.Stretch {
	t.Helper()
	return got(t.store.SummaryBacklog(t.ctx, since))(t)
}

// summedUp posts four messages of Ada's and Ben's to general and two to the thread, sums them up two at a time, and answers
// from the first summary.
func (t *trial) summedUp() (first, second, third memory.Summary, trace memory.Trace) {
	t.Helper()
	t.apply(memory.GuildSeen{Guild: town(), At: began},
		memory.ChannelSeen{Channel: memory.Channel{ID: thread, Guild: guild, Parent: general, Kind: memory.PublicThread, Name: "thread"}})
	t.post(said(general, id(1), ada, "one"), said(general, id(2), ben, "two"), said(general, id(101), ben, "three"), said(general, id(102), ben, "four"),
		said(thread, id(201), ada, "five"), said(thread, id(202), ben, "six"))
	first, second, third = summed(id(2), 1, id(1), id(2)), summed(id(102), 3, id(101), id(102)), summed(id(202), 4, id(202))
	third.Channel = thread
	t.sums(0, first)
	t.sums(id(2), second)
	t.sums(0, third)
	return first, second, third, t.answeredFrom(300, first)
}

// answeredFrom posts an answer that used a summary, and keeps its trace. That tells of no other source, which an answer would go with.
func (t *trial) answeredFrom(n int, s memory.Summary) memory.Trace {
	t.Helper()
	return t.answersIn(guild, s.Channel, n, memory.Source{
		Kind: memory.SourceSummary, Channel: s.Channel, ID: int64(s.ID), Version: s.Made.UnixMilli(), Repeats: true,
	})
}

var summaryPromises = []promise{
	{"summaries are kept by channel, of each the last version", func(t *trial) {
		first, second, third, _ := t.summedUp()
		t.same("in order of time", t.summaries(general), []memory.Summary{first, second})
		t.same("elsewhere", t.summaries(thread), []memory.Summary{third})
		t.same("nowhere", t.summaries(nowhere), []memory.Summary(nil))
		next := summed(id(2), 5, id(2))
		next.Text, next.Topics, next.Kind, next.Model = "Ben: two", nil, memory.SummaryTalk, ""
		t.sums(0, next, first)
		t.same("the last version by time", t.summaries(general), []memory.Summary{next, second})
		t.delete(general, id(1))
		t.same("what isn't a source any more", t.summaries(general), []memory.Summary{next, second})
		t.apply(memory.Summarised{Guild: guild, Channel: general, After: id(102), Until: id(103), Evicted: []memory.MessageID{id(2), id(77)}})
		t.same("after one made room", t.summaries(general), []memory.Summary{second})
		t.sums(0, next)
		t.same("what made room may come again", t.summaries(general), []memory.Summary{next, second})
	}},
	{"a summary that can't be is refused", func(t *trial) {
		t.post(said(general, id(1), ada, "one"))
		for _, spoil := range []func(*memory.Summarised){
			func(e *memory.Summarised) { e.Summary.Text = " " },
			func(e *memory.Summarised) { e.Summary.Text = strings.Repeat("x", memory.MaxSummaryText+1) },
			func(e *memory.Summarised) { e.Summary.Kind = "poem" }, func(e *memory.Summarised) { e.Summary.Sources = nil },
			func(e *memory.Summarised) { e.Until++ }, func(e *memory.Summarised) { e.Channel = staff }, func(e *memory.Summarised) { e.Channel, e.Summary.Channel = 0, 0 },
		} {
			s := summed(id(1), 1, id(1))
			e := memory.Summarised{Guild: guild, Channel: general, Until: id(1), Summary: &s}
			spoil(&e)
			if err := t.store.Apply(t.ctx, e); !errors.Is(err, memory.ErrRefused) {
				t.Fatalf("%+v of %+v: %v", e, s, err)
			}
		}
		s := summed(id(1), 1, id(1))
		s.Text, s.Topics = "clean\x00\xff", []string{" Ferry\x00  Boats", "ferry boats", ""}
		t.sums(0, s)
		s.Text, s.Topics = "clean\uFFFD", []string{"ferry boats"}
		t.same("cleaned", t.summaries(general), []memory.Summary{s})
	}},
	{"a summary goes with any of its sources, and when the text of one changes, and is to be made again", func(t *trial) {
		_, second, _, trace := t.summedUp()
		t.same("what is to be summed up", t.unsummarised(0), []memory.Stretch(nil))
		t.apply(memory.Starred{Guild: guild, Channel: general, ID: id(1), On: true, At: later})
		t.delete(general, id(1))
		t.same("after a deletion", t.summaries(general), []memory.Summary{second})
		firstAgain := memory.Stretch{Guild: guild, Channel: general, Until: id(2), Again: true}
		t.same("to be made again", t.unsummarised(0), []memory.Stretch{firstAgain})
		t.answerGone(trace)
		t.post(edited(said(general, id(102), ben, "four"), 5, "changed"))
		t.same("after an edit", t.summaryIDs(general), []memory.MessageID(nil))
		t.same("to be made again", t.unsummarised(id(9000)), []memory.Stretch{firstAgain, {Guild: guild, Channel: general, After: id(2), Until: id(102), Again: true}})
		rest, nothing := summed(id(2), 9, id(2)), memory.Summarised{Guild: guild, Channel: general, After: id(2), Until: id(102)}
		t.sums(0, rest)
		t.apply(nothing)
		t.same("made again", t.summaries(general), []memory.Summary{rest})
		t.same("what is to be summed up still", t.unsummarised(0), []memory.Stretch(nil))
		t.apply(memory.Summarised{Guild: guild, Channel: general, Until: id(2)})
		t.same("which one stays", t.summaries(general), []memory.Summary{rest})
		t.delete(general, id(2))
		t.same("with nothing left of it", t.unsummarised(0), []memory.Stretch{firstAgain})
		t.apply(memory.Summarised{Guild: guild, Channel: general, Until: id(2)})
		t.same("once that was seen", t.unsummarised(0), []memory.Stretch(nil))
	}},
	{"a summary isn't kept if a source has changed or gone while it was made", func(t *trial) {
		t.post(said(general, id(1), ada, "one"), said(general, id(2), ada, "two"), edited(said(general, id(3), ada, "three"), 1, "3"))
		current := summed(id(3), 1, id(3))
		current.Sources[0].Edited = began.Add(time.Minute).UnixMilli()
		stretch := memory.Stretch{Guild: guild, Channel: general, Until: id(3), Again: true}
		for name, sources := range map[string][]memory.MessageID{"of an older text": {id(1), id(3)}, "of what was never said": {0: id(1), 1: id(1) + 1}} {
			t.sums(0, summed(id(3), 1, sources...))
			t.same(name, t.summaries(general), []memory.Summary(nil))
			t.same(name+", to be made again", t.unsummarised(0), []memory.Stretch{stretch})
		}
		t.delete(general, id(2))
		t.sums(0, summed(id(3), 1, id(1), id(2)))
		t.same("of what is gone", t.summaries(general), []memory.Summary(nil))
		t.sums(0, current)
		t.same("as it is", t.summaries(general), []memory.Summary{current})
		older := summed(id(3), 9, id(1), id(2))
		t.sums(0, older)
		t.same("which one stays", t.summaries(general), []memory.Summary{current})
		t.post(said(general, id(4), ada, "four"))
		late := summed(id(4), 9, id(2), id(4))
		t.apply(memory.Summarised{Guild: guild, Channel: general, After: id(3), Until: id(4), Summary: &late, Evicted: []memory.MessageID{id(3)}})
		t.same("nothing makes room for what isn't kept", t.summaries(general), []memory.Summary{current})
		t.apply(memory.Summarised{Guild: guild, Channel: general, After: id(3), Until: id(4)})
		t.same("what is to be summed up", t.unsummarised(0), []memory.Stretch(nil))
	}},
	{"what was said since is to be summed up", func(t *trial) {
		notice := said(general, id(5), 0, "joined")
		notice.Kind = memory.FromSystem
		t.post(said(general, id(1), ada, "one"), said(general, id(2), ada, "two"), said(staff, id(1), ada, "three"), notice)
		t.same("all", t.unsummarised(0), []memory.Stretch{{Guild: guild, Channel: staff, Until: id(1)}, {Guild: guild, Channel: general, Until: id(2)}})
		t.same("since then", t.unsummarised(id(2)), []memory.Stretch{{Guild: guild, Channel: general, After: id(2) - 1, Until: id(2)}})
		t.apply(memory.Summarised{Guild: guild, Channel: general, Until: id(1)}, memory.Summarised{Guild: guild, Channel: staff, Until: id(7)},
			memory.Summarised{Guild: guild, Channel: staff, Until: id(3)}, memory.Summarised{Guild: guild, Channel: nowhere, Until: id(3)})
		t.same("after some was", t.unsummarised(0), []memory.Stretch{{Guild: guild, Channel: general, After: id(1), Until: id(2)}})
		t.same("however long ago that is", t.unsummarised(id(900)), []memory.Stretch{{Guild: guild, Channel: general, After: id(1), Until: id(2)}})
		t.post(said(staff, id(6), ada, "late"), said(staff, id(8), ada, "new"))
		t.same("what is new", t.unsummarised(0)[1:], []memory.Stretch{{Guild: guild, Channel: staff, After: id(7), Until: id(8)}})
	}},
	{"no answer is kept of a summary that isn't there", func(t *trial) {
		first, second, _, _ := t.summedUp()
		kept := t.answeredFrom(301, second)
		t.apply(memory.Summarised{Guild: guild, Channel: general, After: id(102), Until: id(102), Evicted: []memory.MessageID{first.ID}})
		t.same("what stays", t.summaryIDs(general), []memory.MessageID{second.ID})
		t.answerGone(t.answeredFrom(303, first))
		second.Made = later
		t.answerGone(t.answeredFrom(304, second))
		if _, ok := t.trace(kept.Channel, kept.Answer); !ok {
			t.Fatalf("an answer went with another summary")
		}
	}},
}

// summaryForgottenPromises are one for each kind of forgetting.
func summaryForgottenPromises() []promise {
	var all []promise
	for name, c := range map[string]struct {
		f    memory.Forgetting
		stay []memory.MessageID // of general, then of the thread
		left int                // stretches to be summed up again
	}{
		"somebody":                    {memory.Forgetting{Guild: guild, User: ada}, []memory.MessageID{id(102), id(202)}, 1},
		"somebody everywhere":         {memory.Forgetting{Guild: memory.Everywhere, User: ben}, nil, 3},
		"somebody in another guild":   {memory.Forgetting{Guild: village, User: ada}, []memory.MessageID{id(2), id(102), id(202)}, 0},
		"somebody in a channel":       {memory.Forgetting{Guild: guild, User: ben, Channel: thread}, []memory.MessageID{id(2), id(102)}, 1},
		"a channel with its threads":  {memory.Forgetting{Guild: guild, Channel: general}, nil, 3},
		"what is old":                 {memory.Forgetting{Guild: guild, Before: id(101).Time().Add(time.Millisecond)}, []memory.MessageID{id(202)}, 2},
		"what somebody said long ago": {memory.Forgetting{Guild: guild, User: ben, Before: id(50).Time()}, []memory.MessageID{id(102), id(202)}, 1},
		"a guild":                     {memory.Forgetting{Guild: guild}, nil, 3},
		"a guild that was left":       {memory.Forgetting{Guild: guild, Why: memory.WhyLeft}, nil, 0},
	} {
		if c.f.At = later; c.f.Why == "" {
			c.f.Why = memory.WhyPurge
		}
		all = append(all, promise{"summaries are forgotten with their sources: " + name, func(t *trial) {
			first, second, third, _ := t.summedUp()
			r := t.forget(c.f)
			t.same("what stays", append(t.summaryIDs(general), t.summaryIDs(thread)...), c.stay)
			t.same("summaries in the receipt", r.Summaries, 3-len(c.stay))
			t.sums(0, first, second, third)
			t.same("what stays, told again", append(t.summaryIDs(general), t.summaryIDs(thread)...), c.stay)
			again := slices.DeleteFunc(t.unsummarised(0), func(s memory.Stretch) bool { return !s.Again })
			t.same("stretches to be summed up again", len(again), c.left)
		}})
	}
	return all
}
