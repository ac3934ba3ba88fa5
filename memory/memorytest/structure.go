package memorytest

import (
	"hark/memory"
)

// town is a guild with two channels and a thread.
func town() memory.Guild {
	return memory.Guild{
		ID: guild, Name: "Town", Owner: ada,
		Roles: []memory.Role{{ID: 900, Name: "@everyone", Permissions: memory.ViewChannel}, {ID: 950, Name: "crew", Permissions: 1 << 63, Bot: hark}},
		Channels: []memory.Channel{
			{ID: general, Guild: guild, Parent: 910, Name: "general"},
			{ID: staff, Guild: guild, Kind: memory.VoiceChannel, Name: "staff", AgeLimited: true, Overwrites: []memory.Overwrite{
				{Role: 900, Deny: memory.ViewChannel}, {User: ben, Allow: memory.ViewChannel | memory.Connect},
			}},
			{ID: thread, Guild: guild, Parent: general, Kind: memory.PrivateThread, Name: "thread"},
		},
	}
}

var structurePromises = []promise{
	{"a guild comes back as it was seen", func(t *trial) {
		t.apply(memory.GuildSeen{Guild: town()})
		t.same("the guild", normal(t.guild(guild)), normal(town()))
		if _, err := t.store.Guild(t.ctx, 12345); !notFound(err) {
			t.Fatalf("an unknown guild: %v", err)
		}
	}},
	{"a guild's name from a file holds until the guild is seen, and replaces none", func(t *trial) {
		t.apply(memory.GuildNamed{Guild: guild, Name: "Old Town"}, memory.GuildNamed{Guild: guild, Name: "Older Town"})
		t.same("the guild", normal(t.guild(guild)), normal(memory.Guild{ID: guild, Name: "Old Town"}))
		t.apply(memory.GuildSeen{Guild: town()}, memory.GuildNamed{Guild: guild, Name: "Old Town"})
		t.same("the guild once it is seen", normal(t.guild(guild)), normal(town()))
	}},
	{"a guild seen again replaces roles and unplaces the channels it no longer lists, but for threads of those it lists", func(t *trial) {
		t.apply(memory.GuildSeen{Guild: town()})
		next := town()
		next.Name, next.Owner = "City", ben
		next.Roles = next.Roles[:1]
		next.Channels = next.Channels[:1]
		t.apply(memory.GuildSeen{Guild: next})
		got := t.guild(guild)
		t.same("name, owner and roles", normal(memory.Guild{Name: got.Name, Owner: got.Owner, Roles: got.Roles}),
			normal(memory.Guild{Name: "City", Owner: ben, Roles: next.Roles}))
		for id, unplaced := range map[memory.ChannelID]bool{general: false, staff: true, thread: false} {
			t.same("unplaced", t.channel(guild, id).Unplaced, unplaced)
		}
		next.Channels = town().Channels[1:2]
		t.apply(memory.GuildSeen{Guild: next})
		t.same("the thread of an unlisted channel is unplaced", t.channel(guild, thread).Unplaced, true)
		t.same("a channel listed again is not", t.channel(guild, staff).Unplaced, false)
	}},
	{"a channel of which too little was told is unplaced, and its threads aren't", func(t *trial) {
		next := town()
		next.Channels = []memory.Channel{{ID: general, Guild: guild, Unplaced: true}, next.Channels[1]}
		t.apply(memory.GuildSeen{Guild: town()}, memory.GuildSeen{Guild: next})
		want := town().Channels[0]
		want.Unplaced = true
		t.same("the channel", t.channel(guild, general), want)
		t.same("its thread", t.channel(guild, thread), town().Channels[2])
		t.same("another", t.channel(guild, staff), town().Channels[1])
	}},
	{"a channel that is gone is unplaced, and its threads aren't, until it is seen again", func(t *trial) {
		t.apply(memory.GuildSeen{Guild: town()}, memory.ChannelGone{Guild: guild, Channel: general})
		t.same("the channel", t.channel(guild, general).Unplaced, true)
		t.same("its thread", t.channel(guild, thread).Unplaced, false)
		t.same("another", t.channel(guild, staff).Unplaced, false)
		t.apply(memory.ChannelSeen{Channel: town().Channels[0]})
		t.same("seen again", t.channel(guild, general), town().Channels[0])
	}},
	{"a channel known only by its messages is unplaced", func(t *trial) {
		t.post(said(staff, id(1), ada, "first"))
		c := t.channel(guild, staff)
		if !c.Unplaced || c.Guild != guild {
			t.Fatalf("it is %+v", c)
		}
	}},
	{"an import changes nothing of a channel that was seen", func(t *trial) {
		t.apply(memory.GuildSeen{Guild: town()})
		old := memory.Channel{ID: general, Guild: guild, Name: "old name", Kind: memory.VoiceChannel, Unplaced: true}
		t.apply(memory.ChannelSeen{Channel: old})
		t.same("the channel", t.channel(guild, general), town().Channels[0])
		t.apply(memory.ChannelGone{Guild: guild, Channel: general}, memory.ChannelSeen{Channel: old})
		gone := town().Channels[0]
		gone.Unplaced = true
		t.same("the channel that is gone", t.channel(guild, general), gone)
	}},
	{"an import fills in a channel that is unknown, and what Discord tells replaces that", func(t *trial) {
		t.post(said(staff, id(1), ada, "first"))
		file := memory.Channel{ID: staff, Guild: guild, Parent: general, Kind: memory.PublicThread, Name: "from a file", Unplaced: true}
		t.apply(memory.ChannelSeen{Channel: file})
		t.same("the channel", t.channel(guild, staff), file)
		t.apply(memory.ChannelSeen{Channel: town().Channels[1]})
		t.same("as Discord says", t.channel(guild, staff), town().Channels[1])
	}},
	{"roles come, change and go", func(t *trial) {
		t.apply(memory.GuildSeen{Guild: town()})
		t.apply(memory.RoleSeen{Guild: guild, Role: memory.Role{ID: 950, Name: "captains", Permissions: memory.Administrator}},
			memory.RoleSeen{Guild: guild, Role: memory.Role{ID: 960, Name: "guests"}})
		t.apply(memory.RoleGone{Guild: guild, Role: 900}, memory.RoleGone{Guild: guild, Role: 999})
		want := []memory.Role{{ID: 950, Name: "captains", Permissions: memory.Administrator}, {ID: 960, Name: "guests"}}
		t.same("the roles", normal(t.guild(guild)).Roles, want)
	}},
	{"the overwrites that name a role go with it, but for those of @everyone", func(t *trial) {
		g := town()
		member := memory.Overwrite{User: 950, Deny: memory.Connect} // somebody whose id is that of the role
		g.Channels[0].Overwrites = []memory.Overwrite{{Role: 900, Deny: memory.ViewChannel}, {Role: 950, Allow: memory.ViewChannel}, member}
		t.apply(memory.GuildSeen{Guild: g}, memory.RoleGone{Guild: guild, Role: 950}, memory.RoleGone{Guild: guild, Role: 900})
		t.same("the channel's", t.channel(guild, general).Overwrites, []memory.Overwrite{{Role: 900, Deny: memory.ViewChannel}, member})
		t.same("another's", t.channel(guild, staff).Overwrites, g.Channels[1].Overwrites)
	}},
	{"what is learned of a person adds to what was known", func(t *trial) {
		full := memory.Person{
			ID: ada, Guild: guild, Username: "ada", Name: "Ada", Nick: "Captain", Roles: []memory.RoleID{950, 900},
			RolesKnown: true,
		}
		t.apply(memory.PersonSeen{Person: full}, memory.PersonSeen{Person: memory.Person{ID: ben, Guild: guild, Bot: true}})
		t.apply(memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, Name: "Ada L."}})
		full.Name = "Ada L."
		t.same("the people", t.people(guild), []memory.Person{full, {ID: ben, Guild: guild, Bot: true}})
		t.apply(memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, RolesKnown: true}})
		got := t.people(guild)[0]
		if !got.RolesKnown || len(got.Roles) != 0 || got.Nick != "" {
			t.Fatalf("known to have no roles and no nickname, has %v and %q", got.Roles, got.Nick)
		}
		t.same("another guild", t.people(901), []memory.Person(nil))
	}},
}

