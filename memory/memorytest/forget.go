package memorytest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"hark/memory"
)

func notFound(err error) bool { return errors.Is(err, memory.ErrNotFound) }

// everything adds lore, summaries, a condensed session and records to the world of settle.
func everything() events {
	return events{threadOf(general, thread, 0, "thread"),
		sums(0, summed(general, id(2), 1, id(1), id(2))), sums(0, summed(staff, id(4), 1, id(3), id(4))),
		sums(0, summed(thread, id(5), 1, id(5))), condenses(staff, "Ben: dill", 1, id(4)),
		called("a", general, id(1), ada, 100), called("b", general, id(2), ben, 101),
		called("c", staff, id(3), ada, 102), called("d", thread, id(5), ada, 103),
		called("e", square, id(6), ada, 104), called("f", local, id(7), ada, 105), called("g", general, 0, ben, 106),
		tells(note(1, ada, general, 1)), tells(note(2, ben, general, 2)), tells(note(3, ada, staff, 2)),
		tells(note(4, ada, general, 3)), tells(note(5, ben, 0, 1)), tells(note(6, ada, thread, 1)),
		tells(note(7, ben, staff, 1, spot(general, id(1)))), tells(note(8, 0, 0, 2)),
		tells(note(9, ben, staff, 3000*60)),
	}
}

// left lists what is left of everything: messages, lore, summaries, records, and people with their facts.
func (t *harness) left() string {
	t.Helper()
	var line strings.Builder
	add := func(what any) { fmt.Fprintf(&line, "%v ", what) }
	for i, m := range scattered() {
		if len(t.around(m.Channel, []memory.MessageID{m.ID}, 0, 0)) > 0 {
			add(i + 1)
		}
	}
	add("|")
	for _, l := range t.lore(guild) {
		add(l.ID)
	}
	add("|")
	for _, c := range []memory.ChannelID{general, staff, thread} {
		for _, s := range t.summaries(c) {
			add(t.channel(s.Guild, c).Name)
		}
		for range t.condensed(c) {
			add("session")
		}
	}
	all := memory.RecordQuery{Channels: []memory.ChannelID{general, staff, thread, local, square}, Oldest: true}
	add("| " + t.calls(all) + " |")
	for _, where := range []memory.GuildID{guild, village} {
		for _, p := range t.people(where) {
			add(fmt.Sprintf("%s%d", p.Username, len(p.Facts)))
		}
	}
	return strings.TrimSpace(line.String())
}

