package memorytest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"hark/memory"
)

var derivedPromises = []promise{
	{"lore is told, changed and taken away for good", nil, func(t *trial) {
		tell := func(all ...memory.Lore) {
			for _, l := range all {
				t.apply(memory.LoreTold{Lore: l})
			}
		}
		sourced, operators, elsewhere := note(7, ada, general, 1, spot(general, first.ID)), note(3, 0, 0, 1),
			note(7, ben, square, 1)
		t.post(first)
		tell(sourced, operators, elsewhere)
		t.same("by id", t.lore(guild), []memory.Lore{operators, sourced})
		changed := note(7, ada, staff, 3)
		changed.Name, changed.Text, changed.Own = "Project Y", "is off", nil
		tell(changed, note(7, ben, general, 2), sourced)
		t.same("the last version by time", t.lore(guild), []memory.Lore{operators, changed})
		t.apply(memory.LoreGone{Guild: guild, ID: 7}, memory.LoreGone{Guild: guild, ID: 11})
		tell(note(7, ada, general, 9), note(11, ada, general, 9), sourced)
		t.same("what is gone stays gone, and so does what was gone before it came", t.lore(guild),
			[]memory.Lore{operators})
		t.same("elsewhere it stays", t.lore(village), []memory.Lore{elsewhere})
	}},
	{"lore that can't be is refused, and other cleaned", nil, func(t *trial) {
		for _, spoil := range []func(*memory.Lore){
			func(l *memory.Lore) { l.Name = " " }, func(l *memory.Lore) {
				l.Text = strings.Repeat("x", memory.MaxLoreText+1)
			},
			func(l *memory.Lore) { l.ID = 0 },
		} {
			l := note(1, ada, general, 1)
			spoil(&l)
			t.refused(memory.LoreTold{Lore: l})
		}
		l := note(1, ada, general, 1)
		l.Text = "clean\x00\xff"
		t.apply(memory.LoreTold{Lore: l})
		t.same("cleaned", t.lore(guild)[0].Text, "clean\uFFFD")
	}},
	{"lore goes with any of its sources, and when the text of one changes, whichever comes first",
		steps{post(first), post(second), post(said(staff, first.ID, ada, "two"))}, func(t *trial) {
			for i, sources := range [][]memory.Spot{{spot(general, first.ID), spot(staff, first.ID)},
				{spot(staff, first.ID)},
				{spot(general, second.ID)}, nil} {
				t.apply(memory.LoreTold{Lore: note(int64(i+1), ben, general, 1, sources...)})
			}
			t.apply(deletes(general, first.ID), edits(second, 5, "changed"), stars(staff, first.ID, true, 1),
				memory.LoreTold{Lore: note(6, ben, general, 1,
					spot(general, first.ID))}, memory.LoreTold{Lore: note(1, ben, general, 9)})
			t.same("what is left", len(t.lore(guild)), 2)
		}},
	{"summaries are kept by channel, of each the last version",
		steps{post(first), post(second), post(said(general, id(9), ben, "nine"))},
		func(t *trial) {
			one, other, next := summed(general, id(2), 1, id(1), id(2)), summed(general, id(9), 3, id(9)),
				summed(general, id(2), 5, id(2))
			next.Text, next.Topics, next.Kind, next.Model = "Ben: two", nil, memory.SummaryTalk, ""
			t.apply(sums(0, one), sums(id(2), other))
			t.same("in order of time", t.summaries(general), []memory.Summary{one, other})
			t.apply(sums(0, next), sums(0, one), deletes(general, id(1)))
			t.same("the last version by time, which has other sources", t.summaries(general),
				[]memory.Summary{next, other})
			t.apply(memory.Summarised{Guild: guild, Channel: general, After: id(9), Until: id(10),
				Evicted: []memory.MessageID{id(2), id(77)}})
			t.same("after one made room", t.summaries(general), []memory.Summary{other})
			t.apply(sums(0, next))
			t.same("what made room may come again", t.summaries(general), []memory.Summary{next, other})
		}},
	{"a summary that can't be is refused, and so is what a session can't be condensed to, and others are cleaned", steps{post(first)},
		func(t *trial) {
			for _, spoil := range []func(*memory.Summarised){
				func(e *memory.Summarised) { e.Summary.Text = " " },
				func(e *memory.Summarised) { e.Summary.Text = strings.Repeat("x", memory.MaxSummaryText+1) },
				func(e *memory.Summarised) { e.Summary.Kind = "poem" }, func(e *memory.Summarised) {
					e.Summary.Sources = nil
				},
				func(e *memory.Summarised) { e.Until++ }, func(e *memory.Summarised) { e.Channel = staff },
				func(e *memory.Summarised) { e.Channel, e.Summary.Channel = 0, 0 },
			} {
				e := sums(0, summed(general, id(1), 1, id(1)))
				spoil(&e)
				t.refused(e)
			}
			for _, spoil := range []func(*memory.Condensed){
				func(c *memory.Condensed) { c.Text = " " },
				func(c *memory.Condensed) { c.Text = strings.Repeat("x", memory.MaxCondensedText+1) },
				func(c *memory.Condensed) { c.Sources = nil }, func(c *memory.Condensed) { c.Until++ },
				func(c *memory.Condensed) { c.Channel = 0 }, func(c *memory.Condensed) { c.Made = time.Time{} },
				func(c *memory.Condensed) {
					for n := range memory.MaxCondensedSources {
						c.Sources = append(c.Sources, memory.SummarySource{Message: id(1) - memory.MessageID(n+1)})
					}
				},
			} {
				e := condenses(general, "one", 1, id(1))
				spoil(&e.Condensed)
				t.refused(e)
			}
			s := summed(general, id(1), 1, id(1))
			s.Text, s.Topics = "clean\x00\xff", []string{" Ferry\x00  Boats", "ferry boats", ""}
			t.apply(sums(0, s), condenses(general, "one\x00\xff ", 1, id(1)))
			t.same("cleaned", []any{t.summaries(general)[0].Text, t.summaries(general)[0].Topics,
				t.condensed(0)[0].Text},
				[]any{"clean\uFFFD", []string{"ferry boats"}, "one\uFFFD"})
		}},
	{"a summary goes with any of its sources, and when the text of one changes, and is to be made again",
		steps{post(first), post(second), post(said(general, id(9), ben, "nine")),
			sums(0, summed(general, id(2), 1, id(1), id(2))), sums(id(2), summed(general, id(9), 1, id(9))),
		}, func(t *trial) {
			again := func(what string, since memory.MessageID, want ...memory.Stretch) {
				t.Helper()
				t.same(what, t.unsummarised(since), want)
			}
			one, other := memory.Stretch{Guild: guild, Channel: general, Until: id(2), Again: true},
				memory.Stretch{Guild: guild, Channel: general, After: id(2), Until: id(9), Again: true}
			again("at first", 0)
			t.apply(stars(general, id(1), true, 1), deletes(general, id(1)))
			again("after a deletion", 0, one)
			t.post(edited(said(general, id(9), ben, ""), 5, "changed"))
			again("after an edit", id(9000), one, other)
			rest := summed(general, id(2), 9, id(2))
			t.apply(sums(0, rest), memory.Summarised{Guild: guild, Channel: general, After: id(2), Until: id(9)},
				memory.Summarised{Guild: guild, Channel: general, Until: id(2)})
			again("made again", 0)
			t.same("which one stays", t.summaries(general), []memory.Summary{rest})
			t.delete(general, id(2))
			again("with nothing left of it", 0, one)
			t.apply(memory.Summarised{Guild: guild, Channel: general, Until: id(2)})
			again("once that was seen", 0)
		}},
	{"a summary isn't kept if a source has changed or gone while it was made", steps{post(first), post(second),
		post(edited(said(general, id(3), ada, "three"), 1, "3"))}, func(t *trial) {
		for what, sources := range map[string][]memory.MessageID{"of an older text": {id(1), id(3)},
			"of what was never said": {id(1), id(1) + 1}} {
			t.apply(sums(0, summed(general, id(3), 1, sources...)))
			t.same(what, len(t.summaries(general)), 0)
			t.same(what+", to be made again", t.unsummarised(0),
				[]memory.Stretch{{Guild: guild, Channel: general, Until: id(3), Again: true}})
		}
		current := summed(general, id(3), 1, id(3))
		current.Sources[0].Edited = minute(1).UnixMilli()
		t.apply(deletes(general, id(2)), sums(0, summed(general, id(3), 1, id(1), id(2))), sums(0, current),
			sums(0, summed(general, id(3), 9, id(1), id(2))))
		t.same("which one stays", t.summaries(general), []memory.Summary{current})
		late := sums(id(3), summed(general, id(4), 9, id(2), id(4)))
		late.Evicted = []memory.MessageID{id(3)}
		t.apply(post(said(general, id(4), ada, "four")), late)
		t.same("nothing makes room for what isn't kept", t.summaries(general), []memory.Summary{current})
	}},
	{"what was said since is to be summed up", nil, func(t *trial) {
		notice := said(general, id(5), 0, "joined")
		notice.Kind = memory.FromSystem
		t.post(first, second, said(staff, id(1), ada, "three"), notice)
		rest := memory.Stretch{Guild: guild, Channel: general, After: id(1), Until: id(2)}
		t.same("all", t.unsummarised(0), []memory.Stretch{{Guild: guild, Channel: staff, Until: id(1)},
			{Guild: guild, Channel: general, Until: id(2)}})
		t.same("since then", t.unsummarised(id(2)),
			[]memory.Stretch{{Guild: guild, Channel: general, After: id(2) - 1, Until: id(2)}})
		t.apply(memory.Summarised{Guild: guild, Channel: general, Until: id(1)},
			memory.Summarised{Guild: guild, Channel: staff, Until: id(7)},
			memory.Summarised{Guild: guild, Channel: staff, Until: id(3)}, memory.Summarised{Guild: guild,
				Channel: nowhere, Until: id(3)})
		t.same("after some was, however long ago that is", t.unsummarised(id(900)), []memory.Stretch{rest})
		t.post(said(staff, id(6), ada, "late"), said(staff, id(8), ada, "new"))
		t.same("what is new", t.unsummarised(0),
			[]memory.Stretch{rest, {Guild: guild, Channel: staff, After: id(7), Until: id(8)}})
	}},
	{"what a session was condensed to is kept by channel, the last version, until a source goes or changes, or the session is over", steps{
		post(first), post(second), post(said(thread, id(1), ben, "four")), condenses(thread, "Ben: four.", 1, id(1)),
	}, func(t *trial) {
		text := func(what string, want ...string) {
			t.Helper()
			texts := []string{}
			for _, c := range t.condensed(0) {
				texts = append(texts, c.Text)
			}
			t.same(what, texts, want)
		}
		both := condenses(general, "Ada and Ben.", 2, id(1), id(2))
		t.apply(both, condenses(general, "Ada.", 1, id(1)), condenses(nowhere, "nobody", 1, id(1)),
			stars(general, id(1), true, 1))
		text("the last version by time, of each channel that is known", "Ada and Ben.", "Ben: four.")
		t.same("of one", len(t.condensed(thread)), 1)
		t.apply(deletes(general, id(1)), both)
		text("after a deletion", "Ben: four.")
		t.apply(condenses(general, "Ben.", 3, id(2)))
		text("made anew", "Ben.", "Ben: four.")
		t.apply(post(edited(second, 5, "changed")), condenses(general, "Ben, before.", 4, id(2)))
		text("after an edit", "Ben: four.")
		now := condenses(general, "Ben, now.", 6, id(2))
		now.Condensed.Sources[0].Edited = minute(5).UnixMilli()
		t.apply(now, memory.CondensedGone{Guild: guild, Channel: general, Until: id(2) - 1},
			memory.CondensedGone{Guild: guild, Channel: staff, Until: id(9)})
		text("after an earlier session's end", "Ben, now.", "Ben: four.")
		t.apply(memory.CondensedGone{Guild: guild, Channel: general, Until: id(2)})
		text("after its end", "Ben: four.")
	}},
	{"records are found by where, when, who and what", nil, func(t *trial) {
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
			{memory.RecordQuery{Channels: []memory.ChannelID{general, staff}, Since: at(101), Until: at(106)}, "c b"},
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
			{memory.RecordLimits{Count: 4, Before: at(100)}, "g b own a"}, {memory.RecordLimits{Count: 3}, "g b own"},
			{memory.RecordLimits{Before: at(101)}, "g b"},
		} {
			t.expire(memory.Expiry{Records: l.limits})
			t.same(fmt.Sprintf("records after %+v", l.limits), t.calls(memory.RecordQuery{Channels: here}), l.want)
		}
	}},
	{"records come back as they were told, of two with one name the first, and none that can't be", nil,
		func(t *trial) {
			for _, spoil := range []func(*memory.Record){
				func(r *memory.Record) { r.CallID = "" }, func(r *memory.Record) { r.Speaker = "somebody" },
				func(r *memory.Record) { r.Channel = 0 },
			} {
				e := called("a", general, 0, ada, 1)
				spoil(&e.Record)
				t.refused(e)
			}
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
	{"a record goes with its question and its answer, and when its question changes, and not when its answer grows",
		steps{post(first), post(second), post(said(general, id(3), hark, "so"))}, func(t *trial) {
			call := func(name string, question, answer memory.MessageID) {
				e := called(name, general, question, ada, 10)
				e.Record.Answer = answer
				t.apply(e)
			}
			calls := func(what, want string) {
				t.Helper()
				t.same(what, t.calls(memory.RecordQuery{Channels: []memory.ChannelID{general}, Oldest: true}), want)
			}
			call("a", id(1), 0)
			call("b", id(2), id(3))
			call("c", 0, id(3))
			t.apply(edits(said(general, id(3), hark, ""), 9, "so I heard"))
			calls("when an answer has grown", "a b c")
			t.apply(edits(second, 9, "never mind"))
			calls("when a question has changed", "a c")
			t.delete(general, id(1))
			call("a", id(1), 0)
			calls("without a question", "c")
			t.delete(general, id(3))
			calls("without an answer", "")
			trace := t.answersTwofold(100)
			call("d", trace.Question, trace.Answer)
			calls("of an answer", "d")
			t.delete(staff, id(101))
			calls("of an answer that lost a source", "")
		}},
	{"a record goes with all of somebody whom it names, and none is kept of who has opted out", nil, func(t *trial) {
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
			t.same(what, len(t.records(memory.RecordQuery{Channels: []memory.ChannelID{general, square, local}})), want)
		}
		t.forget(memory.Forgetting{Guild: guild, User: 503, Channel: general, Why: memory.WhyPurge, At: later})
		t.forget(memory.Forgetting{Guild: guild, User: 50, Why: memory.WhyMember, At: later})
		calls("with others forgotten", 3)
		t.forget(memory.Forgetting{Guild: guild, User: 503, Why: memory.WhyMember, At: later})
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
	{"the key of fingerprints stays the same", nil, func(t *trial) {
		key := got(t.store.FingerprintKey(t.ctx))(t)
		t.same("its length", len(key), memory.FingerprintKeyBytes)
		t.forget(memory.Forgetting{Guild: memory.Everywhere, Why: memory.WhyPurge, At: later})
		t.same("the key, though all is forgotten", got(t.store.FingerprintKey(t.ctx))(t), key)
	}},
}

// calls are the names of the records that q asks for.
func (t *trial) calls(q memory.RecordQuery) string {
	t.Helper()
	var names []string
	for _, r := range t.records(q) {
		names = append(names, r.CallID)
	}
	return strings.Join(names, " ")
}
