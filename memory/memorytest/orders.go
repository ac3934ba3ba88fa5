package memorytest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"hark/memory"

	"pgregory.net/rapid"
)

// checkOrders applies the same events in two orders, in batches of any size, some of them more than once.
func checkOrders(t *testing.T, open func(t testing.TB) memory.Store) {
	rapid.Check(t, func(rt *rapid.T) {
		events := rapid.SliceOfN(rapid.Custom(drawOrderless), 2, 24).Draw(rt, "events")
		if slices.ContainsFunc(events, func(e memory.Event) bool { o, ok := e.(memory.Opted); return ok && o.Out }) {
			// What is told of a message that was heard and isn't there may be about one that was dropped: it need not wait.
			if events = slices.DeleteFunc(events, mayNotWait); len(events) == 0 {
				return
			}
		}
		again := rapid.SliceOfN(rapid.SampledFrom(events), 0, 6).Draw(rt, "told twice")
		orders := [][]memory.Event{events, rapid.Permutation(slices.Concat(events, again)).Draw(rt, "permutation")}
		want := newModel()
		want.apply(memory.GuildSeen{Guild: town(), At: began})
		want.apply(events...)
		for _, order := range orders {
			check := &trial{fataler: rt, ctx: context.Background(), store: open(t)}
			check.apply(memory.GuildSeen{Guild: town(), At: began})
			for rest := slices.Clone(order); len(rest) > 0; {
				n := rapid.IntRange(1, len(rest)).Draw(rt, "batch")
				check.apply(rest[:n]...)
				rest = rest[n:]
			}
			check.asModel(want, events)
			if err := check.store.Close(); err != nil {
				rt.Fatalf("close: %v", err)
			}
		}
	})
}

func mayNotWait(e memory.Event) bool {
	switch e.(type) {
	case memory.Edited, memory.Starred:
		return true
	}
	return false
}

// drawOrderless is an event that ends in the same, whenever it comes.
func drawOrderless(t *rapid.T) memory.Event {
	who := rapid.SampledFrom([]memory.UserID{601, 602}).Draw(t, "who") // who write nothing
	switch rapid.IntRange(0, 21).Draw(t, "kind") {
	case 11:
		return drawLimit(t)
	case 12:
		return drawSpent(t)
	case 13:
		e := drawCall(t)
		e.Record.Question, e.Record.Answer, e.Record.Kwargs = 0, 0, nil // it tells nothing of which version of its question it is of
		return e
	case 10:
		return drawSetting(t)
	case 8, 9:
		e := drawLore(t).(memory.LoreTold)
		e.Lore.Sources = nil // lore tells nothing of which version of its sources it is from
		if rapid.IntRange(0, 3).Draw(t, "gone?") == 0 {
			return memory.LoreGone{Guild: e.Lore.Guild, ID: e.Lore.ID}
		}
		return e
	case 0:
		e := drawFact(t).(memory.FactTold)
		e.Fact.Channel, e.Fact.Message = 0, 0 // a fact tells nothing of which version of its source it is from
		if rapid.IntRange(0, 3).Draw(t, "gone?") == 0 {
			return memory.FactGone{Guild: guild, User: e.User, Fact: e.Fact.ID}
		}
		return e
	case 1:
		at := drawTime(t, "opted at")
		return memory.Opted{Guild: guild, User: who, Out: at.Minute()%2 == 0, At: at}
	case 2, 3:
		channel, slot := drawSlot(t)
		at := drawTime(t, "starred at")
		return memory.Starred{Guild: guildOf(channel), Channel: channel, ID: slotID(slot), On: at.Minute()%2 == 1, At: at}
	case 4:
		at := drawTime(t, "chosen at")
		channel := rapid.SampledFrom([]memory.ChannelID{0, general, staff}).Draw(t, "chosen")
		return memory.Chose{Guild: guild, Channel: channel, Choice: []memory.Choice{memory.Ignore, memory.Remember, memory.RememberPublic}[at.Minute()%3], At: at}
	case 5:
		return memory.Heard{Guild: guild, Channel: general, ID: slotID(rapid.IntRange(0, slots-1).Draw(t, "slot"))}
	case 6:
		if rapid.IntRange(0, 3).Draw(t, "deleted?") == 0 {
			return memory.ChannelDeleted{Guild: guild, Channel: thread, At: later}
		}
		return memory.Asked{Guild: guild, Channel: general, Message: slotID(0)}
	case 7:
		if rapid.Bool().Draw(t, "learned?") {
			return memory.Learned{Guild: guild, Channel: general, Until: slotID(rapid.IntRange(0, slots-1).Draw(t, "slot"))}
		}
		at := drawTime(t, "learn at") // since when it is on isn't told where it is switched on twice
		return memory.Learn{Guild: guild, On: at.Minute() == 7, At: at}
	}
	return drawMessageEvent(t)
}

// asModel fails the test unless the store ended as the model.
func (t *trial) asModel(want *model, events []memory.Event) {
	t.Helper()
	for _, channel := range channels {
		t.same("the log", t.log(channel), plain(want.log(channel)))
	}
	t.same("people", t.people(guild), want.everybody(guild))
	t.same("lore", append(t.lore(guild), t.lore(memory.LocalGuild)...), append(want.loreOf(guild), want.loreOf(memory.LocalGuild)...))
	byCall := func(a, b memory.Record) int { return strings.Compare(a.CallID, b.CallID) }
	all := memory.RecordQuery{Channels: channels}
	t.same("records", slices.SortedFunc(slices.Values(t.records(all)), byCall), slices.SortedFunc(slices.Values(want.recordsFor(all)), byCall))
	for _, who := range []memory.UserID{601, 602} {
		t.same("who opted out", t.optedOut(guild, who), want.opted[member{guild, who}].Out)
	}
	for _, n := range []int{0, slots - 1} {
		t.same("what was spent", t.spending(guild, slotID(n).Time()), want.spending(guild, slotID(n).Time()))
	}
	t.same("the guild", normal(t.guild(guild)), normal(want.whole(guild)))
	// From when on something is remembered depends on whether it was before.
	if !slices.ContainsFunc(events, func(e memory.Event) bool { _, chose := e.(memory.Chose); return chose }) {
		t.same("heard", t.heard(guild), want.listened(guild))
	}
	if !slices.ContainsFunc(events, func(e memory.Event) bool { _, opted := e.(memory.Opted); return opted }) { // each is one
		t.same("how much is unfinished", len(t.unfinished()), len(want.unfinished()))
	}
}