func forgetCases() []testCase {
	var all []testCase
	for _, c := range []struct {
		what string
		f    memory.Forgetting
		left string
	}{
		{"nobody's", memory.Forgetting{Guild: guild, User: nobody},
			"1 2 3 4 5 6 7 8 | 1 2 3 4 5 6 7 8 9 | general staff session thread | a b c d e f g | ada1 ben2 ada1 ben1"},
		{"somebody's of a guild", memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember},
			"2 4 6 7 | 2 5 8 9 | session | b e f g | ben1 ada1 ben1"},
		{"somebody's everywhere", memory.Forgetting{Guild: memory.Everywhere, User: ada},
			"2 4 | 2 5 8 9 | session | b g | ben1 ben1"},
		{"somebody's of another guild", memory.Forgetting{Guild: village, User: ada},
			"1 2 3 4 5 7 8 | 1 2 3 4 5 6 7 8 9 | general staff session thread | a b c d f g | ada1 ben2 ben1"},
		{"somebody's of a channel", memory.Forgetting{Guild: guild, User: ada, Channel: staff},
			"1 2 4 5 6 7 8 | 1 2 4 5 6 7 8 9 | general session thread | a b d e f g | ada1 ben2 ada1 ben1"},
		{"somebody's before a time", memory.Forgetting{Guild: guild, User: ben, Before: id(3).Time()},
			"1 3 4 5 6 7 8 | 1 2 3 4 5 6 7 8 9 | staff session thread | a c d e f g | ada1 ben2 ada1 ben1"},
		{"somebody's of a channel before a time", memory.Forgetting{Guild: guild, User: ada, Channel: general,
			Before: id(8).Time()},
			"2 3 4 6 7 8 | 1 2 3 4 5 6 8 9 | staff session | b c e f g | ada1 ben1 ada1 ben1"},
		{"a channel with its threads", memory.Forgetting{Guild: guild, Channel: general},
			"3 4 6 7 | 3 5 8 9 | staff session | c e f | ada1 ben1 ada1 ben1"},
		{"a thread without its channel", memory.Forgetting{Guild: guild, Channel: thread},
			"1 2 3 4 6 7 8 | 1 2 3 4 5 7 8 9 | general staff session | a b c e f g | ada1 ben2 ada1 ben1"},
		{"a channel of another guild", memory.Forgetting{Guild: village, Channel: general},
			"1 2 3 4 5 6 7 8 | 1 2 3 4 5 6 7 8 9 | general staff session thread | a b c d e f g | ada1 ben2 ada1 ben1"},
		{"what was said before a time, and not at it", memory.Forgetting{Guild: guild, Before: id(4).Time(),
			Why: memory.WhyAge},
			"4 5 6 7 8 | 1 2 3 4 5 6 8 9 | session thread | d e f g | ada1 ben1 ada1 ben1"},
		{"what is old everywhere", memory.Forgetting{Guild: memory.Everywhere, Before: minute(3), Why: memory.WhyAge},
			"| 4 9 | |  | ada1 ben1 ada1 ben1"},
		{"what isn't said yet", memory.Forgetting{Guild: guild, Channel: general, Before: later, At: id(4).Time()},
			"3 4 5 6 7 8 | 1 2 3 4 5 6 8 9 | staff session thread | c d e f g | ada1 ben1 ada1 ben1"},
		{"a guild", memory.Forgetting{Guild: guild}, "6 7 | 9 | | e f | ada1 ben1"},
		{"a guild that was left", memory.Forgetting{Guild: guild, Why: memory.WhyLeft}, "6 7 | 9 | | e f | ada1 ben1"},
		{"all", memory.Forgetting{Guild: memory.Everywhere}, "| 9 | |  |"},
	} {
		c.f = completed(c.f)
		all = append(all, testCase{"what is forgotten stays gone, with what was made of it: " +
			c.what, nil, func(t *harness) {
			t.settle()
			t.apply(everything()...)
			r := t.forget(c.f)
			t.same("what is left", t.left(), c.left)
			if f := r.Forgetting; f.Guild != c.f.Guild || f.User != c.f.User || f.Channel != c.f.Channel ||
				f.Why != c.f.Why || !f.At.Equal(c.f.At) || (r.Segments == 0) != (r.Messages == 0) {
				t.Fatalf("the report is %+v", r)
			}
			t.compare()
			again := t.forget(c.f)
			t.same("messages, segments and vectors the second time",
				[]int{again.Messages, again.Segments, again.Vectors}, []int{0, 0, 0})
			for _, m := range scattered() {
				if t.post(m); len(t.around(m.Channel, []memory.MessageID{m.ID}, 0, 0)) == 0 {
					t.post(edited(m, 60, m.Content+" more"))
				}
			}
			t.apply(everything()...)
			seen := memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, Username: "ada"}, Said: id(1)}
			t.apply(facts(ada, int64(ada), "sails"), seen)
			t.same("what is left once all is told again", t.left(), c.left)
			t.embedAll()
			fresh := said(general, memory.FirstMessageID(later), ada, "ivy, said afterwards")
			t.post(fresh, said(thread, memory.FirstMessageID(later)-1, ada, "at the last moment"))
			t.same("what is said later", len(t.around(general, []memory.MessageID{fresh.ID}, 0, 0)), 1)
		}})
	}
	return append(all, otherForgetCases...)
}

