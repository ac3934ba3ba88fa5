package memorytest

import (
	"time"

	"hark/memory"
)

// forwarded is a forward of a message, by somebody in another channel.
func forwarded(of memory.Message, channel memory.ChannelID, at memory.MessageID, by memory.UserID) memory.Message {
	m := said(channel, at, by, of.Content)
	m.Original = memory.Original{Guild: of.Guild, Channel: of.Channel, Message: of.ID, Version: editedAt(of)}
	return m
}

var (
	secret   = said(staff, id(1), ada, "the safe is behind the barometer")
	forward  = forwarded(secret, general, id(5), ben)
	again2   = forwarded(forward, thread, id(9), ben)
	elsewhen = said(general, id(6), ben, "ferry")
)

// copyCases hold that a copy loses its text with its original, and not otherwise.
func copyCases() []testCase {
	all := []testCase{
		{"a copy comes back as it was logged", nil, func(t *harness) {
			abroad := forwarded(secret, square, id(7), ben)
			t.post(secret, forward, again2, abroad)
			t.same("the copies", []memory.Message{t.log(general)[0], t.log(thread)[0], t.log(square)[0]},
				[]memory.Message{forward, again2, abroad})
		}},
		{"a copy stays when its original is told again, starred, or changed but for its text", steps{
			post(secret), post(forward), post(secret), stars(staff, secret.ID, true, 1), post(linked(secret, "Tides"))}, func(t *harness) {
			t.same("the copy", t.log(general), []memory.Message{forward})
		}},
		{"a copy of a message that isn't logged goes with that, and with its text", nil, func(t *harness) {
			t.post(forward, forwarded(secret, thread, id(9), ben), elsewhen)
			t.apply(memory.Edited{Guild: guild, Channel: staff, ID: secret.ID, At: minute(1), Unlogged: true})
			t.same("after an edit", t.log(general)[0].Text()+t.log(thread)[0].Text(), "")
			newer := forwarded(edited(secret, 1, "the safe is in the cellar"), general, id(20), ben)
			t.post(newer)
			t.apply(memory.Edited{Guild: guild, Channel: staff, ID: secret.ID, At: minute(1), Unlogged: true})
			t.same("of that edit", t.find(in(general), "cellar"), []memory.MessageID{id(20)})
			t.apply(memory.Deleted{Guild: guild, Channel: staff, IDs: []memory.MessageID{secret.ID}, Unlogged: true})
			t.same("after a deletion", t.find(in(general), "cellar"), []memory.MessageID(nil))
		}},
		{"a copy in another server stays", steps{post(secret), post(forwarded(secret, square, id(5), ben)),
			deletes(staff, secret.ID)},
			func(t *harness) {
				t.same("found", t.find(in(square), "barometer"), []memory.MessageID{id(5)})
			}},
		{"a crosspost that is edited with its original has the new text", nil, func(t *harness) {
			t.post(secret, forward, edited(secret, 1, "the safe is in the cellar"))
			t.same("before", t.log(general)[0].Text(), "")
			now := edited(forward, 1, "the safe is in the cellar")
			now.Original.Version = minute(1).UnixMilli()
			t.post(now)
			t.same("after", t.log(general), []memory.Message{now})
			t.delete(staff, secret.ID)
			t.same("at the end", t.log(general)[0].Text(), "")
		}},
		{"a copy of an edited message stays, whichever comes first", nil, func(t *harness) {
			newer := edited(secret, 1, "the safe is in the cellar")
			copied := forwarded(newer, general, id(5), ben)
			t.post(copied, newer, secret, copied)
			t.apply(edits(secret, 1, newer.Content))
			t.same("the copy", t.log(general), []memory.Message{copied})
		}},
		{"a copy of what Hark answered goes with what it was answered from", nil, func(t *harness) {
			t.post(secret, said(general, id(2), hark, "it is behind the barometer"))
			t.answers(2, repeated(staff, secret.ID, 0))
			t.post(forwarded(said(general, id(2), hark, "it is behind the barometer"), thread, id(9), ben))
			t.delete(staff, secret.ID)
			t.same("the copy", t.log(thread)[0].Text(), "")
		}},
		{"a copy goes with its author, and its original stays", steps{post(secret), post(forward),
			forgot(memory.Forgetting{Guild: guild, User: ben, Why: memory.WhyMember, At: later})}, func(t *harness) {
			t.same("what stays", append(t.log(general), t.log(staff)...), []memory.Message{secret})
		}},
	}
	for what, goes := range losses() {
		all = append(all, testCase{"a copy loses its text, and what was made from it, when " + what, nil,
			func(t *harness) { t.checkLoss(goes) }})
	}
	return all
}

// losses are the ways in which an original goes.
func losses() map[string]any {
	forget := func(f memory.Forgetting) func(*harness) {
		return func(t *harness) { t.forget(completed(f)) }
	}
	return map[string]any{
		"its original is deleted": deletes(staff, secret.ID),
		"its original is edited":  edits(secret, 1, "nothing"),
		"its original's channel is deleted": memory.ChannelDeleted{Guild: guild, Channel: staff,
			At: later},
		"its original's channel is purged": forget(memory.Forgetting{Guild: guild, Channel: staff, Why: memory.WhyPurge}),
		"its original is too old": forget(memory.Forgetting{Guild: guild, Before: id(2).Time().Truncate(time.Second),
			Why: memory.WhyAge}),
		"its original's author is forgotten": forget(memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember}),
		"its original's author opts out":     memory.Opted{Guild: guild, User: ada, Out: true, At: later},
	}
}

// checkLoss checks that copies lose their text when their original goes, before or after they come, and for good.
func (t *harness) checkLoss(goes any) {
	t.Helper()
	lose := func() {
		if e, is := goes.(memory.Event); is {
			t.apply(e)
		} else {
			goes.(func(*harness))(t)
		}
	}
	t.apply(threadOf(general, thread, 0, "thread"))
	t.post(secret, forward, again2, elsewhen)
	t.embedAll()
	t.answers(20, repeated(general, forward.ID, 0))
	lose()
	for _, when := range []string{"at once", "told again", "carried out"} {
		t.compare()
		t.same("found "+when, t.find(in(general, staff, thread), "barometer safe"), []memory.MessageID(nil))
		t.same("the copies "+when, t.log(general)[0].Text()+t.log(thread)[0].Text(), "")
		_, there := t.trace(general, id(20))
		t.same("an answer from a copy "+when, there, false)
		t.post(forward, again2)
		t.carryOut()
	}
	late := forwarded(secret, general, id(30), ben)
	t.post(late)
	for _, m := range t.log(general) {
		if m.ID == late.ID {
			t.same("a copy that comes later", m.Text(), "")
		}
	}
}
