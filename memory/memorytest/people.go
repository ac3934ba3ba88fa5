package memorytest

import (
	"time"

	"hark/memory"
)

var peoplePromises = []promise{
	{"who has left has neither roles nor a nickname that are known", func(t *trial) {
		t.apply(memory.PersonSeen{Person: memory.Person{
			ID: ada, Guild: guild, Username: "ada", Name: "Ada", Nick: "Captain", Roles: []memory.RoleID{950}, RolesKnown: true,
		}}, memory.PersonLeft{Guild: guild, User: ada}, memory.PersonLeft{Guild: guild, User: ben})
		t.same("the people", t.people(guild), []memory.Person{{ID: ada, Guild: guild, Username: "ada", Name: "Ada"}})
	}},
	{"facts are told, changed and taken away for good", func(t *trial) {
		first := memory.Fact{ID: 7, Text: "lives by the sea", By: ada}
		alias := memory.Fact{ID: 3, Text: "Skipper", Alias: true, By: ben}
		t.apply(memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, Username: "ada"}},
			memory.FactTold{Guild: guild, User: ada, Fact: first}, memory.FactTold{Guild: guild, User: ada, Fact: alias})
		t.same("by id", t.facts(ada), []memory.Fact{alias, first})
		first.Text = "lives in the hills"
		t.apply(memory.FactTold{Guild: guild, User: ada, Fact: first}, memory.FactTold{Guild: 901, User: ada, Fact: alias})
		t.same("changed", t.facts(ada), []memory.Fact{alias, first})
		t.apply(memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, Name: "Ada", Facts: []memory.Fact{{ID: 9, Text: "not told"}}}})
		t.same("seen again", t.facts(ada), []memory.Fact{alias, first})
		t.apply(memory.FactGone{Guild: guild, User: ada, Fact: alias.ID}, memory.FactGone{Guild: guild, User: ada, Fact: 11})
		t.apply(memory.FactTold{Guild: guild, User: ada, Fact: alias}, memory.FactTold{Guild: guild, User: ada, Fact: memory.Fact{ID: 11, Text: "late", By: ada}})
		t.same("what is gone stays gone, and so does what was gone before it came", t.facts(ada), []memory.Fact{first})
	}},
	{"a fact goes with the message that told it, whichever comes first", func(t *trial) {
		t.apply(memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, Username: "ada"}})
		t.post(said(general, id(1), ada, "I live by the sea"), said(staff, id(1), ada, "I sail"), said(general, id(2), ada, "I cook"))
		told := func(fact int64, channel memory.ChannelID, source memory.MessageID, text string) memory.FactTold {
			return memory.FactTold{Guild: guild, User: ada, Fact: memory.Fact{ID: fact, Text: text, By: ada, Channel: channel, Message: source}}
		}
		sea, sails, cooks := told(1, general, id(1), "lives by the sea"), told(2, staff, id(1), "sails"), told(3, general, id(2), "cooks")
		t.apply(sea, sails)
		t.delete(general, id(1), id(2))
		t.apply(cooks, sea)
		t.same("facts", t.facts(ada), []memory.Fact{sails.Fact})
	}},
	{"the last that was said of learning holds by time, and what was looked at grows", func(t *trial) {
		at := func(minutes int) time.Time { return began.Add(time.Duration(minutes) * time.Minute) }
		learn := func(user memory.UserID, on bool, minutes int) memory.Learn {
			return memory.Learn{Guild: guild, User: user, On: on, At: at(minutes)}
		}
		looked := func(until memory.MessageID) memory.Learned {
			return memory.Learned{Guild: guild, Channel: general, Until: until}
		}
		t.apply(memory.GuildSeen{Guild: town()}, memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild}}, memory.PersonSeen{Person: memory.Person{ID: ben, Guild: guild}})
		t.apply(learn(0, false, 1), learn(0, true, 3), learn(0, false, 2), learn(ada, true, 5), learn(ada, false, 4), learn(ben, true, 1), learn(ben, false, 6))
		t.apply(looked(id(5)), looked(id(3)), memory.GuildSeen{Guild: town()}, memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, Name: "Ada"}})
		t.same("the guild", t.guild(guild).Learn.UTC(), at(3))
		t.same("what was looked at", []memory.MessageID{t.channel(guild, general).Learned, t.channel(guild, staff).Learned}, []memory.MessageID{id(5), 0})
		people := t.people(guild)
		t.same("members", []any{people[0].Learn.UTC(), people[1].Learn.IsZero()}, []any{at(5), true})
		t.apply(learn(0, false, 7), learn(ada, false, 7), learn(0, true, 6))
		t.same("switched off", []bool{t.guild(guild).Learn.IsZero(), t.people(guild)[0].Learn.IsZero()}, []bool{true, true})
	}},
	{"nothing is kept of somebody who has opted out, until they opt in", func(t *trial) {
		opt := func(out bool, minutes int) memory.Opted {
			return memory.Opted{Guild: guild, User: ada, Out: out, At: began.Add(time.Duration(minutes) * time.Minute)}
		}
		before := said(general, id(1), ada, "before")
		t.post(before)
		t.apply(opt(true, 5), opt(false, 4))
		t.same("out", t.optedOut(guild, ada), true)
		t.same("in another guild", t.optedOut(901, ada), false)
		t.same("somebody else", t.optedOut(guild, ben), false)
		elsewhere := said(921, id(3), ada, "elsewhere")
		t.post(said(general, id(2), ada, "after"), edited(before, 10, "changed"), said(general, id(4), ben, "beside"), elsewhere)
		t.apply(memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, Username: "ada"}},
			memory.FactTold{Guild: guild, User: ada, Fact: memory.Fact{ID: 1, Text: "sails", By: ben}})
		t.same("the log", t.log(general), []memory.Message{said(general, id(4), ben, "beside")})
		f := t.oneUnfinished()
		t.same("what is unfinished", []any{f.Guild, f.Channel, f.User, f.Why, f.At.UTC()}, []any{guild, memory.ChannelID(0), ada, memory.WhyOptOut, began.Add(5 * time.Minute)})
		t.same("what was forgotten", t.carryOut(f.ID).Messages, 1)
		t.same("the log of another guild", t.log(921), []memory.Message{elsewhere})
		t.same("people", t.people(guild), []memory.Person(nil))
		t.apply(opt(false, 6), opt(true, 5))
		t.same("in again", t.optedOut(guild, ada), false)
		t.apply(memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, Username: "ada"}})
		again := said(general, id(400), ada, "again")
		t.post(before, said(general, id(330), ada, "meanwhile"), again)
		t.same("logged again", idsOf(t.log(general)), []memory.MessageID{id(4), again.ID})
		t.same("what is to be kept out", t.carryOut(t.oneUnfinished().ID).Messages, 0)
		t.same("known again", t.people(guild), []memory.Person{{ID: ada, Guild: guild, Username: "ada"}})
	}},
	{"nothing is kept of a message that is dropped, nor of what is told of it soon after, so that it comes again once it may", func(t *trial) {
		opt := func(out bool, minutes int) memory.Opted {
			return memory.Opted{Guild: guild, User: ada, Out: out, At: began.Add(time.Duration(minutes) * time.Minute)}
		}
		t.apply(opt(true, 1))
		dropped := said(general, id(400), ada, "dropped")
		t.post(dropped)
		t.apply(memory.Edited{Guild: guild, Channel: general, ID: dropped.ID, Content: "edited", At: began.Add(time.Hour)},
			memory.Starred{Guild: guild, Channel: general, ID: dropped.ID, On: true, At: began.Add(time.Hour)},
			memory.Named{Channel: general, ID: dropped.ID, Name: "d"})
		t.post(dropped)
		t.same("while out", t.log(general), []memory.Message(nil))
		t.apply(opt(false, 5)) // before it was said, by the clock
		t.post(dropped)
		t.same("in again", t.log(general), []memory.Message{dropped})
		t.same("its name", t.names(general, dropped.ID), map[memory.MessageID]string{})
	}},
	{"the last star by time holds, before its message and after it, whatever edits there are", func(t *trial) {
		m, early := said(general, id(1), ada, "first"), said(general, id(2), ada, "second")
		star := func(of memory.Message, on bool, minutes int) memory.Starred {
			return memory.Starred{Guild: guild, Channel: general, ID: of.ID, On: on, At: began.Add(time.Duration(minutes) * time.Minute)}
		}
		m.Starred = true // which a message can't say of itself
		t.apply(memory.Posted{Message: m}, star(early, false, 1), star(early, true, 2))
		t.same("not marked", t.messages(general, m.ID)[0].Starred, false)
		t.apply(star(m, true, 5), star(m, false, 4))
		changed := edited(m, 9, "changed")
		changed.Starred = false
		t.post(changed, early)
		t.apply(memory.Edited{Guild: guild, Channel: general, ID: early.ID, Content: "changed too", At: began.Add(time.Hour)})
		for _, got := range t.log(general) {
			t.same("marked", got.Starred, true)
		}
		t.apply(star(m, false, 6), star(m, true, 5), star(early, false, 3))
		for _, got := range append(t.log(general), t.around(general, []memory.MessageID{m.ID}, 0, 5)...) {
			t.same("marked no longer", got.Starred, false)
		}
		for _, s := range t.pending() {
			t.same("marked no longer, in a segment", s.Messages[0].Starred, false)
		}
	}},
}

// facts are those known of somebody.
func (t *trial) facts(user memory.UserID) []memory.Fact {
	t.Helper()
	for _, p := range t.people(guild) {
		if p.ID == user {
			return p.Facts
		}
	}
	return nil
}