var otherForgetCases = []testCase{
	{"a thread that is told of after its channel was forgotten belongs to it", steps{
		forgot(memory.Forgetting{Guild: guild, Channel: general}), threadOf(general, thread, 0, "thread"),
		post(said(thread, id(5), ada, "elderberries in a thread")),
		post(said(thread, memory.FirstMessageID(later)-1, ada, "at the last moment")),
	}, func(t *harness) { t.same("the log", t.log(thread), []memory.Message(nil)) }},
	{"the name of a channel that was deleted is gone, and those of its threads, and they don't come back",
		nil, func(t *harness) {
			opened, file := threadOf(general, thread, 0, "post"), memory.Channel{ID: general, Guild: guild,
				Name: "general", Unplaced: true}
			t.apply(seenTown, opened, memory.ChannelDeleted{Guild: guild, Channel: general, At: later})
			for range 2 {
				t.same("names", []string{t.channel(guild, general).Name, t.channel(guild, thread).Name,
					t.channel(guild, staff).Name},
					[]string{"", "", "staff"})
				inFile := opened
				inFile.Channel.Unplaced = true
				t.apply(inFile, memory.ChannelSeen{Channel: file}, opened,
					memory.ChannelSeen{Channel: town().Channels[0]})
			}
		}},
	{"a thread's name goes with whoever made it, and comes not back", nil, func(t *harness) {
		threads := events{threadOf(general, memory.ChannelID(id(1)), ada, "ada's"),
			threadOf(general, memory.ChannelID(id(2)), ben, "ben's"),
			threadOf(staff, memory.ChannelID(id(3)), ada, "ada's, elsewhere"),
			threadOf(general, memory.ChannelID(id(900)), ada, "ada's, later")}
		t.apply(seenTown)
		named := func(what string, want ...string) {
			t.Helper()
			t.apply(threads...)
			for range 2 {
				var names []string
				for _, c := range threads {
					names = append(names, t.channel(guild, c.(memory.ChannelSeen).Channel.ID).Name)
				}
				t.same(what, names, want)
				// the owner may be missing
				t.apply(threadOf(general, memory.ChannelID(id(1)), 0, "ada's"))
			}
		}
		at := func(f memory.Forgetting) { f.Guild, f.Channel, f.At = guild, general, id(500).Time(); t.forget(f) }
		named("told", "ada's", "ben's", "ada's, elsewhere", "ada's, later")
		at(memory.Forgetting{Why: memory.WhyPurge})
		named("what was said there was forgotten", "ada's", "ben's", "ada's, elsewhere", "ada's, later")
		at(memory.Forgetting{User: ada, Why: memory.WhyMember})
		named("forgotten in a channel", "", "ben's", "ada's, elsewhere", "ada's, later")
		t.apply(opts(ada, true, 10))
		named("out", "", "ben's", "", "")
		t.apply(opts(ada, false, 11))
		named("in again", "", "ben's", "", "ada's, later")
	}},
	{"a guild is forgotten with what was chosen in it, but not who opted out", steps{(*harness).settle,
		chose(0, memory.Remember, 0), opts(hark, true, 0), memory.Learn{Guild: guild, On: true, At: began},
		memory.Learn{Guild: guild, User: ada, On: true, At: began}, memory.Learn{Guild: village, On: true, At: began},
		memory.GapFound{Gap: memory.Gap{Guild: guild, Channel: staff, Until: id(9)}},
		forgot(memory.Forgetting{Guild: guild, Why: memory.WhyLeft}), func(t *harness) {
			t.same("opted out", got(memory.HasOptedOut(t.ctx, t.store, guild, hark))(t), true)
		}, memory.GuildSeen{Guild: town(), At: later.Add(time.Hour)}, person(ada, "Ada"),
		listens(later.Add(time.Hour), general),
	}, func(t *harness) {
		g := t.guild(guild)
		t.same("when it is seen again", []any{g.Choice, g.Learn.IsZero(), t.people(guild)[0].Learn.IsZero(),
			t.guild(village).Learn.IsZero()}, []any{memory.Undecided, true, true, false})
	}},
	{"a guild is forgotten but for Hark's own roles, as long as Hark is in it", steps{
		townWith(func(g *memory.Guild) { g.Self = hark }), person(ada, "Ada"), person(hark, "Hark"),
		forgot(memory.Forgetting{Guild: guild}),
		func(t *harness) { t.same("who is known", t.people(guild)[0].ID, hark) },
		forgot(memory.Forgetting{Guild: guild, Why: memory.WhyLeft, At: later.Add(time.Second)}),
	}, func(t *harness) { t.same("who is known once Hark has left", len(t.people(guild)), 0) }},
	{"a forgetting of less, later, lets nothing of an earlier one back", steps{
		forgot(memory.Forgetting{Guild: guild, Channel: general, Before: id(60).Time(), At: id(90).Time()}),
		forgot(memory.Forgetting{Guild: guild, Channel: general, Before: id(10).Time(), At: id(91).Time()}),
		forgot(memory.Forgetting{Guild: guild, Channel: general, Before: id(11).Time(), At: id(92).Time()}),
		post(said(general, id(50), ada, "gone")), post(said(general, id(70), ada, "stays")),
	}, func(t *harness) { t.same("the log", idsOf(t.log(general)), []memory.MessageID{id(70)}) }},
	{"nothing said before comes into a forgotten channel or guild, nor does an edit that overtook it", steps{
		seenTown, edits(first, 60, "overtook"), forgot(memory.Forgetting{Guild: guild, Channel: general}),
		forgot(memory.Forgetting{Guild: village, Before: later, Why: memory.WhyAge}),
		edits(second, 60, "an edit that overtook"), func(t *harness) { t.post(append(scattered(), first)...) },
	}, func(t *harness) {
		t.same("the logs", []int{len(t.log(general)), len(t.log(square)), len(t.log(staff)), len(t.log(local))},
			[]int{0, 0, 2, 1})
	}},
	{"what is carried out can be asked about again", nil, func(t *harness) {
		t.settle()
		r := t.forget(memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember})
		again := got(t.store.Forget(t.ctx, r.Forgetting, nil))(t)
		t.same("the report", again, r)
		for _, id := range []int64{r.Forgetting.ID + 1000, -1} {
			if _, err := t.store.Forget(t.ctx, memory.Forgetting{ID: id}, nil); !notFound(err) {
				t.Fatalf("forgetting %d: %v", id, err)
			}
		}
	}},
	{"a forgetting that hasn't begun forgets nothing", steps{post(first)}, func(t *harness) {
		ctx, cancel := context.WithCancel(t.ctx)
		cancel()
		f := memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: later}
		if _, err := t.store.Forget(ctx, f, nil); err == nil || len(t.unfinished()) > 0 {
			t.model.begin(f).done = err == nil
		}
	}},
	{"a forgetting that was broken off hides everything, and can be carried on", nil, brokenOff},
	{"what was said in a channel that is deleted is forgotten from then on", nil, func(t *harness) {
		t.settle()
		t.apply(everything()...)
		late := said(general, memory.FirstMessageID(later.Add(time.Hour)), ben, "late to be told of")
		gone := memory.ChannelDeleted{Guild: guild, Channel: general, At: later}
		t.apply(gone, post(late), post(first), gone, tells(note(12, ada, general, 9000*60)))
		unplaced(true, false, true)(t)
		const left = "3 4 6 7 | 3 5 8 9 | staff session | c e f | ada1 ben1 ada1 ben1"
		t.same("what is left", t.left(), left)
		t.compare()
		t.same("what was forgotten", t.carryOut()[0].Messages, 4)
		t.post(late, first)
		t.embedAll()
		t.same("what is left then", t.left(), left)
	}},
	{"what is said after Hark's answer was taken back with its channel's messages stays", steps{seenTown, post(first),
		post(second), func(t *harness) {
			t.apply(memory.Answered{Trace: memory.Trace{Guild: guild, Channel: general, Answer: second.ID,
				Question: first.ID, Sources: []memory.Source{first.AsSource(true)}}}, onRecord(time.Hour))
			late := said(general, memory.FirstMessageID(later), ben, "late")
			t.post(late)
			t.same("the log before", idsOf(t.log(general)), []memory.MessageID{late.ID})
			t.carryOut()
			t.same("the log after", idsOf(t.log(general)), []memory.MessageID{late.ID})
		}}, nil},
	{"what another store had on record is forgotten once, and stays so", steps{(*harness).settle, onRecord(time.Hour),
		onRecord(time.Hour), onRecord(2 * time.Hour), func(t *harness) {
			t.same("how much was forgotten", len(t.carryOut()), 1)
			t.post(scattered()...)
		}, onRecord(time.Hour),
	}, func(t *harness) {
		t.same("the log", len(t.log(general)), 0)
		t.same("unfinished", t.unfinished(), []memory.Forgetting(nil))
		t.refused(memory.Forgetting{Guild: guild, Why: memory.WhyPurge})
	}},
	{"nothing that is being forgotten is to be embedded",
		steps{seenTown, post(first), post(said(thread, id(2), ben, "barley")),
			post(said(staff, id(3), ben, "cinnamon"))}, func(t *harness) {
			before := t.pending()
			t.apply(memory.ChannelDeleted{Guild: guild, Channel: general, At: later})
			t.same("pending", len(t.pending()), 1)
			t.embedded(before) // like an indexer that read them earlier
			t.same("near", t.nearest(in(general, thread), "first barley", 5), []memory.VectorHit(nil))
			t.carryOut()
			t.embedAll()
			t.same("near elsewhere", len(t.nearest(in(staff, general, thread), "cinnamon", 5)), 1)
		}},
}

