package memorytest

import "hark/memory"

// acrossReopening is the promise that reopened checks.
const acrossReopening = "what was applied is there after closing and opening"

// reopened says something of each kind, and looks for it once the store is closed and opened again.
func reopened(t *trial, open func() memory.Store) {
	t.settle()
	t.apply(everything()...)
	trace := t.answersTwofold(100)
	trace.Prompt = sent(built, "When?")
	late, early := said(general, id(90_000), ada, "gone"), said(general, id(90_001), ada, "first")
	dropped, elsewhere := said(general, id(90_005), 503, "opted out"),
		said(thread, id(90_002), ben, "walnuts in a thread")
	t.apply(memory.Answered{Trace: trace}, memory.LoreGone{Guild: guild, ID: 9},
		memory.FactGone{Guild: guild, User: ada, Fact: 78},
		deletes(general, late.ID), edits(early, 0, "second"), stars(general, early.ID, true, 0),
		opts(503, true, 0), memory.GapFound{Gap: memory.Gap{Guild: guild, Channel: general, After: id(1),
			Until: id(9), Past: true}},
		memory.Heard{Guild: guild, Channel: staff, ID: id(3)}, chose(staff, memory.Ignore, 0),
		memory.Asked{Guild: guild, Channel: general, Message: id(1)},
		memory.QuestionOpened{Question: memory.OpenQuestion{Guild: guild, Channel: general, ID: id(2)}},
		sets(staff, memory.SettingMode, "search", 0), sets(0, memory.SettingPersona, "You are calm.",
			0), spent(ada, 1, 7),
		limits(951, 5, 0, 0),
		memory.Summarised{Guild: guild, Channel: staff, Until: id(9_999_999)}, memory.Summarised{Guild: guild,
			Channel: general,
			Until:   id(8)})
	t.post(elsewhere, said(staff, id(90_006), ada, "to be embedded"))
	t.forget(memory.Forgetting{Guild: guild, User: 504, Why: memory.WhyMember, At: later})
	t.apply(memory.ChannelDeleted{Guild: guild, Channel: thread, At: later},
		memory.Posted{Message: dropped, Live: true})
	t.compare()
	again := func() {
		t.Helper()
		if err := t.store.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
		t.store = open()
		t.compare()
	}
	again()
	t.apply(post(elsewhere), post(late), post(early), post(said(general, id(90_003), 504, "forgotten")),
		post(said(general, id(90_004), 503, "opted out")),
		memory.LoreTold{Lore: note(9, ben, staff, 4000*60)}, facts(ada, 78, "late"), memory.Answered{Trace: trace})
	t.compare()
	t.carryOut()
	again()
	t.apply(edits(dropped, 2000*60, "edited"), stars(general, dropped.ID, true, 2000*60), opts(503, false, 1),
		post(dropped)) // said later, by the clock
	t.same("what was told of what was dropped", t.around(general, []memory.MessageID{dropped.ID}, 0, 0),
		[]memory.Message{dropped})
}
