package search_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"hark/internal/guildtest"
	"hark/memory"
	"hark/search"
)

// The people, roles and channels of the tables. The guild's id is that of @everyone.
const (
	everyone memory.RoleID = 100 + iota
	modRole
	mutedRole
)

const (
	owner memory.UserID = 200 + iota
	ann                 // has modRole
	bob                 // has no role
)

const (
	hall memory.ChannelID = 300 + iota
	room
	post
	aside
)

const (
	castleID = memory.GuildID(everyone)
	reads    = memory.ViewChannel | memory.ReadMessageHistory
)

// castle is a guild whose hall and room everybody reads, changed by change.
func castle(change func(g *memory.Guild, hall, room *memory.Channel)) *memory.Guild {
	g := &memory.Guild{ID: castleID, Owner: owner, Roles: []memory.Role{
		{ID: everyone, Permissions: reads | memory.Connect}, {ID: modRole}, {ID: mutedRole}},
		Channels: []memory.Channel{{ID: hall}, {ID: room},
			{ID: post, Parent: room, Kind: memory.PublicThread}, {ID: aside, Parent: room, Kind: memory.PrivateThread}}}
	change(g, &g.Channels[0], &g.Channels[1])
	return g
}

func castlePeople(id memory.UserID) (memory.Person, bool) {
	return memory.Person{ID: id, RolesKnown: true}, true
}

func deny(role memory.RoleID, p memory.Permissions) memory.Overwrite {
	return memory.Overwrite{Role: role, Deny: p}
}

func allow(role memory.RoleID, p memory.Permissions) memory.Overwrite {
	return memory.Overwrite{Role: role, Allow: p}
}

func own(user memory.UserID, allow, deny memory.Permissions) memory.Overwrite {
	return memory.Overwrite{User: user, Allow: allow, Deny: deny}
}

// overwrites gives hall and room theirs.
func overwrites(h, r []memory.Overwrite) func(*memory.Guild, *memory.Channel, *memory.Channel) {
	return func(_ *memory.Guild, hall, room *memory.Channel) { hall.Overwrites, room.Overwrites = h, r }
}

type list = []memory.Overwrite

// What only places decide; the properties hold what permissions do.
func TestReadable(t *testing.T) {
	t.Parallel()
	type change = func(g *memory.Guild, hall, room *memory.Channel)
	kinds := func(h, r memory.ChannelKind) change {
		return func(_ *memory.Guild, hall, room *memory.Channel) { hall.Kind, room.Kind = h, r }
	}
	secret := overwrites(nil, list{deny(everyone, memory.ViewChannel)})
	unplaced := func(_ *memory.Guild, h, _ *memory.Channel) { h.Unplaced = true }
	unknown := func(g *memory.Guild, _, _ *memory.Channel) { g.Roles = nil }
	here := []memory.ChannelID{hall}
	for _, c := range []struct {
		name   string
		change change
		place  search.Place
		want   []memory.ChannelID
	}{
		{"all may read both", overwrites(nil, nil), search.Place{Channel: hall}, []memory.ChannelID{hall, room, post}},
		{"room unplaced", func(_ *memory.Guild, _, r *memory.Channel) { r.Unplaced = true },
			search.Place{Channel: hall}, here},
		{"hall unplaced", unplaced, search.Place{Channel: hall}, nil},
		{"room is a category", kinds(0, memory.CategoryChannel), search.Place{Channel: hall}, here},
		{"hall is a category", kinds(memory.CategoryChannel, 0), search.Place{Channel: hall}, nil},
		{"room is a direct message", kinds(0, memory.DirectChannel), search.Place{Channel: hall}, here},
		{"hall is a direct message", kinds(memory.DirectChannel, 0), search.Place{Channel: hall}, here},
		{"hall was a direct message", func(_ *memory.Guild, h, _ *memory.Channel) {
			h.Kind, h.Unplaced = memory.DirectChannel, true
		}, search.Place{Channel: hall}, nil},
		{"room is local", kinds(0, memory.LocalChannel), search.Place{Channel: hall}, here},
		{"hall is local", kinds(memory.LocalChannel, 0), search.Place{Channel: hall}, nil},
		{"roles unknown", unknown, search.Place{Channel: hall}, nil},
		{"roles unknown, but the asker's", unknown, search.Place{Channel: hall, Viewer: ann,
			Roles: []memory.RoleID{modRole}}, nil},
		{"operator in a channel: as everybody", secret, search.Place{Channel: hall, Operator: true}, here},
		{"operator in an unplaced channel", unplaced, search.Place{Channel: hall, Operator: true}, here},
		{"operator in a local channel", kinds(memory.LocalChannel, memory.LocalChannel),
			search.Place{Channel: hall, Operator: true}, here},
		{"from a private thread of a hidden room", secret, search.Place{Channel: aside},
			[]memory.ChannelID{hall, room, post, aside}},
		{"thread of a channel never seen", func(g *memory.Guild, _, _ *memory.Channel) {
			g.Channels[2].Parent = 1
		}, search.Place{Channel: hall}, []memory.ChannelID{hall, room}},
		{"thread of a thread", func(g *memory.Guild, _, _ *memory.Channel) { g.Channels[3].Parent = post },
			search.Place{Channel: aside}, nil},
		{"in a place that doesn't exist", overwrites(nil, nil), search.Place{Channel: 7}, nil},
	} {
		if got := search.Readable(castle(c.change), c.place, castlePeople); !slices.Equal(got, c.want) {
			t.Errorf("%s: readable %v, want %v", c.name, got, c.want)
		}
	}
}

