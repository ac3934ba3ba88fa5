package search_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hark/memory"
	"hark/search"
)

// world is a guild and everybody who may be in it. It is judged in another way than Readable does: person by
// person, as Discord's documentation has it.
type world struct {
	guild  memory.Guild
	people map[memory.UserID]memory.Person
	roles  []memory.RoleID // that a person whose roles are unknown may have
}

func (w world) person(id memory.UserID) (memory.Person, bool) {
	p, ok := w.people[id]
	return p, ok
}

// member is somebody who really may be there.
type member struct {
	id    memory.UserID
	roles []memory.RoleID
}

// everybody lists all persons there can be: those known, and for those unknown each set of roles.
func (w world) everybody() []member {
	var all []member
	ids := []memory.UserID{1, w.guild.Owner} // 1 has no overwrites
	for id := range w.people {
		ids = append(ids, id)
	}
	for _, c := range w.guild.Channels {
		for _, o := range c.Overwrites {
			ids = append(ids, o.User)
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		p, known := w.people[id]
		switch {
		case id == 0 || p.Bot:
		case known && p.RolesKnown:
			all = append(all, member{id, p.Roles})
		default:
			for set := range 1 << len(w.roles) {
				var roles []memory.RoleID
				for i, r := range w.roles {
					if set>>i&1 == 1 {
						roles = append(roles, r)
					}
				}
				all = append(all, member{id, roles})
			}
		}
	}
	return all
}

// may reports whether m has one permission in c.
// https://discord.com/developers/docs/topics/permissions#permission-overwrites
func (w world) may(m member, bit memory.Permissions, c memory.Channel) bool {
	if m.id == w.guild.Owner {
		return true
	}
	holds := func(role memory.RoleID) bool {
		return role != memory.RoleID(w.guild.ID) && slices.Contains(m.roles, role)
	}
	may := false
	for _, r := range w.guild.Roles {
		if r.ID == memory.RoleID(w.guild.ID) || holds(r.ID) {
			if r.Permissions&memory.Administrator != 0 {
				return true
			}
			may = may || r.Permissions&bit != 0
		}
	}
	steps := []func(memory.Overwrite) bool{
		func(o memory.Overwrite) bool { return o.User == 0 && o.Role == memory.RoleID(w.guild.ID) },
		func(o memory.Overwrite) bool { return o.User == 0 && holds(o.Role) },
		func(o memory.Overwrite) bool { return o.User != 0 && o.User == m.id },
	}
	for _, applies := range steps {
		denied, granted := false, false
		for _, o := range c.Overwrites {
			if applies(o) {
				denied = denied || o.Deny&bit != 0
				granted = granted || o.Allow&bit != 0
			}
		}
		may = granted || may && !denied
	}
	return may
}

// home is the channel that decides who sees c, and whether it is known.
func (w world) home(c memory.Channel) (memory.Channel, bool) {
	if c.Unplaced || c.Kind != memory.PublicThread && c.Kind != memory.PrivateThread {
		return c, !c.Unplaced && c.Kind != memory.CategoryChannel
	}
	for _, parent := range w.guild.Channels {
		if parent.ID == c.Parent {
			return parent, !parent.Unplaced && (parent.Kind == memory.TextChannel || parent.Kind == memory.ForumChannel)
		}
	}
	return c, false
}

func (w world) sees(m member, c memory.Channel) bool { return w.may(m, memory.ViewChannel, c) }

func (w world) reads(m member, c memory.Channel) bool {
	return w.sees(m, c) && w.may(m, memory.ReadMessageHistory, c) &&
		(c.Kind != memory.VoiceChannel || w.may(m, memory.Connect, c))
}

// allowed is the rule: who sees the answer could have read the source.
func (w world) allowed(audience []member, at, from memory.Channel, viewer memory.UserID) bool {
	r, rKnown := w.home(at)
	c, cKnown := w.home(from)
	if !rKnown || !cKnown || c.AgeLimited && !r.AgeLimited || from.Kind == memory.PrivateThread && from.ID != at.ID {
		return false
	}
	p, known := w.people[viewer]
	for _, m := range audience {
		switch {
		case viewer != 0 && (known && p.RolesKnown || viewer == w.guild.Owner):
			if m.id == viewer && !w.reads(m, c) {
				return false
			}
		case w.sees(m, r) && !w.reads(m, c):
			return false
		}
	}
	return true
}

// drawWorld draws a small guild in which much can go wrong.
func drawWorld(t *rapid.T) world {
	w := world{guild: memory.Guild{ID: 50, Owner: 11}, people: map[memory.UserID]memory.Person{}}
	bits := rapid.SampledFrom([]memory.Permissions{0, 0, memory.ViewChannel, memory.ViewChannel | memory.ReadMessageHistory,
		memory.ReadMessageHistory, memory.Connect, memory.ViewChannel | memory.ReadMessageHistory | memory.Connect})
	roles := rapid.IntRange(0, 4).Draw(t, "roles")
	w.guild.Roles = []memory.Role{{ID: 50, Permissions: bits.Draw(t, "base")}}
	ids := []memory.RoleID{50, 60}
	for i := range roles {
		role := memory.Role{ID: memory.RoleID(51 + i), Permissions: bits.Draw(t, "permissions")}
		ids = append(ids, role.ID)
		switch rapid.IntRange(0, 9).Draw(t, "sort") {
		case 0:
			role.Bot = 12
		case 1:
			role.Permissions |= memory.Administrator
			fallthrough
		default:
			w.roles = append(w.roles, role.ID)
		}
		w.guild.Roles = append(w.guild.Roles, role)
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "people") {
		p := memory.Person{ID: memory.UserID(11 + i), RolesKnown: rapid.Bool().Draw(t, "known"), Bot: i == 1}
		for _, r := range w.roles {
			if p.RolesKnown && rapid.Bool().Draw(t, "has") {
				p.Roles = append(p.Roles, r)
			}
		}
		w.people[p.ID] = p
	}
	ghost := false
	for i := range rapid.IntRange(2, 4).Draw(t, "channels") {
		c := memory.Channel{ID: memory.ChannelID(70 + i), AgeLimited: rapid.IntRange(0, 4).Draw(t, "age") == 0}
		c.Kind = rapid.SampledFrom([]memory.ChannelKind{memory.TextChannel, memory.TextChannel, memory.VoiceChannel, memory.ForumChannel,
			memory.CategoryChannel, memory.PublicThread, memory.PrivateThread}).Draw(t, "kind")
		c.Parent = memory.ChannelID(rapid.IntRange(69, 73).Draw(t, "parent"))
		c.Unplaced = rapid.IntRange(0, 9).Draw(t, "unplaced") == 0
		for range rapid.IntRange(0, 3).Draw(t, "overwrites") {
			o := memory.Overwrite{Allow: bits.Draw(t, "allow"), Deny: bits.Draw(t, "deny")}
			if rapid.IntRange(0, 2).Draw(t, "whose") == 0 {
				o.User = memory.UserID(rapid.IntRange(10, 15).Draw(t, "user"))
			} else {
				o.Role = rapid.SampledFrom(ids).Draw(t, "role")
				ghost = ghost || o.Role == 60
			}
			if !slices.ContainsFunc(c.Overwrites, func(p memory.Overwrite) bool { return p.Role == o.Role && p.User == o.User }) {
				c.Overwrites = append(c.Overwrites, o)
			}
		}
		w.guild.Channels = append(w.guild.Channels, c)
	}
	if ghost {
		w.roles = append(w.roles, 60)
	}
	return w
}

// TestReadableLeaksNothing compares Readable with the enumeration of everybody, for each pair of channels. It
// must not refuse more than that either, since two roles suffice.
func TestReadableLeaksNothing(t *testing.T) {
	t.Parallel()
	rounds, cases, used, refused := 50, 0, 0, 0 // rapid draws 100 guilds a round
	if os.Getenv("HARK_LONG") != "" {
		rounds = 1000
	}
	for range rounds {
		rapid.Check(t, func(t *rapid.T) {
			w := drawWorld(t)
			audience := w.everybody()
			viewer := rapid.SampledFrom([]memory.UserID{0, 0, 0, 11, 13, 14, 15}).Draw(t, "viewer")
			cases++
			for _, at := range w.guild.Channels {
				got := search.Readable(&w.guild, search.Place{Channel: at.ID, Viewer: viewer}, w.person)
				for _, from := range w.guild.Channels {
					want := w.allowed(audience, at, from, viewer)
					if slices.Contains(got, from.ID) != want {
						t.Fatalf("channel %d, answered in %d for %d: allowed %v, want %v\n%+v\n%+v", from.ID, at.ID, viewer, !want, want, w.guild, w.people)
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
func realistic(seed uint64, gated, tidy bool) (world, []member) {
	const base = memory.ViewChannel | memory.ReadMessageHistory | memory.Connect
	const verified, mod, muted, vip, dev, art, bots, admin memory.RoleID = 51, 52, 53, 54, 55, 56, 57, 58
	w := world{guild: memory.Guild{ID: 50, Owner: 11}, people: map[memory.UserID]memory.Person{}}
	w.guild.Roles = []memory.Role{{ID: 50, Permissions: base}, {ID: verified, Permissions: base}, {ID: mod, Permissions: base}, {ID: muted},
		{ID: vip}, {ID: dev}, {ID: art}, {ID: admin, Permissions: memory.Administrator}, {ID: bots, Bot: 12, Permissions: base}}
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
		w.guild.Channels = append(w.guild.Channels, memory.Channel{ID: memory.ChannelID(70 + len(w.guild.Channels)), Kind: kind, Overwrites: overwrites})
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
	add(memory.TextChannel, append(only(mod), own(20, memory.ViewChannel, 0))...)
	add(memory.TextChannel, only(dev, mod)...)
	add(memory.TextChannel, only(art, mod)...)
	add(memory.TextChannel, only(vip, mod)...)
	chance := rand.New(rand.NewPCG(seed, 1))
	var members []member
	for i := range 2000 {
		m := member{id: memory.UserID(11 + i)}
		for _, r := range []struct {
			role    memory.RoleID
			percent int
		}{{verified, 85}, {vip, 10}, {dev, 20}, {art, 15}, {muted, 3}, {mod, 3}, {admin, 1}} {
			if chance.IntN(100) < r.percent {
				m.roles = append(m.roles, r.role)
			}
		}
		if tidy && len(m.roles) > 0 && !slices.Contains(m.roles, verified) {
			m.roles = append(m.roles, verified)
		}
		members = append(members, m)
		p := memory.Person{ID: m.id, Bot: m.id == 12, RolesKnown: i%3 > 0}
		if p.RolesKnown {
			p.Roles = m.roles
		}
		w.people[m.id] = p
	}
	return w, slices.DeleteFunc(members, func(m member) bool { return w.people[m.id].Bot })
}

// TestReadableRefusesLittle counts what is refused although everybody who is there could have read it.
func TestReadableRefusesLittle(t *testing.T) {
	t.Parallel()
	allowed, refused := 0, 0
	for seed := range uint64(12) {
		w, members := realistic(seed, seed%2 == 1, seed%4 > 1)
		var which []string
		for _, at := range w.guild.Channels {
			got := search.Readable(&w.guild, search.Place{Channel: at.ID}, w.person)
			for _, from := range w.guild.Channels {
				want := w.allowed(members, at, from, 0)
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
