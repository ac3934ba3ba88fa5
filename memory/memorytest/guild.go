package memorytest

import (
	"maps"
	"slices"
	"time"

	"hark/memory"
)

func townWith(change func(*memory.Guild)) memory.GuildSeen {
	g := town()
	change(&g)
	return memory.GuildSeen{Guild: g, At: later}
}

func person(id memory.UserID, name string) memory.PersonSeen {
	return memory.PersonSeen{Person: memory.Person{ID: id, Guild: guild, Name: name}}
}

func hasRoles(roles ...memory.RoleID) memory.PersonSeen {
	return memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, Roles: roles, RolesKnown: true}}
}

// overtaken is a message of Ada's whose edit comes first, so that it is known when it is dropped.
var overtaken = said(general, id(401), ada, "late")

var seenTown = memory.GuildSeen{Guild: town(), At: began}

var guildCases = []testCase{
	{"a guild comes back as it was seen", steps{memory.GuildNamed{Guild: guild, Name: "Old Town"},
		memory.GuildNamed{Guild: guild, Name: "Older Town"}, seenTown,
		memory.GuildNamed{Guild: guild, Name: "Old Town"},
	}, func(t *harness) {
		want := town()
		want.Since = memory.FirstMessageID(began)
		t.same("once it is seen", normal(t.guild(guild)), normal(want))
		if g, err := t.store.Guild(t.ctx, 12345); !notFound(err) {
			t.Fatalf("an unknown guild: %+v, %v", g, err)
		}
	}},
	{"a guild seen again unplaces the channels it no longer lists, but for threads of those it lists",
		steps{seenTown,
			townWith(func(g *memory.Guild) { g.Owner, g.Roles, g.Channels = ben, g.Roles[:1], g.Channels[:1] }),
			unplaced(false, true, false),
			townWith(func(g *memory.Guild) { g.Channels = g.Channels[1:2] }), unplaced(true, false, true),
			townWith(func(g *memory.Guild) {
				g.Channels = []memory.Channel{{ID: general, Guild: guild, Unplaced: true}, g.Channels[1]}
			}), unplaced(true, false, true)}, nil},
	{"a channel that is gone is unplaced, and its threads aren't, until it is seen again", steps{seenTown,
		memory.ChannelGone{Guild: guild, Channel: general}, unplaced(true, false, false),
		memory.ChannelSeen{Channel: town().Channels[0]}, unplaced(false, false, false)}, nil},
	{"an import fills in a channel that is known by its messages, and changes nothing of one that was seen",
		steps{post(said(staff, id(1), ada, "first")), imported,
			memory.ChannelSeen{Channel: town().Channels[1]}, imported,
			memory.ChannelGone{Guild: guild, Channel: staff}, imported}, func(t *harness) {
			t.same("as Discord says", t.channel(guild, staff).Name, "staff")
		}},
	{"a forum's tags and those of its posts come and change with their names", steps{seenTown,
		memory.ChannelSeen{Channel: memory.Channel{ID: 1500, Guild: guild, Kind: memory.ForumChannel, Name: "help",
			Tags: []memory.Tag{{ID: 5, Name: "solved"}, {ID: 6, Name: "linux"}}}},
		memory.ChannelSeen{Channel: tagged(memory.Tag{ID: 5}, memory.Tag{ID: 6})},
		memory.ChannelSeen{Channel: memory.Channel{ID: 1501, Guild: guild, Parent: 1500, Kind: memory.PublicThread}},
	}, func(t *harness) {
		titled := func(what string, want ...string) {
			t.Helper()
			g := t.guild(guild)
			t.same(what, memory.TitleOf(g.Channel(1501), g.Channel(1500)), memory.Title{Name: "VPN", Tags: want})
		}
		titled("as they were seen", "solved", "linux")
		t.apply(memory.ChannelSeen{Channel: memory.Channel{ID: 1500, Guild: guild, Kind: memory.ForumChannel,
			Name: "help", Tags: []memory.Tag{{ID: 6, Name: "Linux"}}}})
		titled("one is renamed, one is gone", "Linux")
		t.apply(memory.ChannelSeen{Channel: tagged()})
		titled("the post has none any more")
		t.apply(memory.ChannelSeen{Channel: tagged(memory.Tag{Name: "from a file"})})
		titled("a name alone", "from a file")
		t.forget(memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember})
		t.same("whoever made the post is forgotten", t.channel(guild, 1501).Tags, []memory.Tag(nil))
		t.apply(memory.ChannelDeleted{Guild: guild, Channel: 1500, At: later})
		t.same("the forum is deleted", t.channel(guild, 1500).Tags, []memory.Tag(nil))
	}},
	{"a thread's segments are embedded with its title, and again when it changes or goes", steps{seenTown,
		memory.ChannelSeen{Channel: tagged()}, post(said(1501, id(1), ben, "load the module first")),
		post(said(general, id(2), ben, "what a day")), (*harness).embedAll}, func(t *harness) {
		pending := func(what string, want int) {
			t.Helper()
			t.same(what, len(t.pending()), want)
			t.checkQueue()
		}
		vpn := func() []memory.VectorHit {
			vector := embedText("vpn")
			return got(t.store.Nearest(t.ctx, in(1501), Embedder{}.Space(), vector, 1))(t)
		}
		if found := vpn(); len(found) != 1 || found[0].Similarity < 0.3 {
			t.Fatalf("by the title: %+v", found)
		}
		t.apply(memory.ChannelSeen{Channel: tagged(memory.Tag{Name: "solved"})})
		pending("its tags changed", 0)
		renamed := tagged()
		renamed.Name = "Tunnel"
		t.apply(memory.ChannelSeen{Channel: renamed})
		t.same("by the title before", vpn(), []memory.VectorHit(nil))
		pending("it was renamed", 1)
		t.embedAll()
		t.forget(memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember})
		pending("whoever made it is forgotten", 1)
		t.same("the title", t.pending()[0].Title, "")
	}},
	{"roles come, change and go, and so do overwrites that name one, but for those of @everyone and of members", steps{
		townWith(func(g *memory.Guild) {
			g.Channels[0].Overwrites = []memory.Overwrite{{Role: 900, Deny: memory.ViewChannel},
				{Role: 950, Allow: memory.ViewChannel}, {User: 950, Deny: memory.Connect}}
		}),
		memory.RoleSeen{Guild: guild, Role: memory.Role{ID: 950, Name: "captains",
			Permissions: memory.Administrator}},
		memory.RoleSeen{Guild: guild, Role: memory.Role{ID: 960, Name: "guests"}},
		memory.RoleGone{Guild: guild, Role: 950}, memory.RoleGone{Guild: guild, Role: 900},
		memory.RoleGone{Guild: guild, Role: 999},
	}, func(t *harness) {
		t.same("the overwrites", t.channel(guild, general).Overwrites,
			[]memory.Overwrite{{Role: 900, Deny: memory.ViewChannel}, {User: 950, Deny: memory.Connect}})
	}},
	{"what is learned of a person adds to what was known, until they leave", steps{
		memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, Username: "ada", Name: "Ada",
			Nick:  "Captain",
			Roles: []memory.RoleID{950, 900}, RolesKnown: true}}, person(ada, "Ada L."),
		memory.PersonLeft{Guild: guild, User: ada}, memory.PersonLeft{Guild: guild, User: ben}, hasRoles(950),
		hasRoles(900), (*harness).compare,
		memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, Nick: "Skipper"}},
		hasRoles(),
	}, func(t *harness) {
		t.same("who is known to have no nickname", t.people(guild),
			[]memory.Person{{ID: ada, Guild: guild, Username: "ada", Name: "Ada L.", RolesKnown: true}})
	}},
	{"facts are told, changed and removed for good, also with their message, whichever comes first", steps{
		facts(ada, 7, "lives by the sea"), facts(ada, 3, "sails"), facts(ada, 7, "lives in the hills"),
		memory.FactGone{Guild: guild, User: ada, Fact: 3}, memory.FactGone{Guild: guild, User: ada, Fact: 11},
		facts(ada, 3, "sails"), facts(ada, 11, "late"), post(first), post(said(staff, first.ID, ada, "I sail")),
		facts(ada, 1, "cooks", spot(general, first.ID)), facts(ada, 2, "rows", spot(staff, first.ID)),
		deletes(general, first.ID, second.ID), facts(ada, 1, "cooks"),
		facts(ada, 4, "late", spot(general, second.ID)), person(ada, "Ada"),
	}, func(t *harness) {
		t.same("facts", t.people(guild)[0].Facts, []memory.Fact{facts(ada, 2, "rows", spot(staff, first.ID)).Fact,
			facts(ada, 7, "lives in the hills").Fact})
	}},
	{"the last that was said of learning holds by time, and nothing is learned of who was out", steps{seenTown,
		memory.Learn{Guild: guild, On: true, At: minute(3)}, memory.Learn{Guild: guild, At: minute(2)},
		memory.Learn{Guild: guild, User: ada, On: true, At: minute(5)}, person(ada, "Ada"), opts(ada, true, 7),
		memory.Learn{Guild: guild, User: ada, On: true, At: minute(8)}, opts(ada, false, 9), person(ada, "Ada"),
	}, func(t *harness) {
		t.same("since when", []time.Time{t.guild(guild).Learn, t.people(guild)[0].Learn},
			[]time.Time{minute(3), {}})
	}},
	{"a member's token is the last that was made, and goes when they leave, opt out or are forgotten", steps{
		connects(ada, 1, 5), connects(ada, 2, 4), used(ada, 1, 2, 9), used(ada, 1, 1, 8), used(ada, 2, 7, 9),
		connected(ada, memory.Connection{Hash: memory.TokenHash{1}, At: minute(5), Uses: 2, Used: minute(9)}),
		connects(ada, 3, 10), connected(ada, memory.Connection{Hash: memory.TokenHash{3}, At: minute(10)}),
		connects(ada, 0, 11), connects(ada, 3, 10), connected(ada, memory.Connection{At: minute(11)}),
		connects(ada, 4, 12), memory.PersonLeft{Guild: guild, User: ada}, connected(ada, memory.Connection{At: minute(12)}),
		connects(ada, 5, 13), opts(ada, true, 14), connects(ada, 6, 15), connected(ada, memory.Connection{}),
		opts(ada, false, 16), connects(ada, 6, 15), connected(ada, memory.Connection{}),
		connects(ada, 7, 17), connects(ben, 8, 17),
		forgot(memory.Forgetting{Guild: guild, User: ada, At: minute(18)}), connects(ada, 7, 17),
		connected(ada, memory.Connection{}), connects(ada, 9, 19),
		connected(ada, memory.Connection{Hash: memory.TokenHash{9}, At: minute(19)}),
		forgot(memory.Forgetting{Guild: guild, At: minute(20)}),
	}, connected(ben, memory.Connection{})},
	{"nothing is kept of somebody who has opted out, until they opt in",
		steps{post(first), edits(overtaken, 10, "early"),
			opts(ada, true, 5), opts(ada, false, 4), post(overtaken),
			post(said(general, id(3), ada, "after")), post(edited(first, 10, "changed")), post(second),
			post(said(local, id(3), ada, "elsewhere")), person(ada, "Ada"), facts(ada, 1, "sails"),
			tells(note(1, ada, general, 90)),
		}, func(t *harness) {
			t.same("the log", t.log(general), []memory.Message{second})
			t.same("elsewhere", len(t.log(local)), 1)
			f := t.carryOut()[0]
			t.same("what was forgotten", []any{f.Forgetting.User, f.Forgetting.Why, f.Forgetting.At, f.Messages},
				[]any{ada, memory.WhyOptOut, minute(5), 1})
			t.apply(opts(ada, false, 6), opts(ada, true, 5), person(ada, "Ada"))
			again := said(general, id(400), ada, "again")
			t.post(first, said(general, id(330), ada, "meanwhile"), again, overtaken)
			t.apply(tells(note(2, ada, general, 5)),
				tells(note(3, ada, general, 150)))
			t.same("logged again", t.log(general), []memory.Message{second, again})
			t.same("lore", len(t.lore(guild)), 1)
		}},
	{"nothing is kept of a dropped message, nor of what is told of it soon after: it may come again", nil,
		func(t *harness) {
			dropped := said(general, id(400), ada, "dropped")
			t.apply(opts(ada, true, 1), post(dropped), edits(dropped, 60, "edited"),
				stars(general, dropped.ID, true, 60),
				memory.ExternalIDSeen{Channel: general, ID: dropped.ID, ExternalID: "d"}, post(dropped))
			t.same("while out", t.log(general), []memory.Message(nil))
			t.apply(opts(ada, false, 5), post(dropped)) // earlier, by the clock
			t.same("in again", t.log(general), []memory.Message{dropped})
		}},
	{"the last star, setting and limit by time hold, before and after what they are of is seen", steps{
		stars(general, first.ID, false, 1), stars(general, first.ID, true, 5), stars(general, first.ID, false, 4),
		post(first), edits(first, 9, "changed"), stars(general, first.ID, false, 6),
		stars(general, first.ID, true, 5),
		sets(thread, memory.SettingMode, "creation", 1), limits(951, 3, memory.AsConfigured, 1), seenTown,
		sets(general, memory.SettingMode, "search", 2), sets(general, memory.SettingMode, "analysis", 1),
		sets(staff, memory.SettingMode, "search", 1), sets(staff, memory.SettingMode, "", 2),
		limits(951, memory.Unlimited, 5, 3), limits(951, 4, 4, 2), limits(0, 7, 7, 1), limits(900, 1, 1, 1),
		limits(900, memory.AsConfigured, memory.AsConfigured, 2), townWith(func(g *memory.Guild) {
			g.Settings, g.Limits = map[memory.Setting]string{memory.SettingModel: "tiny"},
				[]memory.RoleLimit{{Role: 951}}
			g.Channels[0].Settings = map[memory.Setting]string{memory.SettingMode: "modification"}
		}),
	}, func(t *harness) {
		t.same("marked no longer", t.pending()[0].Messages[0].Starred, false)
		t.same("the mode", t.channel(guild, general).Settings,
			map[memory.Setting]string{memory.SettingMode: "search"})
		t.same("the limits", t.guild(guild).Limits, []memory.RoleLimit{limits(0, 7, 7, 0).RoleLimit,
			limits(951, 0, 5, 0).RoleLimit})
		t.refused(limits(0, -2, 0, 1), limits(0, 0, -2, 1), memory.Spent{Guild: guild, User: ada, Tokens: 1},
			spent(ada, 1, -1))
	}},
	{"settings go with all of their channel or guild, and with nothing less", steps{seenTown, limits(951, 3, 4, 1),
		sets(general, memory.SettingPersona, "Calm.", 1), sets(thread, memory.SettingMode, "search", 1),
		sets(staff, memory.SettingMode, "search", 1), sets(0, memory.SettingPersona, "Kind.", 1),
		sets(general, memory.SettingMode, "search", 600), sets(general, memory.SettingAnswers, "off", 1),
		sets(thread, memory.SettingRetention, "7d", 1), sets(0, memory.SettingRetention, "90d", 1),
		forgot(memory.Forgetting{Guild: guild, User: ada, At: minute(60)}),
		forgot(memory.Forgetting{Guild: memory.Everywhere, Before: minute(60), Why: memory.WhyAge, At: minute(60)}),
		settings(general, memory.SettingPersona, memory.SettingMode, memory.SettingAnswers),
		forgot(memory.Forgetting{Guild: guild, Channel: general, At: minute(60)}),
		// late; one of them stays
		sets(thread, memory.SettingMode, "analysis", 2), sets(general, memory.SettingPersona, "Loud.", 2),
		sets(general, memory.SettingRetention, "5d", 2),
		settings(general, memory.SettingMode, memory.SettingAnswers, memory.SettingRetention), // one is newer
		settings(thread, memory.SettingRetention), settings(staff, memory.SettingMode),
		settings(0, memory.SettingPersona, memory.SettingRetention),
		memory.ChannelDeleted{Guild: guild, Channel: staff, At: later},
		sets(staff, memory.SettingMode, "analysis", 900),
		settings(staff), memory.GuildLeft{Guild: guild, At: later},
		forgot(memory.Forgetting{Guild: guild, Why: memory.WhyLeft}), townWith(func(*memory.Guild) {}),
		settings(0), settings(general)}, nil},
	{"who chose is known until they opt out or are forgotten as a whole", steps{seenTown, by(ada, 1), by(ben, 2),
		chosenBy(ben), by(ada, 1), chosenBy(ben), // late
		forgot(memory.Forgetting{Guild: guild, User: ben, Channel: general, At: minute(60)}),
		forgot(memory.Forgetting{Guild: guild, User: ben, Before: minute(60), At: minute(60)}),
		forgot(memory.Forgetting{Guild: guild, User: ada, At: minute(60)}), chosenBy(ben),
		forgot(memory.Forgetting{Guild: guild, User: ben, At: minute(61)}), chosenBy(0),
		by(ben, 59), chosenBy(0), by(ben, 62), chosenBy(ben), opts(ben, true, 63), chosenBy(0),
		by(ben, 64), chosenBy(0), by(ada, 65), chosenBy(ada),
		forgot(memory.Forgetting{Guild: guild, At: minute(70)}), by(ada, 71), chosenBy(ada),
		forgot(memory.Forgetting{Guild: memory.Everywhere, User: ada, At: minute(72)}), chosenBy(0)}, nil},
	{"what is spent is counted by day and by who asked, and is forgotten with them",
		steps{ // began is at noon
			spent(ada, 1, 10), spent(ada, 2, 20), spent(ben, 3, 5), spent(ada, 12, 100), spent(ada, -13, 200),
			spent(ada, 2, 15), spent(ben, 3, 6), today(map[memory.UserID]int{ada: 30, ben: 6}),
			func(t *harness) { t.expire(memory.Expiry{Spending: id(2 * 3600).Time()}) },
			forgot(memory.Forgetting{Guild: guild, User: ada, Channel: general}),
			forgot(memory.Forgetting{Guild: guild, User: ada, Before: began.Add(9 * time.Hour)}),
			forgot(memory.Forgetting{Guild: village, User: ada}), today(map[memory.UserID]int{ada: 20, ben: 6}),
			forgot(memory.Forgetting{Guild: guild, User: ada, At: began.Add(4 * time.Hour)}),
			spent(ada, 1, 7), spent(ada, 2, 22), spent(ada, 5, 1), // late ones and those in time
			today(map[memory.UserID]int{0: 29, ben: 6, ada: 1}),
			opts(ada, true, 1), spent(ada, 6, 2), today(map[memory.UserID]int{0: 32, ben: 6}),
			forgot(memory.Forgetting{Guild: memory.Everywhere, User: ben}), today(map[memory.UserID]int{0: 38}),
			forgot(memory.Forgetting{Guild: guild}), spent(503, 7, 2), today(nil),
		}, nil},
	{"the newest message told of live is heard, whether it is logged, dropped or neither, and in any order",
		steps{memory.GuildSeen{Guild: town()}, opts(ada, true, 0), memory.Posted{Message: second, Live: true},
			memory.Posted{Message: said(general, id(5), ada, "opted out"), Live: true},
			post(said(general, id(9), ben, "fetched")), memory.Heard{Guild: guild, Channel: staff, ID: id(2)},
			memory.Heard{Guild: guild, Channel: staff, ID: id(1)}, deletes(thread, id(20)),
			memory.Posted{Message: said(thread, id(20), ben, "deleted"), Live: true},
		}, func(t *harness) {
			t.same("heard", got(t.store.HeardUntil(t.ctx, guild))(t),
				map[memory.ChannelID]memory.MessageID{general: id(5), staff: id(2), thread: id(20)})
		}},
	{"nothing said before a guild was first seen, or seen again after it was left, counts as missing",
		steps{seenTown,
			memory.GuildSeen{Guild: town(), At: minute(60)}, listens(began, general, staff, thread),
			memory.GuildLeft{Guild: guild, At: minute(120)}, unplaced(true, true, true),
			memory.GuildSeen{Guild: town(), At: minute(180)}, listens(minute(180), general, staff, thread)}, nil},
	{"the last choice by time holds, and what was said until something is remembered doesn't count as missing",
		steps{seenTown, chose(0, memory.RememberPublic, 2), chose(0, memory.Ignore, 1),
			chose(general, memory.Ignore, 1), chose(general, memory.Remember, 5),
			chose(general, memory.RememberChosen, 4),
			memory.Asked{Guild: guild, Channel: general, Message: id(1)}, townWith(func(g *memory.Guild) {
				g.Choice, g.Channels[0].Choice, g.Left = memory.Remember, memory.Ignore, began
			}), listens(minute(2), staff), listens(minute(5), general, thread),
			chose(staff, memory.Ignore, 6), chose(staff, memory.Remember, 7), chose(staff, memory.Remember, 8),
			chose(0, memory.RememberPublic, 8), threadOf(general, 914, 0, "new"), listens(minute(8), 914),
			listens(minute(7), staff)}, nil},
	{"a gap is found once and filled in steps, and what was missed comes before what was asked for", steps{
		memory.GapFound{Gap: memory.Gap{Guild: guild, Channel: general, Until: id(1), Past: true}},
		memory.GapFound{Gap: missed}, memory.GapFilled{Gap: missed, Through: id(40)}, memory.GapFound{Gap: missed},
		memory.GapFilled{Gap: missed, Through: id(20)}, memory.GapFilled{Gap: missed, Through: id(95)},
		memory.GapFilled{Gap: missed, Through: id(90)}}, nil},
	{"after an absence all that is remembered is to be compared, on and round from where the last sweep was",
		steps{memory.GuildSeen{Guild: town()}, post(said(general, id(1), ada, "old")),
			post(said(general, memory.FirstMessageID(began.Add(memory.SweptFirst-time.Hour)), ada, "new")),
			post(said(staff, id(2), ada, "old as well")), memory.Absent{Guild: guild, At: sweepEnd(1).Time()},
			memory.GapFilled{Gap: toSweep(general, 0, sweepEnd(1)+1<<22), Through: sweepEnd(1) + 1<<22},
			memory.GapFilled{Gap: toSweep(general, 0, memory.FirstMessageID(minute(60))), Through: id(1)},
			memory.Absent{Guild: guild, Channel: general, At: sweepEnd(2).Time()},
		}, func(t *harness) {
			week := memory.FirstMessageID(minute(60))
			t.same("begun again", t.gaps(guild, true), []memory.Gap{toSweep(general, id(1), sweepEnd(2)+1<<22),
				toSweep(staff, 0, week), toSweep(general, 0, id(1))})
		}},
	{"a channel that Hark couldn't read is shut until all of it is compared",
		steps{memory.GuildSeen{Guild: town()}, post(first),
			memory.Absent{Guild: guild, At: minute(60)}}, func(t *harness) {
			shut := func(what string, want bool) { t.Helper(); t.same(what, t.channel(guild, general).Shut, want) }
			begun := t.gaps(guild, true)[0]
			t.apply(memory.ShutOut{Guild: guild, Channel: general},
				memory.GapFilled{Gap: begun, Through: begun.Until},
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
	{"a question is open until it is closed, deleted or forgotten", nil, func(t *harness) {
		for n, author := range []memory.UserID{ben, ben, ben, ada, ben, ben} {
			q := memory.QuestionOpened{Question: memory.OpenQuestion{Guild: guild, Channel: general, ID: id(n)}}
			t.apply(post(said(general, id(n), author, "when?")), q, q)
		}
		t.apply(memory.QuestionClosed{Channel: general, ID: id(1)},
			memory.QuestionClosed{Channel: staff, ID: id(2)})
		t.delete(general, id(4))
		t.forget(memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember})
		t.compare()
		t.same("which are left", len(got(t.store.Questions(t.ctx))(t)), 3)
		t.forget(memory.Forgetting{Guild: guild, Channel: general})
	}},
}

// tagged is Ada's post in the forum 1500.
func tagged(tags ...memory.Tag) memory.Channel {
	return memory.Channel{ID: 1501, Guild: guild, Parent: 1500, Kind: memory.PublicThread, Name: "VPN", Owner: ada,
		Tags: tags}
}

// imported is a channel in an imported file.
var imported = memory.ChannelSeen{Channel: memory.Channel{ID: staff, Guild: guild, Parent: general,
	Kind: memory.PublicThread, Name: "from a file", Unplaced: true}}

var missed = memory.Gap{Guild: guild, Channel: staff, After: id(10), Until: id(90)}

func toSweep(channel memory.ChannelID, after, until memory.MessageID) memory.Gap {
	return memory.Gap{Guild: guild, Channel: channel, After: after, Until: until, Sweep: true}
}

// sweepEnd is hours after the end of a sweep's first week.
func sweepEnd(hours int) memory.MessageID {
	return memory.FirstMessageID(began.Add(memory.SweptFirst + time.Duration(hours)*time.Hour))
}

// Steps that check the current state.

// unplaced fails the test unless Unplaced is so for general, staff and thread.
func unplaced(want ...bool) func(*harness) {
	return func(t *harness) {
		t.Helper()
		t.same("unplaced", []bool{t.channel(guild, general).Unplaced, t.channel(guild, staff).Unplaced,
			t.channel(guild, thread).Unplaced}, want)
	}
}

// by is somebody who chooses all that can be chosen.
func by(user memory.UserID, minutes int) func(*harness) {
	return func(t *harness) {
		setting, limit := sets(0, memory.SettingMode, "search", minutes), limits(951, 3, 4, minutes)
		own, all := sets(general, memory.SettingMode, "search", minutes), chose(0, memory.Remember, minutes)
		channel := chose(general, memory.Remember, minutes)
		setting.By, limit.By, own.By, all.By, channel.By = user, user, user, user, user
		t.apply(setting, limit, own, all, channel)
	}
}

// chosenBy fails the test unless a person, or for 0 nobody, is known to have chosen all of it.
func chosenBy(user memory.UserID) func(*harness) {
	return func(t *harness) {
		g, c := t.guild(guild), t.channel(guild, general)
		t.same("who chose", []memory.UserID{g.SetBy[memory.SettingMode], g.Limits[0].By, c.SetBy[memory.SettingMode],
			g.By, c.By}, slices.Repeat([]memory.UserID{user}, 5))
	}
}

// settings fails the test unless a channel, or for 0 the guild, has exactly these settings.
func settings(of memory.ChannelID, want ...memory.Setting) func(*harness) {
	return func(t *harness) {
		t.Helper()
		there := t.guild(guild).Settings
		if of != 0 {
			there = t.channel(guild, of).Settings
		}
		t.same("the settings", slices.Sorted(maps.Keys(there)), slices.Sorted(slices.Values(want)))
	}
}

func connects(user memory.UserID, token byte, minutes int) memory.Connected {
	return memory.Connected{Guild: guild, User: user, Hash: memory.TokenHash{token}, At: minute(minutes)}
}

func used(user memory.UserID, token byte, uses, minutes int) memory.ConnectionUsed {
	return memory.ConnectionUsed{Guild: guild, User: user, Hash: memory.TokenHash{token}, Uses: uses, At: minute(minutes)}
}

// connected fails the test unless that is a user's connection.
func connected(user memory.UserID, want memory.Connection) func(*harness) {
	return func(t *harness) {
		t.Helper()
		t.same("the connection", got(t.store.Member(t.ctx, guild, user))(t).Connection, want)
	}
}

// today fails the test unless this was spent on the first day.
func today(want map[memory.UserID]int) func(*harness) {
	return func(t *harness) {
		t.Helper()
		for _, at := range []time.Time{began, began.Add(11 * time.Hour).In(time.FixedZone("", 12*3600))} {
			t.same("spent", got(t.store.Spending(t.ctx, guild, at))(t), want)
		}
	}
}

// listens fails the test unless in these channels only messages after at can count as missing.
func listens(at time.Time, channels ...memory.ChannelID) func(*harness) {
	return func(t *harness) {
		t.Helper()
		heard := got(t.store.HeardUntil(t.ctx, guild))(t)
		for _, c := range channels {
			if heard := heard[c]; heard < memory.FirstMessageID(at)-1 || heard.Time().After(at) {
				t.Fatalf("nothing until %s is missing in channel %d, want until %s", heard.Time(), c, at)
			}
		}
	}
}
