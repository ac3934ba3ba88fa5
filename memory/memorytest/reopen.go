package memorytest

import (
	"time"

	"hark/memory"
)

// reopened says something of each kind, and looks for it once the store is closed and opened again.
func reopened(first *trial, open func() *trial) {
	first.apply(memory.GuildSeen{Guild: town()}, memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, Username: "ada"}})
	first.topics()
	trace := first.answered()
	deleted, early := said(general, id(90_000), ada, "gone"), said(general, id(90_001), ada, "first")
	first.apply(memory.Named{Channel: general, ID: id(0), Name: "D1:1"},
		memory.Deleted{Guild: guild, Channel: general, IDs: []memory.MessageID{deleted.ID}},
		memory.Edited{Guild: guild, Channel: general, ID: early.ID, Content: "second", At: began})
	fact := memory.Fact{ID: 5, Text: "sails", By: ada}
	gap := memory.Gap{Guild: guild, Channel: general, After: id(1), Until: id(9), Past: true}
	sourced, operators := note(8, ada, general, 1, memory.Spot{Channel: general, Message: id(0)}), note(9, 0, 0, 1)
	first.told(sourced, operators, note(10, ben, general, 1))
	first.apply(memory.LoreGone{Guild: guild, ID: 10})
	sum, hollow := summed(id(0), 1, id(0)), summed(id(90_001), 1, id(90_000))
	first.sums(0, hollow, sum)
	condensed := condensedTo("Ada speaks.", 1, id(0))
	first.condenses(condensed)
	first.apply(memory.Summarised{Guild: guild, Channel: staff, Until: id(9_999_999)})
	unsummarised := first.unsummarised(id(3600))
	first.apply(memory.FactTold{Guild: guild, User: ada, Fact: fact}, memory.FactGone{Guild: guild, User: ada, Fact: 6},
		memory.Opted{Guild: guild, User: 503, Out: true, At: began}, memory.GapFound{Gap: gap}, memory.Heard{Guild: guild, Channel: staff, ID: id(3)},
		memory.Chose{Guild: guild, Channel: staff, Choice: memory.Ignore, At: began}, memory.Asked{Guild: guild, Channel: general, Message: id(1)},
		memory.SettingChosen{Guild: guild, Channel: staff, Key: memory.SettingMode, Value: "search", At: began},
		memory.SettingChosen{Guild: guild, Key: memory.SettingPersona, Value: "You are calm.", At: began},
		spent(ada, 1, 7),
		memory.LimitChosen{Guild: guild, RoleLimit: memory.RoleLimit{Role: 951, Limit: memory.Limit{Messages: 5}}, At: began},
		memory.Starred{Guild: guild, Channel: general, ID: early.ID, On: true, At: began},
		memory.ChannelSeen{Channel: memory.Channel{ID: thread, Guild: guild, Parent: general, Kind: memory.PublicThread, Name: "thread"}})
	elsewhere := said(thread, id(90_002), ben, "walnuts in a thread")
	first.post(elsewhere)
	first.forget(memory.Forgetting{Guild: guild, User: 504, Why: memory.WhyMember, At: later})
	first.apply(memory.ChannelDeleted{Guild: guild, Channel: thread, At: later})
	dropped := said(general, id(90_005), 503, "opted out")
	first.apply(memory.Posted{Message: dropped, Live: true})
	pending := first.pending()
	near := first.nearest(in(general, staff), topics[3], 3)
	structure, heard := first.guild(guild), first.heard(guild)
	log := first.around(general, []memory.MessageID{id(0)}, 100, 100)
	if len(pending) == 0 || len(near) == 0 {
		first.Fatalf("%d segments pending, %d near", len(pending), len(near))
	}
	if err := first.store.Close(); err != nil {
		first.Fatalf("close: %v", err)
	}

	again := open()
	again.same("the log", again.around(general, []memory.MessageID{id(0)}, 100, 100), log)
	again.same("the guild", normal(again.guild(guild)), normal(structure))
	again.same("the people", again.people(guild), []memory.Person{{ID: ada, Guild: guild, Username: "ada", Facts: []memory.Fact{fact}}})
	again.told(note(10, ben, general, 2))
	again.same("the lore", again.lore(guild), []memory.Lore{sourced, operators})
	again.same("the summaries", again.summaries(general), []memory.Summary{sum})
	again.same("what a session was condensed to", again.condensed(general), []memory.Condensed{condensed})
	again.same("what is to be summed up", again.unsummarised(id(3600)), unsummarised)
	again.same("who opted out", again.optedOut(guild, 503), true)
	again.same("what was spent", again.spending(guild, began), byUser{ada: 7})
	again.same("gaps", again.gaps(), []memory.Gap{gap})
	again.same("heard", again.heard(guild), heard)
	again.unsaid(elsewhere)
	for i, f := range again.unfinished() { // the opt-out, and the channel
		again.same("the messages forgotten", again.carryOut(f.ID).Messages, i)
	}
	again.same("unfinished", again.unfinished(), []memory.Forgetting(nil))
	again.post(elsewhere, said(general, id(90_003), 504, "forgotten"), said(general, id(90_004), 503, "opted out"))
	again.apply(memory.FactTold{Guild: guild, User: ada, Fact: memory.Fact{ID: 6, Text: "late", By: ada}})
	again.unsaid(elsewhere)
	again.same("what is dropped", again.messages(general, id(90_003), id(90_004)), []memory.Message(nil))
	again.same("the facts", again.facts(ada), []memory.Fact{fact})
	again.same("a name", again.named(general, "D1:1"), id(0))
	again.same("found", again.find(in(staff), "printer cinnamon"), []memory.MessageID{id(3 * 3600)})
	again.same("pending", again.pending(), pending)
	again.same("near", again.nearest(in(general, staff), topics[3], 3), near)
	kept, _ := again.trace(general, trace.Answer)
	again.same("the trace", kept, trace)
	again.post(deleted, early)
	want := edited(early, 0, "second")
	want.Starred = true
	again.same("a delete, an edit and a star that came early", again.messages(general, deleted.ID, early.ID), []memory.Message{want})
	again.apply(memory.Edited{Guild: guild, Channel: general, ID: dropped.ID, Content: "edited", At: later},
		memory.Starred{Guild: guild, Channel: general, ID: dropped.ID, On: true, At: later},
		memory.Opted{Guild: guild, User: 503, At: began.Add(time.Minute)}) // before it was said, by the clock
	again.post(dropped)
	again.same("what was told of what was dropped", again.messages(general, dropped.ID), []memory.Message{dropped})
}
