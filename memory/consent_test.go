package memory_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	. "hark/memory"
)

// The channels of the guild that the table is about.
const (
	garden ChannelID = iota + 10 // a category
	general
	voice
	deaf // voice without CONNECT
	forum
	adults
	staff
	gone // unplaced
	post // of the forum
	chat // a thread of general
	secret
	lateNight // a thread of adults
	backroom  // a thread of staff
	orphan    // a thread of a channel that isn't known
	lost      // a thread of general that is unplaced
	unknown
)

const everyoneMay = ViewChannel | ReadMessageHistory | Connect

func village(choice Choice) *Guild {
	const id = GuildID(5)
	hidden := []Overwrite{{Role: RoleID(id), Deny: ViewChannel}}
	g := &Guild{ID: id, Choice: choice, Roles: []Role{{ID: 6, Permissions: Administrator},
		{ID: RoleID(id), Permissions: everyoneMay}}}
	g.Channels = []Channel{
		{ID: garden, Kind: CategoryChannel},
		{ID: general, Parent: garden},
		{ID: voice, Kind: VoiceChannel},
		{ID: deaf, Kind: VoiceChannel, Overwrites: []Overwrite{{Role: RoleID(id), Deny: Connect}}},
		{ID: forum, Kind: ForumChannel, Parent: garden},
		{ID: adults, Parent: garden, AgeLimited: true},
		{ID: staff, Overwrites: append(hidden, Overwrite{Role: 6, Allow: ViewChannel},
			Overwrite{User: UserID(id), Allow: ViewChannel})},
		{ID: gone, Unplaced: true},
		{ID: post, Kind: PublicThread, Parent: forum},
		{ID: chat, Kind: PublicThread, Parent: general},
		{ID: secret, Kind: PrivateThread, Parent: general},
		{ID: lateNight, Kind: PublicThread, Parent: adults},
		{ID: backroom, Kind: PublicThread, Parent: staff},
		{ID: orphan, Kind: PublicThread, Parent: 99},
		{ID: lost, Kind: PublicThread, Parent: general, Unplaced: true},
	}
	return g
}

var (
	places = []ChannelID{general, voice, deaf, forum, adults, staff, gone, post, chat, secret, lateNight,
		backroom, orphan, lost, unknown}
	restricted = []ChannelID{adults, lateNight}
	doubtful   = []ChannelID{adults, lateNight, orphan, unknown} // which may be threads of what is restricted
	public     = []ChannelID{general, voice, forum, post, chat}
)

func without(all []ChannelID, some ...ChannelID) []ChannelID {
	return slices.DeleteFunc(slices.Clone(all), func(c ChannelID) bool { return slices.Contains(some, c) })
}

func TestRemembers(t *testing.T) {
	t.Parallel()
	ask := Policy{Ask: true}
	for _, tt := range []struct {
		name    string
		policy  Policy
		guild   Choice
		choices map[ChannelID]Choice
		want    []ChannelID
	}{
		{name: "nobody has decided", policy: ask},
		{name: "nobody is asked", want: without(places, doubtful...)},
		{name: "nobody is asked, and something is ignored", policy: Policy{AgeLimited: true},
			choices: map[ChannelID]Choice{voice: Ignore},
			want:    without(places, voice, orphan, unknown)},
		{name: "nobody is asked, and age doesn't matter", policy: Policy{AgeLimited: true}, want: places},
		{name: "everything", policy: ask, guild: Remember, want: without(places, doubtful...)},
		{name: "what is public", policy: ask, guild: RememberPublic, want: public},
		{name: "what is public, of any age", policy: Policy{Ask: true, AgeLimited: true},
			guild: RememberPublic, want: append(slices.Clone(public), restricted...)},
		{name: "nothing", guild: Ignore},
		{name: "nothing chosen", guild: RememberChosen},
		{name: "a channel and its threads", policy: ask, guild: RememberChosen,
			choices: map[ChannelID]Choice{general: Remember},
			want:    []ChannelID{general, chat, secret, lost}},
		{name: "a channel, before the guild has decided", policy: ask,
			choices: map[ChannelID]Choice{staff: Remember}, want: []ChannelID{staff, backroom}},
		{name: "a channel of a guild that is ignored", guild: Ignore,
			choices: map[ChannelID]Choice{staff: Remember}, want: []ChannelID{staff, backroom}},
		{name: "a category, without what is age-restricted in it", guild: RememberChosen,
			choices: map[ChannelID]Choice{garden: Remember},
			want:    []ChannelID{general, forum, post, chat, secret, lost}},
		{name: "an age-restricted channel by name", guild: RememberChosen,
			choices: map[ChannelID]Choice{adults: Remember}, want: restricted},
		{name: "a thread of an age-restricted channel by name", guild: RememberChosen,
			choices: map[ChannelID]Choice{lateNight: Remember},
			want:    []ChannelID{lateNight}},
		{name: "a private thread by name", guild: RememberPublic,
			choices: map[ChannelID]Choice{secret: Remember}, want: append(slices.Clone(public), secret)},
		{name: "an ignored channel", guild: RememberPublic, choices: map[ChannelID]Choice{general: Ignore},
			want: without(public, general, chat)},
		{name: "an ignored category", guild: RememberPublic, choices: map[ChannelID]Choice{garden: Ignore},
			want: []ChannelID{voice}},
		{name: "a channel of an ignored category", guild: Remember,
			choices: map[ChannelID]Choice{garden: Ignore, general: Remember},
			want:    without(places, append(doubtful, forum, post)...)},
		{name: "an ignored thread of a chosen channel", guild: RememberChosen,
			choices: map[ChannelID]Choice{general: Remember, chat: Ignore},
			want:    []ChannelID{general, secret, lost}},
		{name: "a forum", guild: RememberChosen, choices: map[ChannelID]Choice{forum: Remember},
			want: []ChannelID{forum, post}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := village(tt.guild)
			for i := range g.Channels {
				g.Channels[i].Choice = tt.choices[g.Channels[i].ID]
			}
			for _, c := range places {
				if got, want := tt.policy.Remembers(g, c), slices.Contains(tt.want, c); got != want {
					t.Errorf("channel %d is remembered: %t, want %t", c, got, want)
				}
			}
		})
	}
}