// onRecord forgets what was said in general until some time before later.
func onRecord(before time.Duration) memory.Forgetting {
	return memory.Forgetting{Guild: guild, Channel: general, Before: later.Add(-before), Why: memory.WhyPurge,
		At: later}
}

func brokenOff(t *harness) {
	const many = 1500
	var batch []memory.Message
	for i := range many {
		batch = append(batch, said(general, id(i*20), []memory.UserID{ada, ben, ben}[i%3], "tide"))
	}
	t.apply(seenTown)
	t.post(batch...)
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	f := memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: later}
	g := t.model.begin(f)
	_, err := t.store.Forget(ctx, f, func(int, int) { cancel() })
	if g.done = err == nil; g.done {
		return
	}
	t.compare() // it is hidden completely
	last := 0
	r, err := t.store.Forget(t.ctx, t.unfinished()[0], func(done, total int) {
		if done < last || done > total || total > many/3 {
			last = math.MaxInt
		}
		last = max(last, done)
	})
	if g.done = true; err != nil || last == math.MaxInt || r.Messages != many/3 {
		t.Fatalf("carrying out: %+v, %d done at last, %v", r, last, err)
	}
	if slices.ContainsFunc(t.pending(), func(s memory.Segment) bool { return len(s.Messages) == 0 }) {
		t.Fatalf("an empty segment is pending")
	}
}
