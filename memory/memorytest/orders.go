package memorytest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"hark/memory"

	"pgregory.net/rapid"
)

// checkOrders applies the same events in two orders, in batches of any size, some repeatedly.
func checkOrders(t *testing.T, open func(t testing.TB) memory.Opened) {
	rapid.Check(t, func(rt *rapid.T) {
		events := rapid.SliceOfN(rapid.Custom(drawOrderless), 2, 24).Draw(rt, "events")
		if slices.ContainsFunc(events, func(e memory.Event) bool { o, ok := e.(memory.Opted); return ok && o.Out }) {
			// Events about a message that was heard and is missing may be about a dropped one, so stores
			// needn't keep them.
			if events = slices.DeleteFunc(events, mayNotWait); len(events) == 0 {
				return
			}
		}
		again := rapid.SliceOfN(rapid.SampledFrom(events), 0, 6).Draw(rt, "told twice")
		want := newModel()
		want.apply(seenTown)
		want.apply(events...)
		for _, order := range [][]memory.Event{events,
			rapid.Permutation(slices.Concat(events, again)).Draw(rt, "permutation")} {
			check := newHarness(rt, context.Background(), open(t))
			check.apply(seenTown)
			for rest := order; len(rest) > 0; {
				n := between(rt, "batch", 1, len(rest))
				check.apply(rest[:n]...)
				rest = rest[n:]
			}
			check.model = want
			check.ended(events)
			if err := check.store.Close(); err != nil {
				rt.Fatalf("close: %v", err)
			}
		}
	})
}

func mayNotWait(e memory.Event) bool {
	switch e := e.(type) {
	case memory.Edited, memory.Starred:
		return true
	case memory.Posted:
		return e.Message.IsCopy()
	}
	return false
}

// drawOrderless draws an event whose result doesn't depend on order: derived things don't name versions,
// those who opt out write nothing, and two choices always differ.
func drawOrderless(t *rapid.T) memory.Event {
	gone := between(t, "gone?", 0, 3) == 0
	n := drawMinute(t)
	switch between(t, "kind", 0, 21) {
	case 0:
		e := drawFact(t).(memory.FactTold)
		e.Fact.Channel, e.Fact.Message = 0, 0
		if gone {
			return memory.FactGone{Guild: guild, User: e.User, Fact: e.Fact.ID}
		}
		return e
	case 1:
		return opts(pick[memory.UserID](t, "who", 601, 602), n%2 == 0, n)
	case 2, 3:
		return drawStar(t)
	case 4:
		channel := pick(t, "chosen", 0, general, staff)
		return chose(channel, []memory.Choice{memory.Ignore, memory.Remember, memory.RememberPublic}[n%3], n)
	case 5:
		return memory.Heard{Guild: guild, Channel: general, ID: slotID(n)}
	case 6:
		if gone {
			return memory.ChannelDeleted{Guild: guild, Channel: thread, At: later}
		}
		return memory.Asked{Guild: guild, Channel: general, Message: slotID(0)}
	case 7:
		if gone {
			return memory.Learned{Guild: guild, Channel: general, Until: slotID(n)}
		}
		// switching it on twice doesn't determine since when it is on
		return memory.Learn{Guild: guild, On: n == 7, At: minute(n)}
	case 8, 9:
		e := drawLore(t).(memory.LoreTold)
		e.Lore.Sources = nil
		if gone {
			return memory.LoreGone{Guild: e.Lore.Guild, ID: e.Lore.ID}
		}
		return e
	case 10:
		return drawSetting(t)
	case 11:
		return drawLimit(t)
	case 12:
		return drawSpent(t)
	case 13:
		e := drawCall(t).(memory.Recorded)
		e.Record.Question, e.Record.Answer, e.Record.Kwargs = 0, 0, nil
		return e
	}
	e := drawMessageEvent(t)
	if edit, is := e.(memory.Edited); is { // one that isn't logged deletes what was made before it
		edit.Unlogged = false
		return edit
	}
	if told, is := e.(memory.Told); is { // needs the message before it
		return memory.Heard{Guild: told.Guild, Channel: told.Channel, ID: told.ID}
	}
	return e
}

func (t *harness) ended(events []memory.Event) {
	t.Helper()
	told := func(is func(memory.Event) bool) bool { return slices.ContainsFunc(events, is) }
	for _, channel := range channels {
		t.compareLog(channel)
	}
	t.compareGuilds()
	byCall := func(a, b memory.Record) int { return strings.Compare(a.CallID, b.CallID) }
	all := memory.RecordQuery{Channels: channels}
	t.same("records", slices.SortedFunc(slices.Values(t.records(all)), byCall),
		slices.SortedFunc(slices.Values(t.model.recordsFor(all)), byCall))
	// From when something is remembered depends on the earlier choice.
	if !told(func(e memory.Event) bool { _, ok := e.(memory.Chose); return ok }) {
		t.same("heard", got(t.store.HeardUntil(t.ctx, guild))(t), t.model.listened(guild))
	}
	if !told(func(e memory.Event) bool { _, ok := e.(memory.Opted); return ok }) { // each begins a forgetting
		t.same("how much is unfinished", len(t.unfinished()), len(t.model.unfinished()))
	}
}
