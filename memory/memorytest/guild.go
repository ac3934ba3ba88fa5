package memorytest

import (
	"maps"
	"time"

	"hark/memory"
)

// townWith is the town after a change.
func townWith(change func(*memory.Guild)) memory.GuildSeen {
	g := town()
	change(&g)
	return memory.GuildSeen{Guild: g, At: later}
}

// person is what is known of somebody by their name.
func person(id memory.UserID, name string) memory.PersonSeen {
	return memory.PersonSeen{Person: memory.Person{ID: id, Guild: guild, Name: name}}
}

// overtaken is a message of Ada's that an edit overtakes, so that it is known of when it is dropped.
var overtaken = said(general, id(401), ada, "late")

var seenTown = memory.GuildSeen{Guild: town(), At: began}

type byChannel = map[memory.ChannelID]string

var guildPromises = []promise{
	{"a guild comes back as it was seen", events{memory.GuildNamed{Guild: guild, Name: "Old Town"},
		memory.GuildNamed{Guild: guild, Name: "Older Town"}}, func(t *trial) {
		t.same("as a file tells it", normal(t.guild(guild)), normal(memory.Guild{ID: guild, Name: "Old Town"}))
		t.apply(seenTown, memory.GuildNamed{Guild: guild, Name: "Old Town"})
		want := town()
		want.Since = memory.FirstMessageID(began)
		t.same("once it is seen", normal(t.guild(guild)), normal(want))
		if g, err := t.store.Guild(t.ctx, 12345); !notFound(err) {
			t.Fatalf("an unknown guild: %+v, %v", g, err)
		}
	}},
	{"a guild seen again unplaces the channels it no longer lists, but for threads of those it lists", events{seenTown,
		townWith(func(g *memory.Guild) { g.Owner, g.Roles, g.Channels = ben, g.Roles[:1], g.Channels[:1] }),
	}, func(t *trial) {
		t.unplaced(false, true, false)
		t.apply(townWith(func(g *memory.Guild) { g.Channels = g.Channels[1:2] }))
		t.unplaced(true, false, true)
		t.apply(townWith(func(g *memory.Guild) {
			g.Channels = []memory.Channel{{ID: general, Guild: guild, Unplaced: true}, g.Channels[1]}
		}))
		t.unplaced(true, false, true)
	}},
	{"a channel that is gone is unplaced, and its threads aren't, until it is seen again",
		events{seenTown, memory.ChannelGone{Guild: guild, Channel: general}}, func(t *trial) {
			t.unplaced(true, false, false)
			t.apply(memory.ChannelSeen{Channel: town().Channels[0]})
			t.unplaced(false, false, false)
		}},
	{"an import fills in a channel that is known by its messages, and changes nothing of one that was seen",
		events{post(said(staff, id(1), ada, "first"))}, func(t *trial) {
			file := memory.Channel{ID: staff, Guild: guild, Parent: general, Kind: memory.PublicThread,
				Name: "from a file", Unplaced: true}
			t.same("unplaced", t.channel(guild, staff).Unplaced, true)
			t.apply(memory.ChannelSeen{Channel: file})
			t.same("filled in", t.channel(guild, staff), file)
			t.apply(memory.ChannelSeen{Channel: town().Channels[1]}, memory.ChannelSeen{Channel: file})
			t.same("as Discord says", t.channel(guild, staff), town().Channels[1])
			t.apply(memory.ChannelGone{Guild: guild, Channel: staff}, memory.ChannelSeen{Channel: file})
			t.same("gone", t.channel(guild, staff).Name, "staff")
		}},
	{"roles come, change and go, and so do overwrites that name one, but for those of @everyone and of members", events{
		townWith(func(g *memory.Guild) {
			g.Channels[0].Overwrites = []memory.Overwrite{{Role: 900, Deny: memory.ViewChannel},
				{Role: 950, Allow: memory.ViewChannel},
				{User: 950, Deny: memory.Connect}}
		}),
		memory.RoleSeen{Guild: guild, Role: memory.Role{ID: 950, Name: "captains", Permissions: memory.Administrator}},
		memory.RoleSeen{Guild: guild, Role: memory.Role{ID: 960, Name: "guests"}},
		memory.RoleGone{Guild: guild, Role: 950}, memory.RoleGone{Guild: guild,
			Role: 900}, memory.RoleGone{Guild: guild, Role: 999},
	}, func(t *trial) {
		t.same("the roles", t.guild(guild).Roles, []memory.Role{{ID: 960, Name: "guests"}})
		t.same("the overwrites", t.channel(guild, general).Overwrites,
			[]memory.Overwrite{{Role: 900, Deny: memory.ViewChannel},
				{User: 950, Deny: memory.Connect}})
	}},
	{"what is learned of a person adds to what was known, until they leave", events{
		memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, Username: "ada", Name: "Ada", Nick: "Captain",
			Roles: []memory.RoleID{950, 900}, RolesKnown: true}}, person(ada, "Ada L."),
	}, func(t *trial) {
		t.same("known", t.people(guild),
			[]memory.Person{{ID: ada, Guild: guild, Username: "ada", Name: "Ada L.", Nick: "Captain",
				Roles: []memory.RoleID{950, 900}, RolesKnown: true}})
		t.apply(memory.PersonLeft{Guild: guild, User: ada}, memory.PersonLeft{Guild: guild, User: ben})
		t.same("who left", t.people(guild), []memory.Person{{ID: ada, Guild: guild, Username: "ada", Name: "Ada L."}})
		t.apply(memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, Nick: "Skipper"}},
			memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, RolesKnown: true}})
		t.same("known to have no nickname", t.people(guild)[0].Nick, "")
	}},
	{"facts are told, changed and taken away for good, also with the message that told them, whichever comes first", events{
		facts(ada, 7, "lives by the sea"), facts(ada, 3, "sails"), facts(ada, 7, "lives in the hills"),
		memory.FactGone{Guild: guild, User: ada, Fact: 3}, memory.FactGone{Guild: guild, User: ada, Fact: 11},
		facts(ada, 3, "sails"), facts(ada, 11, "late"), post(first), post(said(staff, first.ID, ada, "I sail")),
		facts(ada, 1, "cooks", spot(general, first.ID)), facts(ada, 2, "rows", spot(staff, first.ID)),
		deletes(general, first.ID, second.ID), facts(ada, 1, "cooks"), facts(ada, 4, "late",
			spot(general, second.ID)), person(ada, "Ada"),
	}, func(t *trial) {
		t.same("facts", t.people(guild)[0].Facts, []memory.Fact{facts(ada, 2, "rows", spot(staff, first.ID)).Fact,
			facts(ada, 7, "lives in the hills").Fact})
	}},
	{"the last that was said of learning holds by time, and what was looked at grows",
		events{seenTown, person(ada, "Ada"), person(ben, "Ben"),
			memory.Learn{Guild: guild, At: minute(1)}, memory.Learn{Guild: guild, On: true, At: minute(3)},
			memory.Learn{Guild: guild, At: minute(2)},
			memory.Learn{Guild: guild, User: ada, On: true, At: minute(5)}, memory.Learn{Guild: guild,
				User: ada, At: minute(4)},
			memory.Learn{Guild: guild, User: ben, On: true, At: minute(1)},
			memory.Learn{Guild: guild, User: ben, At: minute(6)}, memory.Learned{Guild: guild,
				Channel: general, Until: id(5)},
			memory.Learned{Guild: guild, Channel: general, Until: id(3)}, seenTown, person(ada, "Ada"),
		}, func(t *trial) {
			t.same("since when", []time.Time{t.guild(guild).Learn, t.people(guild)[0].Learn, t.people(guild)[1].Learn},
				[]time.Time{minute(3), minute(5), {}})
			t.same("what was looked at", t.channel(guild, general).Learned, id(5))
			t.apply(opts(ada, true, 7), memory.Learn{Guild: guild, User: ada, On: true, At: minute(8)},
				opts(ada, false, 9), person(ada, "Ada"))
			t.same("of who was out", t.people(guild)[0].Learn, time.Time{})
		}},
	{"nothing is kept of somebody who has opted out, until they opt in",
		events{post(first), edits(overtaken, 10, "early"),
			opts(ada, true, 5), opts(ada, false, 4), post(overtaken),
			post(said(general, id(3), ada, "after")), post(edited(first, 10, "changed")), post(second),
			post(said(local, id(3), ada, "elsewhere")), person(ada, "Ada"), facts(ada, 1, "sails"),
			memory.LoreTold{Lore: note(1, ada, general, 90)},
		}, func(t *trial) {
			t.same("the log", t.log(general), []memory.Message{second})
			t.same("elsewhere", len(t.log(local)), 1)
			f := t.carryOut()[0]
			t.same("what was forgotten", []any{f.Forgetting.User, f.Forgetting.Why, f.Forgetting.At, f.Messages},
				[]any{ada, memory.WhyOptOut, minute(5), 1})
			t.apply(opts(ada, false, 6), opts(ada, true, 5), person(ada, "Ada"))
			again := said(general, id(400), ada, "again")
			t.post(first, said(general, id(330), ada, "meanwhile"), again, overtaken)
			t.apply(memory.LoreTold{Lore: note(2, ada, general, 5)}, memory.LoreTold{Lore: note(3, ada, general, 150)})
			t.same("logged again", t.log(general), []memory.Message{second, again})
			t.same("lore", len(t.lore(guild)), 1)
		}},
	{"nothing is kept of a message that is dropped, nor of what is told of it soon after, so that it comes again once it may", nil,
		func(t *trial) {
			dropped := said(general, id(400), ada, "dropped")
			t.apply(opts(ada, true, 1), post(dropped), edits(dropped, 60, "edited"),
				stars(general, dropped.ID, true, 60),
				memory.Named{Channel: general, ID: dropped.ID, Name: "d"}, post(dropped))
			t.same("while out", t.log(general), []memory.Message(nil))
			t.apply(opts(ada, false, 5), post(dropped)) // before it was said, by the clock
			t.same("in again", t.log(general), []memory.Message{dropped})
		}},
	{"the last star by time holds, before its message and after it, whatever edits there are",
		events{stars(general, first.ID, false, 1), stars(general, first.ID, true, 5),
			stars(general, first.ID, false, 4), post(first),
			edits(first, 9, "changed")}, func(t *trial) {
			t.same("marked", t.log(general)[0].Starred, true)
			t.apply(stars(general, first.ID, false, 6), stars(general, first.ID, true, 5))
			t.same("marked no longer", t.pending()[0].Messages[0].Starred, false)
		}},
	{"the last setting by time holds, whatever is seen of the channel",
		events{sets(thread, memory.SettingMode, "creation", 1), seenTown,
			sets(general, memory.SettingMode, "search", 2), sets(general, memory.SettingMode, "analysis", 1),
			sets(general, memory.SettingPersona, "Calm.", 1),
			sets(staff, memory.SettingMode, "search", 1), sets(staff, memory.SettingMode, "", 2), sets(0,
				memory.SettingModel, "large", 2),
			sets(0, memory.SettingModel, "small", 1),
			townWith(func(g *memory.Guild) {
				g.Settings, g.Channels[0].Settings = map[memory.Setting]string{memory.SettingModel: "tiny"},
					map[memory.Setting]string{memory.SettingMode: "modification"}
			}),
		}, func(t *trial) {
			t.same("the modes", t.settings(memory.SettingMode), byChannel{general: "search", thread: "creation"})
			t.same("the models", t.settings(memory.SettingModel), byChannel{0: "large"})
		}},
	{"settings go with all of their channel or guild, and with nothing less", events{seenTown,
		sets(general, memory.SettingPersona, "Calm.", 1), sets(thread, memory.SettingMode, "search", 1),
		sets(staff, memory.SettingMode, "search", 1), sets(0, memory.SettingPersona, "Kind.", 1),
		sets(general, memory.SettingMode, "search", 600), sets(general, memory.SettingAnswers, "off", 1),
		sets(thread, memory.SettingRetention, "7d", 1), sets(staff, memory.SettingAnswers, "off", 1),
		sets(0, memory.SettingRetention, "90d", 1),
	}, func(t *trial) {
		at := minute(60)
		t.forget(memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: at})
		t.forget(memory.Forgetting{Guild: memory.Everywhere, Before: at, Why: memory.WhyAge, At: at})
		t.same("after a person and what is old", t.settings(memory.SettingPersona),
			byChannel{general: "Calm.", 0: "Kind."})
		t.forget(memory.Forgetting{Guild: guild, Channel: general, Why: memory.WhyPurge, At: at})
		// late
		t.apply(sets(general, memory.SettingPersona, "Loud.", 2), sets(general, memory.SettingRetention, "5d", 2))
		t.same("personas after the channel", t.settings(memory.SettingPersona), byChannel{0: "Kind."})
		t.same("modes, one of them set later", t.settings(memory.SettingMode),
			byChannel{staff: "search", general: "search"})
		t.same("what stays with the channel", t.settings(memory.SettingAnswers),
			byChannel{general: "off", staff: "off"})
		t.same("what stays with it and its thread", t.settings(memory.SettingRetention),
			byChannel{thread: "7d", general: "5d", 0: "90d"})
		t.apply(memory.ChannelDeleted{Guild: guild, Channel: staff, At: later},
			sets(staff, memory.SettingMode, "analysis", 900))
		t.same("modes without the channel that was deleted", t.settings(memory.SettingMode),
			byChannel{general: "search"})
		t.same("what stayed with it", t.settings(memory.SettingAnswers), byChannel{general: "off"})
		t.apply(memory.GuildLeft{Guild: guild, At: later})
		t.forget(memory.Forgetting{Guild: guild, Why: memory.WhyLeft, At: later})
		t.apply(memory.GuildSeen{Guild: town(), At: later})
		t.same("after all of the guild was forgotten", t.settings(memory.SettingRetention), byChannel{})
	}},
	{"the last limit by time holds, whatever is seen of the guild",
		events{limits(951, 3, memory.AsConfigured, 1), seenTown,
			limits(951, memory.Unlimited, 5, 3), limits(951, 4, 4, 2), limits(0, 7, 7, 1),
			limits(900, 1, 1, 1), limits(900, memory.AsConfigured, memory.AsConfigured, 2),
			townWith(func(g *memory.Guild) { g.Limits = []memory.RoleLimit{{Role: 951}} }),
		}, func(t *trial) {
			t.same("the last", t.guild(guild).Limits, []memory.RoleLimit{limits(0, 7, 7, 0).RoleLimit,
				limits(951, 0, 5, 0).RoleLimit})
			t.forget(memory.Forgetting{Guild: guild, Why: memory.WhyLeft, At: later})
			t.apply(seenTown)
			t.same("after all of the guild was forgotten", t.guild(guild).Limits, []memory.RoleLimit(nil))
			t.refused(limits(0, -2, 0, 1), limits(0, 0, -2, 1),
				memory.Spent{Guild: guild, User: ada, Tokens: 1}, spent(ada, 1, -1))
		}},
	{"what is spent is counted by day and by who asked, and is forgotten with them", events{ // the beginning is at noon
		spent(ada, 1, 10), spent(ada, 2, 20), spent(ben, 3, 5), spent(ada, 12, 100), spent(ada, -13,
			200), spent(ada, 2, 20),
		spent(ada, 2, 15), spent(ben, 3, 6),
	}, func(t *trial) {
		today := func(what string, want map[memory.UserID]int) {
			t.Helper()
			t.same(what, t.spending(guild, began), want)
		}
		today("today", map[memory.UserID]int{ada: 30, ben: 6})
		t.same("today, in another zone", t.spending(guild, began.Add(11*time.Hour).In(time.FixedZone("", 12*3600))),
			map[memory.UserID]int{ada: 30, ben: 6})
		t.expire(memory.Expiry{Spending: id(2 * 3600).Time()})
		today("without what is old", map[memory.UserID]int{ada: 20, ben: 6})
		for _, f := range []memory.Forgetting{{Guild: guild, Channel: general},
			{Guild: guild, Before: began.Add(9 * time.Hour)},
			{Guild: village}} {
			f.User, f.Why, f.At = ada, memory.WhyMember, later
			t.forget(f)
		}
		today("after less was forgotten", map[memory.UserID]int{ada: 20, ben: 6})
		t.forget(memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: began.Add(4 * time.Hour)})
		t.apply(spent(ada, 1, 7), spent(ada, 2, 22), spent(ada, 5, 1))
		today("what comes late, and what comes then", map[memory.UserID]int{0: 29, ben: 6, ada: 1})
		t.apply(opts(ada, true, 1), spent(ada, 6, 2))
		today("of who has opted out", map[memory.UserID]int{0: 32, ben: 6})
		t.forget(memory.Forgetting{Guild: memory.Everywhere, User: ben, Why: memory.WhyPurge, At: later})
		today("of who is forgotten everywhere", map[memory.UserID]int{0: 38})
		t.forget(memory.Forgetting{Guild: guild, Why: memory.WhyPurge, At: later})
		t.apply(spent(503, 7, 2))
		today("of a guild that is forgotten", nil)
	}},
	{"the newest message told of live is heard, whether it is logged, dropped or neither, and in any order",
		events{memory.GuildSeen{Guild: town()}, opts(ada, true, 0),
			memory.Posted{Message: second, Live: true}, memory.Posted{Message: said(general, id(5), ada,
				"opted out"), Live: true},
			post(said(general, id(9), ben, "fetched")),
			memory.Heard{Guild: guild, Channel: staff, ID: id(2)}, memory.Heard{Guild: guild, Channel: staff,
				ID: id(1)},
			deletes(thread, id(20)), memory.Posted{Message: said(thread, id(20), ben, "deleted"), Live: true},
		}, func(t *trial) {
			t.same("heard", t.heard(guild), map[memory.ChannelID]memory.MessageID{general: id(5),
				staff: id(2), thread: id(20)})
		}},
	{"nothing said before a guild was first seen, or seen again after it was left, counts as missing",
		events{seenTown, memory.GuildSeen{Guild: town(), At: minute(60)}}, func(t *trial) {
			t.listensFrom(began, general, staff, thread)
			t.apply(memory.GuildLeft{Guild: guild, At: minute(120)})
			t.unplaced(true, true, true)
			t.same("left", t.guild(guild).Left.UTC(), minute(120))
			t.apply(memory.GuildSeen{Guild: town(), At: minute(180)})
			t.same("left, once it is seen again", t.guild(guild).Left.IsZero(), true)
			t.listensFrom(minute(180), general, staff, thread)
		}},
	{"the last choice by time holds, and what was said until something is remembered doesn't count as missing",
		events{seenTown, chose(0, memory.RememberPublic, 2), chose(0, memory.Ignore, 1),
			chose(general, memory.Ignore, 1), chose(general, memory.Remember, 5), chose(general,
				memory.RememberChosen, 4),
			memory.Asked{Guild: guild, Channel: general, Message: id(1)},
			townWith(func(g *memory.Guild) {
				g.Choice, g.Channels[0].Choice, g.Left = memory.Remember, memory.Ignore, began
			}),
		}, func(t *trial) {
			g := t.guild(guild)
			t.same("chosen", []any{g.Choice, g.Asked, g.Left.IsZero(), t.channel(guild, general).Choice},
				[]any{memory.RememberPublic, true, true, memory.Remember})
			t.listensFrom(minute(2), staff)
			t.listensFrom(minute(5), general, thread)
			t.apply(chose(staff, memory.Ignore, 6), chose(staff, memory.Remember, 7), chose(staff, memory.Remember, 8),
				chose(0, memory.RememberPublic, 8), threadOf(general, 914, 0, "new"))
			t.listensFrom(minute(8), 914)
			t.listensFrom(minute(7), staff)
		}},
	{"a gap is found once and filled in steps, and what was missed comes before what was asked for", nil,
		func(t *trial) {
			gap, past := memory.Gap{Guild: guild, Channel: staff, After: id(10), Until: id(90)},
				memory.Gap{Guild: guild, Channel: general, Until: id(1), Past: true}
			t.apply(memory.GapFound{Gap: past}, memory.GapFound{Gap: gap}, memory.GapFilled{Gap: gap, Through: id(40)},
				memory.GapFound{Gap: gap}, memory.GapFilled{Gap: gap, Through: id(20)})
			gap.After = id(40)
			t.same("filled in part", t.gaps(guild, false), []memory.Gap{gap, past})
			t.apply(memory.GapFilled{Gap: gap, Through: id(95)}, memory.GapFilled{Gap: gap, Through: id(90)})
			t.same("filled wholly", t.gaps(guild, false), []memory.Gap{past})
		}},
	{"after an absence all that is remembered is to be compared, on and round from where the last sweep was",
		nil, func(t *trial) {
			at := began.Add(memory.SweptFirst)
			t.apply(memory.GuildSeen{Guild: town()})
			t.post(said(general, id(1), ada, "old"), said(general, memory.FirstMessageID(at.Add(-time.Hour)),
				ada, "new"),
				said(staff, id(2), ada, "old as well"))
			sweep := func(channel memory.ChannelID, after, until memory.MessageID) memory.Gap {
				return memory.Gap{Guild: guild, Channel: channel, After: after, Until: until, Sweep: true}
			}
			until := func(hours int) memory.MessageID {
				return memory.FirstMessageID(at.Add(time.Duration(hours)*time.Hour + time.Millisecond))
			}
			week := memory.FirstMessageID(minute(60))
			t.apply(memory.Absent{Guild: guild, At: at.Add(time.Hour)})
			t.same("begun", t.gaps(guild, true), []memory.Gap{sweep(general, week, until(1)),
				sweep(general, 0, week), sweep(staff, 0, week)})
			t.apply(memory.GapFilled{Gap: sweep(general, 0, until(1)), Through: until(1)},
				memory.GapFilled{Gap: sweep(general, 0, week), Through: id(1)})
			t.apply(memory.Absent{Guild: guild, Channel: general, At: at.Add(2 * time.Hour)})
			t.same("begun again", t.gaps(guild, true), []memory.Gap{sweep(general, id(1), until(2)),
				sweep(staff, 0, week), sweep(general, 0, id(1))})
		}},
	{"a channel that Hark couldn't read is shut until all of it is compared",
		events{memory.GuildSeen{Guild: town()}, post(first),
			memory.Absent{Guild: guild, At: minute(60)}}, func(t *trial) {
			shut := func(what string, want bool) { t.Helper(); t.same(what, t.channel(guild, general).Shut, want) }
			begun := t.gaps(guild, true)[0]
			t.apply(memory.ShutOut{Guild: guild, Channel: general}, memory.GapFilled{Gap: begun, Through: begun.Until},
				memory.GuildSeen{Guild: town()})
			shut("shut out, and seen again", true)
			t.same("nothing can be compared", t.gaps(guild, true), []memory.Gap(nil))
			t.apply(memory.Absent{Guild: guild, Channel: general, At: minute(60)})
			t.apply(memory.GapFilled{Gap: t.gaps(guild, true)[0], Through: id(0)})
			shut("compared in part", true)
			t.apply(memory.GapFilled{Gap: t.gaps(guild, true)[0], Through: t.gaps(guild, true)[0].Until})
			shut("compared", false)
			t.apply(memory.ShutOut{Guild: guild, Channel: staff}, memory.Absent{Guild: guild, At: began})
			t.same("with nothing to compare", t.channel(guild, staff).Shut, false)
		}},
	{"a question is open until it is closed, deleted or forgotten", nil, func(t *trial) {
		for n, author := range []memory.UserID{ben, ben, ben, ada, ben, ben} {
			q := memory.QuestionOpened{Question: memory.OpenQuestion{Guild: guild, Channel: general, ID: id(n)}}
			t.apply(post(said(general, id(n), author, "when?")), q, q)
		}
		t.apply(memory.QuestionClosed{Channel: general, ID: id(1)}, memory.QuestionClosed{Channel: staff, ID: id(2)})
		t.delete(general, id(4))
		t.forget(memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: later})
		t.same("which are left", len(got(t.store.Questions(t.ctx))(t)), 3)
		t.compare()
		t.forget(memory.Forgetting{Guild: guild, Channel: general, Why: memory.WhyPurge, At: later})
		t.same("after the channel is forgotten", len(got(t.store.Questions(t.ctx))(t)), 0)
	}},
}

// unplaced fails the test unless these are general, staff and thread of the guild.
func (t *trial) unplaced(want ...bool) {
	t.Helper()
	t.same("unplaced", []bool{t.channel(guild, general).Unplaced, t.channel(guild, staff).Unplaced,
		t.channel(guild, thread).Unplaced},
		want)
}

// settings are the values of a setting, by channel; the guild's are under 0.
func (t *trial) settings(key memory.Setting) map[memory.ChannelID]string {
	t.Helper()
	g := t.guild(guild)
	values := map[memory.ChannelID]string{0: g.Settings[key]}
	for _, c := range g.Channels {
		values[c.ID] = c.Settings[key]
	}
	maps.DeleteFunc(values, func(_ memory.ChannelID, value string) bool { return value == "" })
	return values
}

// listensFrom fails the test unless nothing said in these channels before at counts as missing, and all after it does.
func (t *trial) listensFrom(at time.Time, channels ...memory.ChannelID) {
	t.Helper()
	heard := t.heard(guild)
	for _, c := range channels {
		if heard := heard[c]; heard < memory.FirstMessageID(at)-1 || heard.Time().After(at) {
			t.Fatalf("nothing until %s is missing in channel %d, want until %s", heard.Time(), c, at)
		}
	}
}