// long asks for many more guilds; of all else that is drawn, draws are enough.
var long = os.Getenv("HARK_LONG") != ""

const draws = 25

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("rapid.checks", strconv.Itoa(draws)); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestReadableLeaksNothing compares Readable with the enumeration of everybody, for each pair of channels. It
// must not refuse more than that either, since two roles suffice.
func TestReadableLeaksNothing(t *testing.T) {
	t.Parallel()
	rounds, cases, used, refused := 5000/draws, 0, 0, 0
	if long {
		rounds = 100_000 / draws
	}
	for range rounds {
		rapid.Check(t, func(t *rapid.T) {
			w := guildtest.Draw(t, 0, 4)
			viewer := w.DrawViewer(t)
			audience := w.Everybody()
			cases++
			if viewer != nil && viewer.Roles != nil {
				seen := search.Visible(&w.Guild, viewer.ID, viewer.Roles)
				for _, c := range w.Guild.Channels {
					got := slices.ContainsFunc(seen, func(s memory.Channel) bool { return s.ID == c.ID })
					if c.Kind != memory.CategoryChannel && got != (c.Kind != memory.PrivateThread &&
						w.Allowed(audience, c, c, viewer)) {
						t.Fatalf("channel %d for %+v: visible %v\n%+v", c.ID, viewer, got, w.Guild)
					}
				}
			}
			for _, at := range w.Guild.Channels {
				place := search.Place{Channel: at.ID}
				if viewer != nil {
					place.Viewer, place.Roles = viewer.ID, viewer.Roles
				}
				got := search.Readable(&w.Guild, place, w.Person)
				for _, from := range w.Guild.Channels {
					want := w.Allowed(audience, at, from, viewer)
					if slices.Contains(got, from.ID) != want {
						t.Fatalf("channel %d, answered in %d for %+v: allowed %v, want %v\n%+v\n%+v", from.ID,
							at.ID, viewer, !want, want, w.Guild, w.People)
					}
					if want {
						used++
					} else {
						refused++
					}
				}
			}
		})
	}
	t.Logf("%d guilds, %d pairs allowed, %d refused", cases, used, refused)
	if used < cases/10 || refused < cases/10 {
		t.Error("the guilds drawn are too much alike")
	}
}