func TestRemembersWhereThereAreNoGuilds(t *testing.T) {
	t.Parallel()
	for _, direct := range []bool{false, true} {
		p := Policy{Ask: true, Direct: direct}
		if got := p.Remembers(&Guild{ID: DirectGuild, Choice: Ignore}, 7); got != direct {
			t.Errorf("direct messages with %t: %t", direct, got)
		}
		if !p.Remembers(&Guild{ID: LocalGuild}, 7) {
			t.Error("what is imported isn't remembered")
		}
	}
}

func TestWhoeverIsAdministratorReadsAll(t *testing.T) {
	t.Parallel()
	g := village(RememberPublic)
	g.Roles[1].Permissions = Administrator
	if !(Policy{}).Remembers(g, staff) {
		t.Error("a channel that everybody reads isn't public")
	}
	g.Roles = nil
	if (Policy{}).Remembers(g, general) {
		t.Error("public, though it isn't known what everybody may do")
	}
}

// anyGuild is a guild of any choices, in which parents may be missing, wrong or in a circle.
func anyGuild(t *rapid.T) *Guild {
	g := &Guild{ID: 5, Choice: rapid.SampledFrom([]Choice{Undecided, Remember, RememberPublic, RememberChosen,
		Ignore}).Draw(t, "guild's choice")}
	g.Roles = []Role{{ID: 5, Permissions: Permissions(rapid.SampledFrom([]Permissions{0, ViewChannel,
		ViewChannel | ReadMessageHistory, everyoneMay}).Draw(t, "everyone"))}}
	for id := ChannelID(10); id < 10+ChannelID(rapid.IntRange(1, 6).Draw(t, "channels")); id++ {
		c := Channel{ID: id, Parent: ChannelID(rapid.IntRange(9, 16).Draw(t, "parent")),
			Kind:       ChannelKind(rapid.IntRange(0, int(PrivateThread)).Draw(t, "kind")),
			AgeLimited: rapid.Bool().Draw(t, "age"), Unplaced: rapid.Bool().Draw(t, "unplaced"),
			Choice: rapid.SampledFrom([]Choice{Undecided, Remember, Ignore}).Draw(t, "choice")}
		if rapid.Bool().Draw(t, "overwritten") {
			c.Overwrites = []Overwrite{{Role: 5, Deny: ViewChannel}}
		}
		g.Channels = append(g.Channels, c)
	}
	return g
}

func TestRemembersProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := anyGuild(t)
		p := Policy{Ask: rapid.Bool().Draw(t, "ask"), AgeLimited: rapid.Bool().Draw(t, "age-limited")}
		at := rapid.IntRange(0, len(g.Channels)-1).Draw(t, "at")
		c := g.Channels[at]
		was := p.Remembers(g, c.ID)

		turned := *g
		turned.Channels = slices.Clone(g.Channels)
		slices.Reverse(turned.Channels)
		if p.Remembers(&turned, c.ID) != was {
			t.Fatal("the order of the channels decides")
		}
		changed := func(i int, change func(*Channel)) bool {
			h := *g
			h.Channels = slices.Clone(g.Channels)
			change(&h.Channels[i])
			return p.Remembers(&h, c.ID)
		}
		if changed(at, func(c *Channel) { c.Choice = Ignore }) {
			t.Fatal("remembered, though it is ignored")
		}
		if !changed(at, func(c *Channel) { c.Choice = Remember }) {
			t.Fatal("not remembered, though it was chosen")
		}
		other := rapid.IntRange(0, len(g.Channels)-1).Draw(t, "other")
		if c.Choice == Undecided && !was && changed(other, func(c *Channel) { c.Choice = Ignore }) {
			t.Fatal("ignoring a channel has something remembered")
		}
		if was && !p.AgeLimited && c.AgeLimited && !c.Kind.IsThread() && c.Choice != Remember {
			t.Fatal("an age-restricted channel is remembered that nobody has chosen")
		}
		open := p
		open.AgeLimited, open.Ask = true, false
		if was && !open.Remembers(g, c.ID) {
			t.Fatal("a policy that allows more remembers less")
		}
	})
}
