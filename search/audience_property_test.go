package search_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hark/internal/guildtest"
	"hark/memory"
	"hark/search"
)

// long draws many more guilds; otherwise draws suffice.
var long = os.Getenv("HARK_LONG") != ""

const draws = 25

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("rapid.checks", strconv.Itoa(draws)); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestReadableLeaksNothing compares Readable, for each pair of channels, with the enumeration of everybody: all
// possible members, those that fit the admins' statements, and those there if all are known. A statement isn't believed
// if a member was seen to contradict it, or if whoever asks does. Because two roles suffice, Readable must not refuse
// more either. Judge must agree, and its counterexamples must be true.
func TestReadableLeaksNothing(t *testing.T) {
	t.Parallel()
	rounds, cases, used, refused := 5000/draws, 0, [3]int{}, [3]int{}
	if long {
		rounds = 100_000 / draws
	}
	for range rounds {
		rapid.Check(t, func(t *rapid.T) {
			w := guildtest.Draw(t, 0, 4)
			viewer := w.DrawViewer(t)
			audience, rule := w.Everybody(), rapid.IntRange(0, 2).Draw(t, "rule")
			var sets *search.RoleSets
			var asker []memory.RoleID
			switch rule {
			case 1:
				asker, audience = w.State(t)
			case 2:
				members := w.DrawMembers(t)
				sets, audience = known(&w, members), append(members, w.Strangers(members)...)
			}
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
			places := w.Guild.Channels
			if viewer != nil && (viewer.Roles != nil || viewer.ID == w.Guild.Owner) {
				places = append(slices.Clip(places), memory.Channel{}) // outside Discord
			}
			for _, at := range places {
				place := search.Place{Channel: at.ID, Sets: sets, Asker: asker}
				if viewer != nil {
					place.Viewer, place.Roles = viewer.ID, viewer.Roles
				}
				got := search.Readable(&w.Guild, place, w.Person)
				for _, from := range w.Guild.Channels {
					want := w.Allowed(audience, at, from, viewer)
					if err := checkVerdict(&w.Guild, audience, place, &from, want, w.Person); err != nil {
						t.Fatalf("channel %d, answered in %d: %v\n%+v\n%+v", from.ID, at.ID, err, w.Guild, audience)
					}
					if slices.Contains(got, from.ID) != want {
						t.Fatalf("channel %d, answered in %d for %+v: allowed %v, want %v\n%+v\n%+v", from.ID,
							at.ID, viewer, !want, want, w.Guild, audience)
					}
					if want {
						used[rule]++
					} else {
						refused[rule]++
					}
				}
			}
		})
	}
	t.Logf("%d guilds; with any roles, what was stated, and members known: %d pairs allowed, %d refused", cases, used,
		refused)
	if slices.Min(used[:]) < cases/10 || slices.Min(refused[:]) < cases/10 {
		t.Error("the guilds drawn are too much alike")
	}
}

// checkVerdict judges whether an answer at p may use from. It checks a counterexample by Discord's rules: one of
// the audience is so, and nobody without overwrites is with fewer roles.
func checkVerdict(g *memory.Guild, audience []guildtest.Member, p search.Place, from *memory.Channel, want bool,
	people search.People) error {
	v := search.Judge(g, p, from.ID, people)
	if v.OK != want || v.OK != (v.Why == "") {
		return fmt.Errorf("verdict %+v, want %v", v, want)
	}
	if v.Why != search.ObstacleReader {
		if v.User != 0 || v.Roles != nil {
			return fmt.Errorf("a counterexample without need: %+v", v)
		}
		return nil
	}
	c := from.Rules(g.Channel(from.Parent))
	reads := func(m guildtest.Member) bool { return g.Permissions(m.ID, m.Roles, c).Has(c.Kind.Reading()) }
	reader, stranger := guildtest.Member{ID: v.User, Roles: v.Roles}, memory.UserID(g.ID)+1
	if p.Roles != nil || p.Viewer == g.Owner && p.Viewer != 0 {
		if v.User != p.Viewer || !slices.Equal(v.Roles, p.Roles) || reads(reader) {
			return fmt.Errorf("not the viewer: %+v", v)
		}
		return nil
	}
	at := g.Channel(p.Channel)
	r := at.Rules(g.Channel(at.Parent))
	views := func(m guildtest.Member) bool { return g.Permissions(m.ID, m.Roles, r).Has(memory.ViewChannel) }
	if v.User == 0 {
		reader.ID = stranger
	}
	is := func(m guildtest.Member) bool {
		return m.ID == reader.ID && slices.Equal(slices.Sorted(slices.Values(m.Roles)), reader.Roles)
	}
	if !views(reader) || reads(reader) || !slices.ContainsFunc(audience, is) {
		return fmt.Errorf("no counterexample: %+v", v)
	}
	if i := slices.IndexFunc(audience, func(m guildtest.Member) bool {
		return m.ID == stranger && (v.User != 0 || len(m.Roles) < len(v.Roles)) && views(m) && !reads(m)
	}); i >= 0 {
		return fmt.Errorf("%v would do instead of %+v", audience[i].Roles, v)
	}
	return nil
}

