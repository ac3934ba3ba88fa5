package memorytest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"hark/memory"
)

var derivedCases = []testCase{
	{"lore is told, changed and taken away for good", steps{post(first),
		tells(note(7, ada, general, 1, spot(general, first.ID))), tells(note(3, 0, 0, 1)),
		tells(note(7, ben, square, 1)),
		tells(note(7, ada, staff, 3)), tells(note(7, ben, general, 2)), memory.LoreGone{Guild: guild, ID: 7},
		memory.LoreGone{Guild: guild, ID: 11}, tells(note(7, ada, general, 9)), tells(note(11, ada, general, 9)),
	}, func(t *harness) {
		t.same("what stays", append(t.lore(guild), t.lore(village)...),
			[]memory.Lore{note(3, 0, 0, 1), note(7, ben, square, 1)})
	}},
	{"lore goes with any of its sources, and when the text of one changes, whichever comes first", steps{
		post(first), post(second), post(said(staff, first.ID, ada, "two")),
		tells(note(1, ben, general, 1, spot(general, first.ID), spot(staff, first.ID))),
		tells(note(2, ben, general, 1, spot(staff, first.ID))),
		tells(note(3, ben, general, 1, spot(general, second.ID))),
		tells(note(4, ben, general, 1)), deletes(general, first.ID), edits(second, 5, "changed"),
		stars(staff, first.ID, true, 1), tells(note(6, ben, general, 1, spot(general, first.ID))),
		tells(note(1, ben, general, 9)),
	}, func(t *harness) {
		t.same("what is left", len(t.lore(guild)), 2)
	}},
	{"summaries are kept by channel, of each the last version, and what made room may come again", steps{
		post(first), post(second), post(said(general, id(9), ben, "nine")),
		sums(0, summed(general, id(2), 1, id(1), id(2))), sums(id(2), summed(general, id(9), 3, id(9))),
		sums(0, summed(general, id(2), 5, id(2))), sums(0, summed(general, id(2), 1, id(1), id(2))),
		deletes(general, id(1)), memory.Summarised{Guild: guild, Channel: general, After: id(9), Until: id(10),
			Evicted: []memory.MessageID{id(2), id(77)}}, sums(0, summed(general, id(2), 5, id(2))),
	}, func(t *harness) {
		t.same("what is there", t.summaries(general), []memory.Summary{summed(general, id(2), 5, id(2)),
			summed(general, id(9), 3, id(9))})
	}},
	{"what can't be is refused, and other cleaned", steps{post(first)}, func(t *harness) {
		l, s, c := note(1, ada, general, 1), summed(general, id(1), 1, id(1)), condenses(general, "one", 1, id(1))
		l.Name, s.Text, c.Condensed.Text = " ", " ", " "
		t.refused(tells(l), sums(0, s), c)
		for _, invalidate := range []func(*memory.Summarised){
			func(e *memory.Summarised) { e.Until++ }, func(e *memory.Summarised) { e.Channel = staff },
			func(e *memory.Summarised) { e.Channel, e.Summary.Channel = 0, 0 },
		} {
			e := sums(0, summed(general, id(1), 1, id(1)))
			invalidate(&e)
			t.refused(e)
		}
		for _, invalidate := range []func(*memory.Record){
			func(r *memory.Record) { r.CallID = "" }, func(r *memory.Record) { r.Channel = 0 },
		} {
			e := called("a", general, 0, ada, 1)
			invalidate(&e.Record)
			t.refused(e)
		}
		l.Name, l.Text, s.Text, c.Condensed.Text = "X", "clean\x00\xff", "clean\x00\xff", "clean\x00\xff "
		s.Topics = []string{" Ferry\x00  Boats", "ferry boats", ""}
		t.apply(tells(l), sums(0, s), c)
		t.same("cleaned", []any{t.lore(guild)[0].Text, t.summaries(general)[0].Text, t.summaries(general)[0].Topics,
			t.condensed(0)[0].Text}, []any{"clean\uFFFD", "clean\uFFFD", []string{"ferry boats"}, "clean\uFFFD"})
	}},
	{"a summary goes with any of its sources, and when the text of one changes, and is to be made again", steps{
		post(first), post(second), post(said(general, id(9), ben, "nine")),
		sums(0, summed(general, id(2), 1, id(1), id(2))), sums(id(2), summed(general, id(9), 1, id(9))), again(),
		stars(general, id(1), true, 1), deletes(general, id(1)), again(id(2)),
		post(edited(said(general, id(9), ben, ""), 5, "changed")), again(id(2), id(9)),
		sums(0, summed(general, id(2), 9, id(2))), memory.Summarised{Guild: guild, Channel: general, After: id(2),
			Until: id(9)}, memory.Summarised{Guild: guild, Channel: general, Until: id(2)}, again(),
		deletes(general, id(2)), again(id(2)),
		memory.Summarised{Guild: guild, Channel: general, Until: id(2)}, again(),
	}, nil},
	{"a summary isn't kept if a source has changed or gone while it was made, nor makes anything room for it",
		steps{
			post(first), post(second), post(edited(said(general, id(3), ada, "three"), 1, "3")),
			sums(0, summed(general, id(3), 1, id(1), id(3))), again(id(3)), // of an earlier text
			sums(0, summed(general, id(3), 1, id(1), id(1)+1)), again(id(3)), // of a missing message
			deletes(general, id(2)), sums(0, summed(general, id(3), 1, id(1), id(2))),
			current, again(), sums(0, summed(general, id(3), 9, id(1), id(2))),
			post(said(general, id(4), ada, "four")), memory.Summarised{Guild: guild, Channel: general, After: id(3),
				Until: id(4), Evicted: []memory.MessageID{id(3)}, Summary: late()},
		}, func(t *harness) {
			t.same("which one stays", t.summaries(general), []memory.Summary{*current.Summary})
		}},
	{"what was said since is to be summed up",
		steps{post(first), post(second), post(said(staff, id(1), ada, "three")),
			post(notice(id(5))), memory.Summarised{Guild: guild, Channel: general, Until: id(1)},
			memory.Summarised{Guild: guild, Channel: staff, Until: id(7)},
			memory.Summarised{Guild: guild, Channel: staff, Until: id(3)},
			memory.Summarised{Guild: guild, Channel: nowhere, Until: id(3)}, post(said(staff, id(6), ada, "late")),
			post(said(staff, id(8), ada, "new")),
		}, func(t *harness) {
			for _, since := range []memory.MessageID{0, id(900)} { // at any age
				t.same("what is new", t.unsummarised(since),
					[]memory.Stretch{{Guild: guild, Channel: general, After: id(1),
						Until: id(2)}, {Guild: guild, Channel: staff, After: id(7), Until: id(8)}})
			}
		}},
	{"a condensed session is kept by channel, the last version, until a source goes or changes or it is over", steps{
		post(first), post(second), post(said(thread, id(1), ben, "four")),
		condenses(thread, "Ben: four.", 1, id(1)),
		condenses(general, "Ada and Ben.", 2, id(1), id(2)), condenses(general, "Ada.", 1, id(1)),
		condenses(nowhere, "nobody", 1, id(1)), stars(general, id(1), true, 1),
		condensed("Ada and Ben.", "Ben: four."),
		func(t *harness) { t.same("of one", len(t.condensed(thread)), 1) },
		deletes(general, id(1)), condenses(general, "Ada and Ben.", 2, id(1), id(2)), condensed("Ben: four."),
		condenses(general, "Ben.", 3, id(2)), condensed("Ben.", "Ben: four."), post(edited(second, 5, "changed")),
		condenses(general, "Ben, before.", 4, id(2)), condensed("Ben: four."), now(),
		memory.CondensedGone{Guild: guild, Channel: general, Until: id(2) - 1},
		memory.CondensedGone{Guild: guild, Channel: staff, Until: id(9)}, condensed("Ben, now.", "Ben: four."),
		memory.CondensedGone{Guild: guild, Channel: general, Until: id(2)}, condensed("Ben: four."),
	}, nil},
	{"records are found by where, when, who and what", nil, func(t *harness) {
		t.settle()
		t.apply(everything()...)
		own := called("own", general, 0, ada, 100)
		own.Record.Speaker, own.Record.Method = memory.SpeakerUser, "ask"
		t.apply(own)
		at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
		here := []memory.ChannelID{general}
		for _, c := range []struct {
			q    memory.RecordQuery
			want string
		}{
			{memory.RecordQuery{}, ""}, {memory.RecordQuery{Channels: here}, "g b own a"},
			{memory.RecordQuery{Channels: here, Oldest: true, Limit: 2}, "a own"},
			{memory.RecordQuery{Channels: []memory.ChannelID{general, staff}, Since: at(101), Until: at(106)},
				"c b"},
			{memory.RecordQuery{Channels: here, Since: at(101).Add(1), Limit: 9}, "g"},
			{memory.RecordQuery{Channels: here, Until: at(100).Add(1)}, "own a"},
			{memory.RecordQuery{Channels: here, Speaker: memory.SpeakerUser}, "own"},
			{memory.RecordQuery{Channels: here, Method: "search_memory", Asker: ada}, "a"},
		} {
			t.same(fmt.Sprintf("records for %+v", c.q), t.calls(c.q), c.want)
		}
		for _, l := range []struct {
			limits memory.RecordLimits
			want   string
		}{
			{memory.RecordLimits{Count: 4, Before: at(100)}, "g b own a"},
			{memory.RecordLimits{Count: 3}, "g b own"},
			{memory.RecordLimits{Before: at(101)}, "g b"},
		} {
			t.expire(memory.Expiry{Records: l.limits})
			t.same(fmt.Sprintf("records after %+v", l.limits), t.calls(memory.RecordQuery{Channels: here}), l.want)
		}
	}},
	{"records come back as they were told, of two with one name the first", nil,
		func(t *harness) {
			e := called("a", general, 0, ada, 1)
			e.Record.Timestamp = began.Add(1234567 * time.Nanosecond).In(time.FixedZone("", 3600))
			e.Record.Args = []any{id(5), 1.5, nil, true, []string{"newest"}}
			e.Record.Kwargs = map[string]any{"text": map[string]int{"chars": 12, "words": 3}, "nothing": func() {}}
			e.Record.More = map[string]json.RawMessage{"weather": json.RawMessage(`{"n":1e3}`)}
			want := got(e.Record.Checked())(t)
			t.apply(e, e, called("a", general, 0, ada, 0))
			t.same("what was told", t.records(memory.RecordQuery{Channels: []memory.ChannelID{general}}),
				[]memory.Record{want})
		}},
	{"a record goes with its question and answer, and when its question changes, not when its answer grows", steps{
		post(first), post(second), post(said(general, id(3), hark, "so")), answering("a", id(1), 0),
		answering("b", id(2), id(3)), answering("c", 0, id(3)),
		edits(said(general, id(3), hark, ""), 9, "so I heard"),
		calls("a b c"), edits(second, 9, "never mind"), calls("a c"), deletes(general, id(1)),
		answering("a", id(1), 0),
		calls("c"), deletes(general, id(3)), calls(""),
	}, func(t *harness) {
		trace := t.answersTwofold(100)
		t.apply(answering("d", trace.Question, trace.Answer))
		calls("d")(t)
		t.delete(staff, id(101))
		calls("")(t)
	}},
	{"a record goes with all of somebody whom it names, and none is kept of who has opted out", nil,
		func(t *harness) {
			t.settle()
			var all events
			for name, channel := range map[string]memory.ChannelID{"h": general, "i": square, "j": local} {
				e := called(name, channel, 0, ben, 200)
				e.Record.Kwargs = map[string]any{"who": map[string]any{"user": "<@503>"}}
				all = append(all, e)
			}
			t.apply(all...)
			calls := func(what string, want int) {
				t.Helper()
				t.same(what, len(t.records(memory.RecordQuery{Channels: []memory.ChannelID{general, square,
					local}})), want)
			}
			t.forget(memory.Forgetting{Guild: guild, User: 503, Channel: general})
			t.forget(memory.Forgetting{Guild: guild, User: 50, Why: memory.WhyMember})
			calls("with others forgotten", 3)
			t.forget(memory.Forgetting{Guild: guild, User: 503, Why: memory.WhyMember})
			t.apply(all...)
			calls("without 503", 1)
			t.apply(memory.Opted{Guild: village, User: 503, Out: true, At: later})
			late := called("k", square, 0, ben, 2000*3600)
			late.Record.Args = []any{memory.UserID(503)}
			late.Record.Kwargs = map[string]any{"user": memory.UserID(503)}
			t.apply(late)
			calls("once 503 is out", 0)
			mine := called("l", general, 0, ben, 2000*3600)
			t.apply(opts(ben, true, 1), mine)
			calls("of who is out", 0)
			t.apply(opts(ben, false, 2), mine)
			calls("of who is in again", 1)
		}},
	{"the key of fingerprints stays the same", nil, func(t *harness) {
		key := got(t.store.FingerprintKey(t.ctx))(t)
		t.same("its length", len(key), memory.FingerprintKeyBytes)
		t.forget(memory.Forgetting{Guild: memory.Everywhere})
		t.same("the key, though all is forgotten", got(t.store.FingerprintKey(t.ctx))(t), key)
	}},
}

