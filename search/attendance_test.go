package search_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hark/internal/guildtest"
	"hark/memory"
	"hark/search"
)

// visitor is a member, and what Hark knows of them.
type visitor struct {
	guildtest.Member
	joined time.Time
	heard  bool // Hark has seen them as they are now
	moved  bool // they have changed since Hark saw them last
}

// life is a guild in which people come and go, write and change who may view what.
type life struct {
	*rapid.T
	guildtest.World
	attendance *search.Attendance
	now        time.Time
	people     map[memory.UserID]*visitor
	said       map[memory.ChannelID][]heardMessage
}

// heardMessage is a message with all who could view its channel when it was said.
type heardMessage struct {
	id      memory.MessageID
	viewers []memory.UserID
}

func (l *life) viewers(c memory.Channel) (ids []memory.UserID) {
	for id, v := range l.people {
		if l.Views(v.Member, c) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (l *life) someChannel() *memory.Channel {
	return &l.Guild.Channels[rapid.IntRange(0, len(l.Guild.Channels)-1).Draw(l.T, "channel")]
}

func (l *life) someRoles() (roles []memory.RoleID) {
	for _, r := range l.Roles {
		if rapid.Bool().Draw(l.T, "has") {
			roles = append(roles, r)
		}
	}
	return roles
}

// step does one thing that happens in a guild.
func (l *life) step() {
	l.now = l.now.Add(time.Second)
	at := l.someChannel()
	bits := []memory.Permissions{0, memory.ViewChannel, memory.ViewChannel | memory.ReadMessageHistory}
	switch rapid.SampledFrom([]string{"say", "say", "say", "say", "say", "roles", "join", "overwrite", "role",
		"owner", "away"}).Draw(l.T, "what") {
	case "say":
		if who := l.viewers(*at); len(who) > 0 {
			v := l.people[rapid.SampledFrom(who).Draw(l.T, "who")]
			id := memory.FirstMessageID(l.now)
			l.said[at.ID] = append(l.said[at.ID], heardMessage{id, who})
			l.attendance.Advance(id)
			l.attendance.SawMember(memory.Person{ID: v.ID, Guild: l.Guild.ID, Roles: v.Roles, RolesKnown: true},
				v.joined, true)
			v.heard, v.moved = true, false
		}
	case "roles": // which Hark isn't told of
		v := l.people[memory.UserID(rapid.IntRange(11, 15).Draw(l.T, "who"))]
		if v != nil && !v.moved {
			v.Roles, v.heard, v.moved = l.someRoles(), false, true
		}
	case "join": // nor of that
		id := memory.UserID(rapid.IntRange(11, 15).Draw(l.T, "who"))
		l.people[id] = &visitor{Member: guildtest.Member{ID: id, Roles: l.someRoles()}, joined: l.now, moved: true}
	case "overwrite":
		o := memory.Overwrite{Allow: rapid.SampledFrom(bits).Draw(l.T, "allow"),
			Deny: rapid.SampledFrom(bits).Draw(l.T, "deny")}
		if rapid.Bool().Draw(l.T, "person") {
			o.User = memory.UserID(rapid.IntRange(11, 15).Draw(l.T, "whose"))
		} else {
			o.Role = rapid.SampledFrom(append(l.Roles, memory.RoleID(l.Guild.ID))).Draw(l.T, "role")
		}
		at.Overwrites = append(slices.DeleteFunc(slices.Clone(at.Overwrites), func(p memory.Overwrite) bool {
			return p.User == o.User && p.Role == o.Role
		}), o)
		l.attendance.Observe([]memory.Event{memory.ChannelSeen{Channel: *at}})
	case "role":
		r := &l.Guild.Roles[rapid.IntRange(0, len(l.Guild.Roles)-1).Draw(l.T, "role")]
		r.Permissions = rapid.SampledFrom(bits).Draw(l.T, "permissions")
		l.attendance.Observe([]memory.Event{memory.RoleSeen{Guild: l.Guild.ID, Role: *r}})
	case "owner":
		l.Guild.Owner = memory.UserID(rapid.IntRange(11, 15).Draw(l.T, "owner"))
		l.attendance.Observe([]memory.Event{memory.GuildSeen{Guild: l.Guild}})
	case "away":
		for range 3 {
			o := memory.Overwrite{Role: memory.RoleID(l.Guild.ID), Deny: rapid.SampledFrom(bits).Draw(l.T, "deny")}
			at.Overwrites = append(slices.DeleteFunc(slices.Clone(at.Overwrites),
				func(p memory.Overwrite) bool { return p.User == 0 && p.Role == o.Role }), o)
			l.said[at.ID] = append(l.said[at.ID], heardMessage{memory.FirstMessageID(l.now), l.viewers(*at)})
			l.now = l.now.Add(time.Second)
		}
		l.attendance.Observe([]memory.Event{memory.GuildSeen{Guild: l.Guild, At: l.now}})
	}
}

// TestAttendanceLeaksNothing compares Since with the enumeration of all members: everybody whom Hark has seen and
// who can view the channel now could read all messages from then on. Some messages must be usable.
func TestAttendanceLeaksNothing(t *testing.T) {
	t.Parallel()
	rounds, used, all := 5000/draws, 0, 0
	if long {
		rounds = 100_000 / draws
	}
	for range rounds {
		rapid.Check(t, func(t *rapid.T) {
			l := &life{T: t, World: guildtest.Draw(t, 0, 3), attendance: search.NewAttendance(),
				now:    time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
				people: map[memory.UserID]*visitor{}, said: map[memory.ChannelID][]heardMessage{}}
			for id := memory.UserID(11); id < 15; id++ {
				l.people[id] = &visitor{Member: guildtest.Member{ID: id, Roles: l.someRoles()},
					joined: l.now.Add(-time.Hour)}
			}
			l.attendance.Observe([]memory.Event{memory.GuildSeen{Guild: l.Guild, At: l.now}})
			for range rapid.IntRange(1, 40).Draw(t, "steps") {
				l.step()
			}
			for _, c := range l.Guild.Channels {
				since := l.attendance.Since(&l.Guild, c.ID)
				readers := slices.DeleteFunc(l.viewers(c), func(id memory.UserID) bool { return !l.people[id].heard })
				for _, m := range l.said[c.ID] {
					all++
					if m.id < since {
						continue
					}
					used++
					for _, reader := range readers {
						if !slices.Contains(m.viewers, reader) {
							t.Fatalf("in channel %d, %d couldn't read message %d, which counts since %d",
								c.ID, reader, m.id, since)
						}
					}
				}
			}
		})
	}
	t.Logf("%d messages of %d may be used", used, all)
	if used < all/20 {
		t.Error("hardly anything may be used")
	}
}

// TestAttendance covers what each change costs.
func TestAttendance(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const start = 3 // seconds after begun, when Hark heard of the guild
	secret := overwrites(list{deny(everyone, memory.ViewChannel), allow(modRole, memory.ViewChannel)}, nil)
	said := func(second int) memory.MessageID {
		return memory.FirstMessageID(begun.Add(time.Duration(second) * time.Second))
	}
	for _, c := range []struct {
		name   string
		change func(*memory.Guild, *memory.Channel, *memory.Channel)
		at     memory.ChannelID
		// between happens after a message at 10 s, and before one at 20 s
		between func(a *search.Attendance, g *memory.Guild)
		want    []int
	}{
		{"nothing happened", overwrites(nil, nil), hall, sees(), []int{10, 20}},
		{"a member of old writes", overwrites(nil, nil), hall, met(bob, begun, nil), []int{10, 20}},
		{"somebody joins and writes", overwrites(nil, nil), hall, met(bob, begun.Add(15*time.Second), nil), []int{20}},
		{"somebody who may have been given the role writes", secret, hall,
			met(ann, begun, []memory.RoleID{modRole}), []int{20}},
		{"somebody who can't view it writes", secret, hall, met(bob, begun.Add(15*time.Second), nil), []int{10, 20}},
		{"another channel is opened", secret, hall, sees(memory.ChannelSeen{Channel: memory.Channel{ID: room,
			Guild: castleID, Overwrites: list{allow(everyone, reads)}}}), []int{10, 20}},
		{"it is renamed", overwrites(nil, nil), hall,
			sees(memory.ChannelSeen{Channel: memory.Channel{ID: hall, Guild: castleID, Name: "new"}}), []int{10, 20}},
		{"it is closed and opened again", overwrites(nil, nil), hall, sees(memory.ChannelSeen{Channel: memory.Channel{
			ID: hall, Guild: castleID, Overwrites: list{deny(everyone, memory.ViewChannel)}}},
			memory.ChannelSeen{Channel: memory.Channel{ID: hall, Guild: castleID}}), []int{20}},
		{"a role that brings nothing is made", overwrites(nil, nil), hall,
			sees(memory.RoleSeen{Guild: castleID, Role: memory.Role{ID: 998}}), []int{10, 20}},
		{"a role that brings all is made", overwrites(nil, nil), hall,
			sees(memory.RoleSeen{Guild: castleID, Role: memory.Role{ID: 998, Permissions: reads}}), []int{20}},
		{"a role is taken away", overwrites(nil, nil), hall,
			sees(memory.RoleGone{Guild: castleID, Role: mutedRole}), []int{20}},
		{"the guild is renamed", overwrites(nil, nil), hall, func(a *search.Attendance, g *memory.Guild) {
			a.Observe([]memory.Event{memory.GuildSeen{Guild: *g}})
		}, []int{10, 20}},
		{"Hark was away", overwrites(nil, nil), hall, func(a *search.Attendance, g *memory.Guild) {
			a.Observe([]memory.Event{memory.GuildSeen{Guild: *g, At: begun.Add(15 * time.Second)}})
		}, []int{20}},
		{"a thread of a channel that changed", overwrites(nil, nil), post, sees(memory.ChannelSeen{
			Channel: memory.Channel{ID: room, Guild: castleID, Overwrites: list{allow(modRole, reads)}}}), []int{20}},
		{"a private thread", overwrites(nil, nil), aside, sees(), nil},
		{"the channel is gone", overwrites(nil, nil), hall,
			sees(memory.ChannelGone{Guild: castleID, Channel: hall}), nil},
		{"roles unknown", func(g *memory.Guild, _, _ *memory.Channel) { g.Roles = nil }, hall, sees(), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g, a := castle(c.change), search.NewAttendance()
			if got := a.Since(g, c.at); got != math.MaxInt64 {
				t.Errorf("before anything is known it counts since %d", got)
			}
			a.Observe([]memory.Event{memory.GuildSeen{Guild: *g, At: begun.Add(start * time.Second)}})
			a.Advance(said(10))
			c.between(a, g)
			a.Advance(said(20))
			var got []int
			for _, second := range []int{1, 10, 20} {
				if said(second) >= a.Since(g, c.at) {
					got = append(got, second)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("what was said at %v counts, want %v", got, c.want)
			}
		})
	}
}

// sees has Hark hear of something.
func sees(events ...memory.Event) func(*search.Attendance, *memory.Guild) {
	return func(a *search.Attendance, _ *memory.Guild) { a.Observe(events) }
}

// met has somebody write elsewhere.
func met(user memory.UserID, joined time.Time, roles []memory.RoleID) func(*search.Attendance, *memory.Guild) {
	return func(a *search.Attendance, g *memory.Guild) {
		a.SawMember(memory.Person{ID: user, Guild: g.ID, Roles: roles, RolesKnown: true}, joined, false)
	}
}