// known returns the sets of roles of w's guild after Discord sent members as all of them.
func known(w *guildtest.World, members []guildtest.Member) *search.RoleSets {
	r := search.NewMemberRoles()
	r.Open(w.Guild.ID)
	_, nonce, _ := r.NextRequest(time.Time{}, time.Time{})
	var told []memory.Person
	for _, m := range members {
		told = append(told, memory.Person{ID: m.ID, Roles: m.Roles})
	}
	for id, p := range w.People {
		if p.Bot {
			told = append(told, memory.Person{ID: id, Bot: true, Roles: w.Roles})
		}
	}
	r.AddChunk(w.Guild.ID, nonce, 0, 1, told)
	return r.Sets(&w.Guild)
}

// shape is a common kind of guild: habitual roles; channels for all, for the verified, for staff, for one team
// each, and voice; some people are muted, bots have overwrites.
type shape struct {
	gated bool // only the verified see anything
	tidy  bool // whoever has another role is verified; else each member has each role by chance
	named bool // what the verified see is opened to moderators and teams by name, too
}

// draw returns such a guild with 2,000 members.
func (s shape) draw(seed uint64) (guildtest.World, []guildtest.Member) {
	const base = memory.ViewChannel | memory.ReadMessageHistory | memory.Connect
	const verified, mod, muted, vip, dev, art, bots, admin memory.RoleID = 51, 52, 53, 54, 55, 56, 57, 58
	w := guildtest.World{Guild: memory.Guild{ID: 50, Owner: 11}, People: map[memory.UserID]memory.Person{}}
	w.Guild.Roles = []memory.Role{{ID: 50, Permissions: base}, {ID: verified, Permissions: base},
		{ID: mod, Permissions: base}, {ID: muted},
		{ID: vip}, {ID: dev}, {ID: art}, {ID: admin, Permissions: memory.Administrator}, {ID: bots, Bot: 12,
			Permissions: base}}
	if s.tidy {
		for _, role := range []memory.RoleID{mod, vip, dev, art} {
			w.Stated = append(w.Stated, memory.Implied{Role: role, Also: verified})
		}
	}
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
		case s.gated && s.named:
			return only(verified, mod, vip, dev, art)
		case s.gated:
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
		if s.tidy && len(m.Roles) > 0 && !slices.Contains(m.Roles, verified) {
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

// TestReadableRefusesLittle counts the pairs refused although all members could read them: if members may have any
// roles, if admins stated implications, and if members' roles are known.
func TestReadableRefusesLittle(t *testing.T) {
	t.Parallel()
	guilds := uint64(3)
	if long {
		guilds = 12
	}
	rules := []string{"any roles", "stated", "known"}
	gated, allGated, usual, allUsual := [3]int{}, 0, 0, 0 // usual: with any roles, but where the verified aren't named
	for name, s := range map[string]shape{
		"open": {}, "gated": {gated: true}, "gated, tidy": {gated: true, tidy: true},
		"gated, tidy, named": {gated: true, tidy: true, named: true},
	} {
		refused, all := [3]int{}, 0
		for seed := range guilds {
			w, members := s.draw(seed)
			stated := w.Guild
			stated.Settings = map[memory.Setting]string{}
			for _, i := range w.Stated {
				stated.Settings[i.Setting()] = "on 1"
			}
			for _, at := range w.Guild.Channels {
				got := [3][]memory.ChannelID{
					search.Readable(&w.Guild, search.Place{Channel: at.ID}, w.Person),
					search.Readable(&stated, search.Place{Channel: at.ID}, w.Person),
					search.Readable(&w.Guild, search.Place{Channel: at.ID, Sets: known(&w, members)}, w.Person),
				}
				for _, from := range w.Guild.Channels {
					want := w.Allowed(members, at, from, nil)
					for rule, readable := range got {
						switch has := slices.Contains(readable, from.ID); {
						case has && !want:
							t.Fatalf("%s, %s: %d leaks into %d", name, rules[rule], from.ID, at.ID)
						case want && !has:
							refused[rule]++
						}
					}
					if want {
						all++
					}
				}
			}
		}
		if s.gated {
			allGated += all
		}
		if s.named || !s.tidy {
			usual, allUsual = usual+refused[0], allUsual+all
		}
		for rule, n := range refused {
			t.Logf("%s, %s: %d of %d pairs refused that all members could read, %.1f %%", name, rules[rule], n, all,
				100*float64(n)/float64(all))
			if s.gated {
				gated[rule] += n
			}
		}
	}
	for rule, n := range gated {
		t.Logf("all gated guilds, %s: %d of %d, %.1f %%", rules[rule], n, allGated, 100*float64(n)/float64(allGated))
	}
	if 50*usual > allUsual {
		t.Error("more than 2 % of the pairs are refused where members may have any roles")
	}
	if 100*gated[2] > 3*allGated || 100*gated[1] > 3*allGated {
		t.Error("more than 3 % of the pairs of gated guilds are refused where members are known or admins stated what holds")
	}
}

// TestMemberRolesAreRightOrSilent has members come, go and change roles while Discord sends them in parts and late,
// and the connection gets lost. Whenever sets of roles are known, they are right.
func TestMemberRolesAreRightOrSilent(t *testing.T) {
	t.Parallel()
	const guild memory.GuildID = 50
	roles := []memory.RoleID{51, 52, 53}
	g := &memory.Guild{ID: guild, Roles: []memory.Role{{ID: 50}, {ID: 51}, {ID: 52}, {ID: 53}},
		Channels: []memory.Channel{{ID: 70, Overwrites: list{own(1, reads, 0), own(2, reads, 0), allow(51, reads),
			allow(52, reads), allow(53, reads)}}}}
	told := 0
	for range 20 {
		rapid.Check(t, func(t *rapid.T) {
			r, there, now := search.NewMemberRoles(), map[memory.UserID][]memory.RoleID{}, time.Unix(0, 0)
			var parts []func() // of answers, still to come
			some := func() (set []memory.RoleID) {
				for _, role := range roles {
					if rapid.Bool().Draw(t, "has") {
						set = append(set, role)
					}
				}
				return set
			}
			who := func() memory.UserID { return memory.UserID(rapid.IntRange(1, 6).Draw(t, "who")) }
			for range 4 {
				there[who()] = some()
			}
			r.Open(guild)
			for range rapid.IntRange(1, 30).Draw(t, "steps") {
				now = now.Add(time.Second)
				switch rapid.SampledFrom([]string{"ask", "ask", "part", "part", "part", "part", "change", "leave", "lose",
					"outage", "deaf", "doubt"}).Draw(t, "what") {
				case "ask":
					if _, nonce, ask := r.NextRequest(now, now.Add(-2*time.Second)); ask {
						halves := [2][]memory.Person{}
						for _, id := range slices.Sorted(maps.Keys(there)) {
							halves[id%2] = append(halves[id%2], memory.Person{ID: id, Roles: there[id]})
						}
						for i, half := range halves {
							parts = append(parts, func() { r.AddChunk(guild, nonce, i, 2, half) })
						}
					}
				case "part":
					if len(parts) > 0 {
						i := rapid.IntRange(0, len(parts)-1).Draw(t, "part")
						parts[i]() // also twice, and of an answer before
						if rapid.Bool().Draw(t, "gone") {
							parts = slices.Delete(parts, i, i+1)
						}
					}
				case "change":
					id := who()
					there[id] = some()
					r.Changed(memory.Person{Guild: guild, RolesKnown: true, ID: id, Roles: there[id]})
				case "leave":
					id := who()
					delete(there, id)
					r.Left(guild, id)
				case "lose":
					r.Lose()
					there[who()] = some() // unheard
					if r.Sets(g) != nil {
						t.Fatal("something is known while the connection is lost")
					}
					if rapid.Bool().Draw(t, "resumed") {
						r.Resume()
					} else {
						r.Begin()
						r.Open(guild)
					}
				case "outage":
					r.Close(guild)
					there[who()] = some() // unheard
					r.Open(guild)
				case "deaf": // until they do something
					id := who()
					there[id] = some()
					r.Check(memory.Person{Guild: guild, RolesKnown: true, ID: id, Roles: there[id]})
				case "doubt":
					r.Invalidate(rapid.SampledFrom([]memory.GuildID{0, guild}).Draw(t, "which"))
				}
				got := r.Sets(g)
				if got == nil {
					continue
				}
				told++
				want := map[string]bool{"[]": true}
				for _, set := range there {
					want[fmt.Sprint(set)] = true
				}
				sets, own := got.Known()
				for _, set := range sets {
					if !want[fmt.Sprint(set)] {
						t.Fatalf("nobody has %v: %v", set, there)
					}
				}
				if len(sets) != len(want) {
					t.Fatalf("known are %v, there are %v", sets, there)
				}
				for _, id := range []memory.UserID{1, 2} {
					is, known := own[id]
					if set, here := there[id]; known != here || !slices.Equal(is, set) {
						t.Fatalf("%d has %v, not %v", id, set, is)
					}
				}
			}
		})
	}
	if told < 100 {
		t.Errorf("the sets were known %d times only", told)
	}
}