func tells(l memory.Lore) memory.LoreTold { return memory.LoreTold{Lore: l} }

func answering(name string, question, answer memory.MessageID) memory.Recorded {
	e := called(name, general, question, ada, 10)
	e.Record.Answer = answer
	return e
}

// notice is a notice of Discord's in general.
func notice(id memory.MessageID) memory.Message {
	m := said(general, id, 0, "the boiler was serviced")
	m.Kind = memory.FromSystem
	return m
}

var current = func() memory.Summarised {
	s := summed(general, id(3), 1, id(3))
	s.Sources[0].Edited = minute(1).UnixMilli()
	return sums(0, s)
}()

func late() *memory.Summary {
	s := summed(general, id(4), 9, id(2), id(4))
	return &s
}

// now condenses the edited version of second.
func now() memory.SessionCondensed {
	e := condenses(general, "Ben, now.", 6, id(2))
	e.Condensed.Sources[0].Edited = minute(5).UnixMilli()
	return e
}

// again fails the test unless exactly the summaries of general with these ids must be made again.
func again(want ...memory.MessageID) func(*harness) {
	return func(t *harness) {
		t.Helper()
		var ids []memory.MessageID
		for _, s := range t.unsummarised(id(9000)) {
			if s.Again {
				ids = append(ids, s.Until)
			}
		}
		t.same("to be made again", ids, want)
	}
}

// condensed fails the test unless these are the condensed texts, by channel.
func condensed(want ...string) func(*harness) {
	return func(t *harness) {
		t.Helper()
		var texts []string
		for _, c := range t.condensed(0) {
			texts = append(texts, c.Text)
		}
		t.same("condensed", texts, want)
	}
}

// calls fails the test unless these are the names of general's records.
func calls(want string) func(*harness) {
	return func(t *harness) {
		t.Helper()
		here := memory.RecordQuery{Channels: []memory.ChannelID{general}, Oldest: true}
		t.same("records", t.calls(here), want)
	}
}

func (t *harness) calls(q memory.RecordQuery) string {
	t.Helper()
	var names []string
	for _, r := range t.records(q) {
		names = append(names, r.CallID)
	}
	return strings.Join(names, " ")
}
