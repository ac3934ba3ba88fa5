package memorytest

import (
	"time"

	"hark/memory"
)

var hearingPromises = []promise{
	{"the newest message told of live is heard, whether it is logged or not, and in any order", func(t *trial) {
		t.apply(memory.GuildSeen{Guild: town()})
		t.same("before anything", t.heard(guild), map[memory.ChannelID]memory.MessageID{})
		live := func(id memory.MessageID) memory.Posted {
			return memory.Posted{Message: said(general, id, ada, "live"), Live: true}
		}
		t.apply(live(id(5)), live(id(3)))
		t.post(said(general, id(9), ada, "fetched"), said(staff, id(9), ada, "imported"))
		t.same("told live", t.heard(guild), map[memory.ChannelID]memory.MessageID{general: id(5)})
		t.apply(memory.Heard{Guild: guild, Channel: staff, ID: id(2)}, memory.Heard{Guild: guild, Channel: general, ID: id(7)},
			memory.Heard{Guild: guild, Channel: general, ID: id(6)})
		want := map[memory.ChannelID]memory.MessageID{general: id(7), staff: id(2)}
		t.same("told of without being logged", t.heard(guild), want)
		t.same("the log", idsOf(t.log(general)), []memory.MessageID{id(3), id(5), id(9)})
		t.delete(general, id(20))
		t.apply(live(id(20)))
		want[general] = id(20)
		t.same("a message deleted before it came", t.heard(guild), want)
		t.same("another guild", t.heard(901), map[memory.ChannelID]memory.MessageID{})
	}},
	{"what is dropped counts as heard", func(t *trial) {
		t.apply(memory.GuildSeen{Guild: town()}, memory.Opted{Guild: guild, User: ada, Out: true, At: began})
		t.forget(memory.Forgetting{Guild: guild, User: ben, Why: memory.WhyMember, At: began.Add(time.Hour)})
		t.apply(memory.Posted{Message: said(general, id(5), ada, "opted out"), Live: true},
			memory.Posted{Message: said(staff, id(6), ben, "forgotten"), Live: true})
		t.same("heard", t.heard(guild), map[memory.ChannelID]memory.MessageID{general: id(5), staff: id(6)})
		t.same("the log", append(t.log(general), t.log(staff)...), []memory.Message(nil))
	}},
	{"nothing said before a guild was first seen, or seen again after it was left, counts as missing", func(t *trial) {
		t.apply(memory.GuildSeen{Guild: town(), At: began})
		t.listensFrom(began, general, staff, thread)
		t.apply(memory.GuildSeen{Guild: town(), At: began.Add(time.Hour)})
		t.listensFrom(began, general, staff, thread)
		t.apply(memory.Posted{Message: said(general, id(10), ada, "live"), Live: true})
		t.same("what is heard later", t.heard(guild)[general], id(10))
		left := began.Add(2 * time.Hour)
		t.apply(memory.GuildLeft{Guild: guild, At: left})
		for _, c := range []memory.ChannelID{general, staff, thread} {
			t.same("unplaced when it is left", t.channel(guild, c).Unplaced, true)
		}
		t.same("left", t.guild(guild).Left.UTC(), left)
		t.apply(memory.GuildSeen{Guild: town(), At: began.Add(3 * time.Hour)})
		t.same("left, once it is seen again", t.guild(guild).Left.IsZero(), true)
		t.same("placed again", t.channel(guild, general).Unplaced, false)
		t.listensFrom(began.Add(3*time.Hour), general, staff, thread)
	}},
	{"the last choice by time holds, whatever is seen of the guild", func(t *trial) {
		at := func(minutes int) time.Time { return began.Add(time.Duration(minutes) * time.Minute) }
		chose := func(channel memory.ChannelID, choice memory.Choice, minutes int) memory.Chose {
			return memory.Chose{Guild: guild, Channel: channel, Choice: choice, At: at(minutes)}
		}
		t.apply(memory.GuildSeen{Guild: town(), At: began})
		t.same("nothing was chosen", t.guild(guild).Choice, memory.Undecided)
		t.same("nobody was asked", t.guild(guild).Asked, false)
		t.apply(chose(0, memory.RememberPublic, 2), chose(0, memory.Ignore, 1), chose(general, memory.Ignore, 1), chose(general, memory.Remember, 5),
			chose(general, memory.RememberChosen, 4), memory.Asked{Guild: guild, Channel: general, Message: id(1)})
		seen := town()
		seen.Choice, seen.Channels[0].Choice, seen.Left = memory.Remember, memory.Ignore, began
		t.apply(memory.GuildSeen{Guild: seen, At: at(9)}, memory.ChannelSeen{Channel: seen.Channels[0]})
		got := t.guild(guild)
		t.same("of the guild", got.Choice, memory.RememberPublic)
		t.same("whether it was asked", got.Asked, true)
		t.same("whether it was left", got.Left.IsZero(), true)
		t.same("of a channel", t.channel(guild, general).Choice, memory.Remember)
		t.same("of another", t.channel(guild, staff).Choice, memory.Undecided)
	}},
	{"what was said until something is remembered doesn't count as missing", func(t *trial) {
		hour := func(n int) time.Time { return began.Add(time.Duration(n) * time.Hour) }
		t.apply(memory.GuildSeen{Guild: town(), At: began})
		t.apply(memory.Chose{Guild: guild, Choice: memory.Ignore, At: hour(1)})
		t.listensFrom(began, general, staff, thread)
		t.apply(memory.Chose{Guild: guild, Choice: memory.Remember, At: hour(2)})
		t.listensFrom(hour(2), general, staff)
		t.apply(memory.Chose{Guild: guild, Channel: staff, Choice: memory.Ignore, At: hour(3)})
		t.listensFrom(hour(2), general, staff)
		t.apply(memory.Chose{Guild: guild, Channel: staff, Choice: memory.Remember, At: hour(4)})
		t.listensFrom(hour(2), general)
		t.listensFrom(hour(4), staff)
		t.apply(memory.Chose{Guild: guild, Channel: staff, Choice: memory.Remember, At: hour(5)},
			memory.Chose{Guild: guild, Choice: memory.Remember, At: hour(5)})
		t.listensFrom(hour(2), general)
		t.listensFrom(hour(4), staff)
	}},
	{"a gap is found once and filled in steps", func(t *trial) {
		gap := memory.Gap{Guild: guild, Channel: general, After: id(10), Until: id(90)}
		t.apply(memory.GapFound{Gap: gap}, memory.GapFound{Gap: gap})
		t.same("found twice", t.gaps(), []memory.Gap{gap})
		t.apply(memory.GapFilled{Gap: gap, Through: id(40)})
		left := t.gaps()
		if len(left) != 1 || left[0].After != id(40) || left[0].Until != id(90) || left[0].Channel != general || left[0].Guild != guild {
			t.Fatalf("filled in part: %+v", left)
		}
		t.apply(memory.GapFound{Gap: gap}, memory.GapFilled{Gap: gap, Through: id(20)})
		t.same("told of again, and late", t.gaps(), left)
		t.apply(memory.GapFilled{Gap: left[0], Through: id(90)})
		t.same("filled wholly", t.gaps(), []memory.Gap(nil))
		t.apply(memory.GapFilled{Gap: gap, Through: id(95)})
		t.same("filled twice", t.gaps(), []memory.Gap(nil))
	}},
	{"after an absence all that is remembered is to be compared, on and round from where the last sweep was", func(t *trial) {
		at := began.Add(memory.SweptFirst)
		t.apply(memory.GuildSeen{Guild: town()})
		t.post(said(general, id(1), ada, "old"), said(general, memory.FirstMessageID(at.Add(-time.Hour)), ada, "new"), said(staff, id(2), ada, "old as well"))
		sweep := func(channel memory.ChannelID, after, until memory.MessageID) memory.Gap {
			return memory.Gap{Guild: guild, Channel: channel, After: after, Until: until, Sweep: true}
		}
		until := func(at time.Time) memory.MessageID { return memory.FirstMessageID(at.Add(time.Millisecond)) }
		week := memory.FirstMessageID(began.Add(time.Hour))
		t.apply(memory.Absent{Guild: guild, At: at.Add(time.Hour)})
		t.same("begun", t.unswept(), []memory.Gap{sweep(general, week, until(at.Add(time.Hour))), sweep(general, 0, week), sweep(staff, 0, week)})
		t.same("none is missing", t.gaps(), []memory.Gap(nil))
		t.apply(memory.GapFilled{Gap: sweep(general, 0, until(at.Add(time.Hour))), Through: until(at.Add(time.Hour))}, memory.GapFilled{Gap: sweep(general, 0, week), Through: id(1)})
		t.same("half done", t.unswept(), []memory.Gap{sweep(general, id(1), week), sweep(staff, 0, week)})
		t.apply(memory.Absent{Guild: guild, Channel: general, At: at.Add(2 * time.Hour)})
		t.same("begun again", t.unswept(), []memory.Gap{sweep(general, id(1), until(at.Add(2*time.Hour))), sweep(staff, 0, week), sweep(general, 0, id(1))})
	}},
	{"a channel that Hark couldn't read is shut until all of it is compared", func(t *trial) {
		shut := func(what string, want bool) { t.Helper(); t.same(what, t.channel(guild, general).Shut, want) }
		t.apply(memory.GuildSeen{Guild: town()})
		t.post(said(general, id(1), ada, "first"))
		t.apply(memory.Absent{Guild: guild, At: began.Add(time.Hour)})
		begun := t.unswept()[0]
		t.apply(memory.ShutOut{Guild: guild, Channel: general})
		shut("shut out", true)
		t.apply(memory.GapFilled{Gap: begun, Through: begun.Until})
		shut("compared before it was shut", true)
		t.same("nothing can be compared", t.unswept(), []memory.Gap(nil))
		t.apply(memory.ChannelSeen{Channel: town().Channels[0]}, memory.GuildSeen{Guild: town()})
		shut("seen again", true)
		t.apply(memory.Absent{Guild: guild, Channel: general, At: began.Add(time.Hour)})
		shut("let in", true)
		t.apply(memory.GapFilled{Gap: t.unswept()[0], Through: id(0)})
		shut("compared in part", true)
		t.apply(memory.GapFilled{Gap: t.unswept()[0], Through: t.unswept()[0].Until})
		shut("compared", false)
		t.apply(memory.ShutOut{Guild: guild, Channel: staff}, memory.Absent{Guild: guild, At: began})
		t.same("with nothing to compare", t.channel(guild, staff).Shut, false)
	}},
	{"gaps that were missed come before those that were asked for", func(t *trial) {
		past := memory.Gap{Guild: guild, Channel: general, After: 0, Until: id(1), Past: true}
		missed := memory.Gap{Guild: guild, Channel: staff, After: id(50), Until: id(60)}
		second := memory.Gap{Guild: guild, Channel: staff, After: id(70), Until: id(80)}
		t.apply(memory.GapFound{Gap: past}, memory.GapFound{Gap: second}, memory.GapFound{Gap: missed})
		gaps := t.gaps()
		if len(gaps) != 3 || gaps[2] != past {
			t.Fatalf("gaps: %+v", gaps)
		}
		t.apply(memory.GapFilled{Gap: missed, Through: id(60)}, memory.GapFilled{Gap: second, Through: id(200)})
		t.same("the rest", t.gaps(), []memory.Gap{past})
	}},
	{"the log comes in pages", func(t *trial) {
		var all []memory.Message
		for i := range 9 {
			all = append(all, said(general, id(i), ada, "page"))
		}
		t.post(all...)
		t.post(said(staff, id(4), ada, "elsewhere"))
		for _, c := range []struct {
			after, until memory.MessageID
			limit        int
			want         []memory.Message
		}{
			{0, never, 100, all}, {id(2), id(5), 100, all[3:6]}, {id(2), id(5), 2, all[3:5]}, {id(2) - 1, id(5) - 1, 9, all[2:5]},
			{id(5), id(2), 9, nil}, {id(3), id(3), 9, nil}, {0, never, 0, nil}, {id(8), never, 9, nil},
		} {
			got, err := t.store.Log(t.ctx, general, c.after, c.until, c.limit)
			if err != nil {
				t.Fatalf("Log(%d, %d, %d): %v", c.after, c.until, c.limit, err)
			}
			t.same("a page", plain(got), c.want)
		}
		t.same("of a channel that isn't known", t.log(nowhere), []memory.Message(nil))
	}},
	{"a question is open until it is closed, deleted or forgotten", func(t *trial) {
		open := func() []memory.MessageID {
			var ids []memory.MessageID
			for _, q := range got(t.store.Questions(t.ctx))(t) {
				t.same("where it was asked", q, memory.OpenQuestion{Guild: guild, Channel: general, ID: q.ID})
				ids = append(ids, q.ID)
			}
			return ids
		}
		ask := func(n int, author memory.UserID) {
			t.apply(memory.Posted{Message: said(general, id(n), author, "when?")}, memory.QuestionOpened{Question: memory.OpenQuestion{Guild: guild, Channel: general, ID: id(n)}})
		}
		for n, author := range map[int]memory.UserID{1: ben, 2: ben, 3: ben, 4: ada, 5: ben} {
			ask(n, author)
		}
		ask(5, ben) // once more
		t.same("asked", open(), []memory.MessageID{id(1), id(2), id(3), id(4), id(5)})
		t.apply(memory.QuestionClosed{Channel: general, ID: id(1)}, memory.QuestionClosed{Channel: staff, ID: id(3)})
		t.delete(general, id(2))
		t.forget(memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: later})
		t.same("of which are left", open(), []memory.MessageID{id(3), id(5)})
		t.forget(memory.Forgetting{Guild: guild, Channel: general, Why: memory.WhyPurge, At: later})
		t.same("after the channel is forgotten", len(open()), 0)
	}},
}

// listensFrom fails the test unless nothing said in these channels before at counts as missing, and all after it does.
func (t *trial) listensFrom(at time.Time, channels ...memory.ChannelID) {
	t.Helper()
	heard := t.heard(guild)
	for _, c := range channels {
		if got := heard[c]; got < memory.FirstMessageID(at)-1 || got.Time().After(at) {
			t.Fatalf("nothing until %s is missing in channel %d, want until %s", got.Time(), c, at)
		}
	}
}