// realistic is a guild as there are many: roles by habit, channels for all, for the verified, for staff, for one
// team each, and voice; some people are muted, bots have overwrites. Where gated, only the verified see anything.
// Of its 2,000 members each has each role by chance, or, where tidy, moderators and teams are verified, and
// what the verified see is opened to moderators and teams by name.
func realistic(seed uint64, gated, tidy bool) (guildtest.World, []guildtest.Member) {
	const base = memory.ViewChannel | memory.ReadMessageHistory | memory.Connect
	const verified, mod, muted, vip, dev, art, bots, admin memory.RoleID = 51, 52, 53, 54, 55, 56, 57, 58
	w := guildtest.World{Guild: memory.Guild{ID: 50, Owner: 11}, People: map[memory.UserID]memory.Person{}}
	w.Guild.Roles = []memory.Role{{ID: 50, Permissions: base}, {ID: verified, Permissions: base},
		{ID: mod, Permissions: base}, {ID: muted},
		{ID: vip}, {ID: dev}, {ID: art}, {ID: admin, Permissions: memory.Administrator}, {ID: bots, Bot: 12,
			Permissions: base}}
	quiet := deny(muted, 1<<11|1<<6) // sending and reacting
	only := func(roles ...memory.RoleID) list {
		all := list{deny(50, memory.ViewChannel), quiet, allow(bots, memory.ViewChannel)}
		for _, r := range roles {
			all = append(all, allow(r, memory.ViewChannel))
		}
		return all
	}
	public := func() list {
		switch {
		case gated && tidy:
			return only(verified, mod, vip, dev, art)
		case gated:
			return only(verified)
		}
		return list{quiet}
	}
	add := func(kind memory.ChannelKind, overwrites ...memory.Overwrite) {
		w.Guild.Channels = append(w.Guild.Channels,
			memory.Channel{ID: memory.ChannelID(70 + len(w.Guild.Channels)), Kind: kind, Overwrites: overwrites})
	}
	add(memory.TextChannel, quiet, deny(50, 1<<11)) // rules
	for range 4 {
		add(memory.TextChannel, public()...)
	}
	add(memory.TextChannel, append(public(), own(12, memory.ViewChannel, 0))...)
	add(memory.ForumChannel, public()...)
	add(memory.VoiceChannel, public()...)
	add(memory.VoiceChannel, append(public(), deny(50, memory.Connect), allow(vip, memory.Connect))...)
	add(memory.TextChannel, only(mod)...)
	add(memory.TextChannel, only(mod)...)
	add(memory.TextChannel, append(only(mod), own(20, memory.ViewChannel, 0), own(21, memory.ViewChannel, 0))...)
	add(memory.TextChannel, only(dev, mod)...)
	add(memory.TextChannel, only(art, mod)...)
	add(memory.TextChannel, only(vip, mod)...)
	chance := rand.New(rand.NewPCG(seed, 1))
	var members []guildtest.Member
	for i := range 2000 {
		m := guildtest.Member{ID: memory.UserID(11 + i)}
		for _, r := range []struct {
			role    memory.RoleID
			percent int
		}{{verified, 85}, {vip, 10}, {dev, 20}, {art, 15}, {muted, 3}, {mod, 3}, {admin, 1}} {
			if chance.IntN(100) < r.percent {
				m.Roles = append(m.Roles, r.role)
			}
		}
		if tidy && len(m.Roles) > 0 && !slices.Contains(m.Roles, verified) {
			m.Roles = append(m.Roles, verified)
		}
		members = append(members, m)
		p := memory.Person{ID: m.ID, Bot: m.ID == 12, RolesKnown: i%3 > 0}
		if p.RolesKnown {
			p.Roles = m.Roles
		}
		w.People[m.ID] = p
	}
	return w, slices.DeleteFunc(members, func(m guildtest.Member) bool { return w.People[m.ID].Bot })
}

// TestReadableRefusesLittle counts what is refused although everybody who is there could have read it.
func TestReadableRefusesLittle(t *testing.T) {
	t.Parallel()
	allowed, refused := 0, 0
	guilds := uint64(4)
	if long {
		guilds = 12
	}
	for seed := range guilds {
		w, members := realistic(seed, seed%2 == 1, seed%4 > 1)
		var which []string
		for _, at := range w.Guild.Channels {
			got := search.Readable(&w.Guild, search.Place{Channel: at.ID}, w.Person)
			for _, from := range w.Guild.Channels {
				want := w.Allowed(members, at, from, nil)
				switch has := slices.Contains(got, from.ID); {
				case has && !want:
					t.Fatalf("guild %d: %d leaks into %d", seed, from.ID, at.ID)
				case want && !has:
					refused++
					which = append(which, fmt.Sprintf("%d in %d", from.ID, at.ID))
				}
				if want {
					allowed++
				}
			}
		}
		t.Logf("guild %d: refused %v", seed, which)
	}
	t.Logf("of %d allowed pairs %d refused", allowed, refused)
	if 50*refused > allowed {
		t.Errorf("%d of %d allowed pairs are refused, more than 2 %%", refused, allowed)
	}
}