var namePromises = []promise{
	{"a name finds its message and a message its name, in their channel only", func(t *trial) {
		t.post(said(general, id(1), ada, "one"), said(staff, id(1), ada, "one"), said(general, id(2), ben, "two"))
		t.apply(memory.Named{Channel: general, ID: id(1), Name: "D1:1"}, memory.Named{Channel: staff, ID: id(1), Name: "D1:2"})
		t.same("by name", t.named(general, "D1:1"), id(1))
		t.same("by a name of another channel", t.named(general, "D1:2"), memory.MessageID(0))
		t.same("names", t.names(general, id(1), id(2), id(3)), map[memory.MessageID]string{id(1): "D1:1"})
		if _, err := t.store.MessageNamed(t.ctx, general, "nobody"); !notFound(err) {
			t.Fatalf("an unknown name: %v", err)
		}
	}},
	{"of two names or two messages the first given stays", func(t *trial) {
		t.post(said(general, id(1), ada, "one"), said(general, id(2), ada, "two"))
		t.apply(memory.Named{Channel: general, ID: id(1), Name: "a"})
		t.apply(memory.Named{Channel: general, ID: id(1), Name: "b"}, memory.Named{Channel: general, ID: id(2), Name: "a"})
		t.same("names", t.names(general, id(1), id(2)), map[memory.MessageID]string{id(1): "a"})
		t.same("a", t.named(general, "a"), id(1))
		t.same("b", t.named(general, "b"), memory.MessageID(0))
	}},
	{"a message that isn't there has no name and gets none", func(t *trial) {
		t.apply(memory.Named{Channel: general, ID: id(1), Name: "early"})
		t.same("named early", t.named(general, "early"), memory.MessageID(0))
		t.post(said(general, id(1), ada, "one"))
		t.apply(memory.Named{Channel: general, ID: id(1), Name: "a"})
		t.delete(general, id(1))
		t.same("its name", t.names(general, id(1)), map[memory.MessageID]string{})
		t.apply(memory.Named{Channel: general, ID: id(1), Name: "a"})
		t.same("named again", t.named(general, "a"), memory.MessageID(0))
	}},
}
