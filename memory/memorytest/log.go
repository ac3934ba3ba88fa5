package memorytest

import (
	"context"
	"errors"
	"slices"
	"time"

	"hark/memory"
)

var logPromises = []promise{
	{"a message comes back as it was logged", func(t *trial) {
		m := memory.Message{
			ID: id(7), Guild: guild, Channel: general, Author: ada, Kind: memory.FromWebhook, Content: "grüße 你好 \u202e🎉",
			Files:  []memory.File{{Name: "plan.pdf", Description: "of the house"}, {Name: "b"}},
			Edited: began.Add(time.Hour + 7*time.Millisecond), ReplyTo: id(3), Mentions: []memory.UserID{ben, ada},
		}
		empty := said(general, id(8), ben, "")
		empty.Files = []memory.File{{Name: "only.png"}}
		before2015 := said(general, memory.FirstMessageID(time.Date(2009, 5, 1, 0, 0, 0, 0, time.UTC)), ada, "long ago")
		t.post(m, empty, before2015)
		t.same("the messages", t.messages(general, m.ID, empty.ID, before2015.ID), []memory.Message{before2015, m, empty})
	}},
	{"messages come by id, and ids that don't exist in the channel are passed over", func(t *trial) {
		a, b, other := said(general, id(1), ada, "one"), said(general, id(2), ben, "two"), said(staff, id(3), ben, "three")
		t.post(b, other, a)
		t.same("some ids", t.messages(general, id(2), id(9), id(3), id(1), id(2)), []memory.Message{a, b})
		t.same("no ids", t.messages(general), []memory.Message(nil))
		t.same("an unknown channel", t.messages(nowhere, id(1)), []memory.Message(nil))
	}},
	{"a stretch of a channel lies round each id, which needn't exist, each message once", func(t *trial) {
		var all []memory.Message
		for i := range 12 {
			all = append(all, said(general, id(i*10), ada, "word"))
		}
		t.post(all...)
		t.post(said(staff, id(55), ben, "elsewhere"))
		t.same("one id", t.around(general, []memory.MessageID{id(50)}, 2, 1), all[3:7])
		t.same("an id between", t.around(general, []memory.MessageID{id(55)}, 1, 1), all[5:7])
		t.same("at both ends", t.around(general, []memory.MessageID{id(0), id(110)}, 1, 1), []memory.Message{all[0], all[1], all[10], all[11]})
		t.same("overlapping", t.around(general, []memory.MessageID{id(40), id(20), id(40)}, 1, 1), all[1:6])
		t.same("beyond the end", t.around(general, []memory.MessageID{id(9000)}, 2, 2), all[10:])
		t.same("itself alone", t.around(general, []memory.MessageID{id(30)}, 0, 0), all[3:4])
		t.same("an unknown channel", t.around(nowhere, []memory.MessageID{id(30)}, 5, 5), []memory.Message(nil))
	}},
	{"the version changes with everything that is written", func(t *trial) {
		last := t.version()
		m := said(general, id(1), ada, "the kettle is on")
		star := memory.Starred{Guild: guild, Channel: general, ID: m.ID, On: true, At: began}
		for what, write := range []func(){
			func() { t.post(m) },
			func() { t.post(edited(m, 3, "the kettle boils")) },
			func() { t.apply(star) },
			t.embedAll,
			func() { t.apply(memory.PersonSeen{Person: memory.Person{ID: ben, Guild: guild, Nick: "Big Ben"}}) },
			func() { t.delete(general, m.ID) },
			func() { t.post(said(general, id(2), ben, "the kettle is off")) },
			func() {
				t.forget(memory.Forgetting{Guild: guild, User: ben, Why: memory.WhyMember, At: began.Add(24 * time.Hour)})
			},
		} {
			write()
			now := t.version()
			if now == last {
				t.Fatalf("write %d changes nothing", what)
			}
			last = now
			t.find(in(general), "kettle")
			t.nearest(in(general), "kettle", 5)
			t.guild(guild)
			if t.version() != last {
				t.Fatalf("after write %d, reading changes it", what)
			}
		}
	}},
	{"events may come twice", func(t *trial) {
		m := said(general, id(1), ada, "the kettle is on")
		t.post(m, m)
		t.post(m)
		t.same("the message", t.messages(general, m.ID), []memory.Message{m})
		t.same("found", t.find(in(general), "kettle"), []memory.MessageID{m.ID})
		t.same("presence", t.presence(in(general), ada), map[memory.UserID]memory.Presence{ada: {Messages: 1, Last: m.Time()}})
		t.delete(general, m.ID, m.ID)
		t.delete(general, m.ID)
		t.same("presence after deleting twice", t.presence(in(general), ada), map[memory.UserID]memory.Presence{})
	}},
	{"no event at all is nothing to fail at", func(t *trial) {
		t.apply()
		t.apply(memory.Deleted{Guild: guild, Channel: nowhere, IDs: nil})
	}},
	{"an older version never replaces a newer", func(t *trial) {
		first := said(general, id(1), ada, "seven o'clock")
		second, third := edited(first, 1, "eight o'clock"), edited(first, 2, "nine o'clock")
		third.Files = []memory.File{{Name: "clock.png"}}
		t.post(third)
		t.post(first, second)
		t.apply(memory.Edited{Guild: guild, Channel: general, ID: first.ID, Content: second.Content, At: second.Edited})
		t.same("the message", t.messages(general, first.ID), []memory.Message{third})
		t.same("found by the old words", t.find(in(general), "seven eight"), []memory.MessageID(nil))
	}},
	{"an edit that overtakes its message waits for it", func(t *trial) {
		m := said(general, id(1), ada, "the first text")
		late := edited(m, 2, "the second text")
		for _, content := range []string{"an earlier text", late.Content} {
			at := late.Edited
			if content != late.Content {
				at = at.Add(-time.Minute)
			}
			t.apply(memory.Edited{Guild: guild, Channel: general, ID: m.ID, Content: content, At: at})
		}
		t.same("before it comes", t.messages(general, m.ID), []memory.Message(nil))
		t.same("found before it comes", t.find(in(general), "second"), []memory.MessageID(nil))
		t.post(m)
		t.same("after it came", t.messages(general, m.ID), []memory.Message{late})
		t.same("found", t.find(in(general), "second"), []memory.MessageID{m.ID})
	}},
	{"an edit of the text leaves the rest to the newest whole version, whichever comes first", func(t *trial) {
		m := said(general, id(1), ada, "first")
		whole := edited(m, 1, "second")
		whole.Files = []memory.File{{Name: "map.png"}}
		edit := memory.Edited{Guild: guild, Channel: general, ID: m.ID, Content: "third", At: began.Add(2 * time.Minute)}
		t.post(m)
		t.apply(edit)
		t.post(whole)
		want := edited(whole, 2, "third")
		t.same("the message", t.messages(general, m.ID), []memory.Message{want})
	}},
	{"a delete that overtakes its message wins", func(t *trial) {
		m := said(general, id(1), ada, "regret")
		t.apply(memory.Edited{Guild: guild, Channel: general, ID: m.ID, Content: "remorse", At: began.Add(time.Hour)})
		t.delete(general, m.ID)
		t.post(m, edited(m, 1, "regrets"))
		t.apply(memory.Edited{Guild: guild, Channel: general, ID: m.ID, Content: "remorse", At: began.Add(2 * time.Hour)})
		t.gone(m, "regret remorse")
		other := said(staff, m.ID, ada, "the same id in another channel stays")
		t.post(other)
		t.same("the other", t.messages(staff, m.ID), []memory.Message{other})
	}},
	{"a deleted message is found by nothing", func(t *trial) {
		m, neighbour := said(general, id(1), ada, "the password is swordfish"), said(general, id(2), ben, "noted")
		t.post(m, neighbour)
		t.apply(memory.Named{Channel: general, ID: m.ID, Name: "m1"})
		t.embedAll()
		t.keep(memory.Trace{Guild: guild, Channel: general, Answer: m.ID})
		t.delete(general, m.ID)
		t.gone(m, "password swordfish")
		for _, s := range t.pending() {
			if slices.Contains(idsOf(s.Messages), m.ID) {
				t.Fatalf("it is pending in segment %d", s.ID)
			}
		}
		t.embedAll()
		t.gone(m, "password swordfish")
		t.post(m)
		t.delete(general, m.ID)
		t.post(m)
		t.gone(m, "password swordfish")
		t.same("its neighbour", t.messages(general, neighbour.ID), []memory.Message{neighbour})
	}},
	{"an edited message isn't found by what it said before", func(t *trial) {
		m := said(general, id(1), ada, "we meet at the harbour")
		t.post(m)
		t.embedAll()
		t.apply(memory.Edited{Guild: guild, Channel: general, ID: m.ID, Content: "we meet at the museum", At: began.Add(time.Minute)})
		t.same("by the old word", t.find(in(general), "harbour"), []memory.MessageID(nil))
		t.same("by the new word", t.find(in(general), "museum"), []memory.MessageID{m.ID})
		for _, hit := range t.nearest(in(general), "harbour", 10) {
			t.Fatalf("a vector of the old text is still there, at %.2f", hit.Similarity)
		}
	}},
	{"what Hark answered and what Discord noted is logged, but neither found nor counted", func(t *trial) {
		for i, kind := range []memory.Kind{memory.FromHark, memory.FromSystem} {
			m := said(general, id(i+1), hark, "the boiler was serviced")
			m.Kind = kind
			t.post(m)
			t.same("the log", t.messages(general, m.ID), []memory.Message{m})
		}
		t.same("round it", idsOf(t.around(general, []memory.MessageID{id(1)}, 1, 1)), []memory.MessageID{id(1), id(2)})
		t.same("found", t.find(in(general), "boiler"), []memory.MessageID(nil))
		t.same("presence", t.presence(in(general), hark), map[memory.UserID]memory.Presence{})
		t.same("pending", t.pending(), []memory.Segment(nil))
		n, counts := t.frequencies(in(general), "boiler")
		t.same("counted", append(counts, n), []int{0, 0})
	}},
	{"a batch is applied wholly or not at all", func(t *trial) {
		ctx, cancel := context.WithCancel(t.ctx)
		cancel()
		var batch []memory.Event
		var ids []memory.MessageID
		for i := range 50 {
			ids = append(ids, id(i))
			batch = append(batch, memory.Posted{Message: said(general, id(i), ada, "all or none")})
		}
		err := t.store.Apply(ctx, batch...)
		got := len(t.messages(general, ids...))
		if err == nil && got != 50 || err != nil && got != 0 {
			t.Fatalf("Apply gave %v, and %d of 50 messages are there", err, got)
		}
		beside := said(staff, id(1), ada, "beside what is refused")
		if err := t.store.Apply(t.ctx, memory.Posted{Message: beside}, memory.Spent{Guild: guild}); !errors.Is(err, memory.ErrRefused) {
			t.Fatalf("what can't be spent: %v", err)
		}
		t.same("what came with what is refused", t.messages(staff, beside.ID), []memory.Message(nil))
	}},
	{"direct messages and local ones belong to guilds of their own", func(t *trial) {
		direct := memory.Message{ID: id(1), Guild: memory.DirectGuild, Channel: 931, Author: ada, Content: "between us"}
		spoken := said(local, id(2), ben, "at the terminal")
		t.post(direct, spoken)
		t.same("direct", t.messages(931, direct.ID), []memory.Message{direct})
		t.same("local", t.messages(local, spoken.ID), []memory.Message{spoken})
		t.same("found", t.find(in(931, local), "terminal"), []memory.MessageID{spoken.ID})
		guilds, err := t.store.Guilds(t.ctx)
		if err != nil || !slices.Contains(guilds, memory.LocalGuild) || !slices.IsSorted(guilds) {
			t.Fatalf("Guilds: %v, %v", guilds, err)
		}
	}},
}

// gone fails the test if anything still knows of m.
func (t *trial) gone(m memory.Message, words string) {
	t.Helper()
	t.same("Messages", t.messages(m.Channel, m.ID), []memory.Message(nil))
	if slices.Contains(idsOf(t.around(m.Channel, []memory.MessageID{m.ID}, 3, 3)), m.ID) {
		t.Fatalf("Around still has it")
	}
	t.same("FullText", t.find(in(m.Channel), words), []memory.MessageID(nil))
	_, counts := t.frequencies(in(m.Channel), words)
	t.same("Frequencies", slices.Max(counts), 0)
	t.same("Presence", t.presence(in(m.Channel), m.Author), map[memory.UserID]memory.Presence{})
	t.same("NameOf", t.names(m.Channel, m.ID), map[memory.MessageID]string{})
	t.same("MessageNamed", t.named(m.Channel, "m1"), memory.MessageID(0))
	if _, ok := t.trace(m.Channel, m.ID); ok {
		t.Fatalf("its trace is still there")
	}
	for _, hit := range t.nearest(in(m.Channel), words, 100) {
		if slices.Contains(hit.Messages, m.ID) || hit.Similarity > 0.5 {
			t.Fatalf("Nearest still finds %v at %.2f", hit.Messages, hit.Similarity)
		}
	}
}

func (t *trial) presence(scope memory.Scope, users ...memory.UserID) map[memory.UserID]memory.Presence {
	t.Helper()
	present, err := t.store.Presence(t.ctx, scope, users)
	if err != nil {
		t.Fatalf("Presence: %v", err)
	}
	for user, p := range present {
		p.Last = p.Last.UTC()
		present[user] = p
	}
	return present
}

func (t *trial) keep(trace memory.Trace) {
	t.Helper()
	t.apply(memory.Answered{Trace: trace})
}

func notFound(err error) bool { return errors.Is(err, memory.ErrNotFound) }
