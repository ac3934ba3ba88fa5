package search_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"hark/memory"
	"hark/search"
)

// BenchmarkReadable decides what may be used in a big gated guild: 400 channels, each opened by a role or
// two, 200 roles, 100,000 members; where members may have any roles, and where it is known which they have.
// Beside it, how long it takes to take in that list of members, to look at it anew after one has changed, and to
// judge all pairs of 300 channels.
func BenchmarkReadable(b *testing.B) {
	g := &memory.Guild{ID: 1, Owner: 2, Roles: []memory.Role{{ID: 1, Permissions: reads}}}
	draw := rand.New(rand.NewPCG(1, 2))
	role := func() memory.RoleID { return memory.RoleID(10 + draw.IntN(200)) }
	for i := range memory.RoleID(200) {
		g.Roles = append(g.Roles, memory.Role{ID: 10 + i})
	}
	for i := range memory.ChannelID(400) {
		c := memory.Channel{ID: 1000 + i, Overwrites: list{deny(1, memory.ViewChannel), allow(10, memory.ViewChannel)}}
		if i%4 == 0 { // every fourth is a team's
			c.Overwrites[1].Role = role()%100 + 10
		}
		g.Channels = append(g.Channels, c)
	}
	var members []memory.Person
	for i := range memory.UserID(100_000) {
		m := memory.Person{Guild: g.ID, ID: 10_000 + i}
		for range draw.IntN(6) {
			m.Roles = append(m.Roles, role())
		}
		if len(m.Roles) > 0 {
			m.Roles = append(m.Roles, 10)
		}
		members = append(members, m)
	}
	nobody := func(memory.UserID) (memory.Person, bool) { return memory.Person{}, false }
	place := search.Place{Channel: 1001}
	b.Run("any roles", func(b *testing.B) {
		for b.Loop() {
			search.Readable(g, place, nobody)
		}
	})
	small := &memory.Guild{ID: g.ID, Owner: g.Owner, Roles: g.Roles, Channels: g.Channels[:300]}
	pairs := func(sets *search.RoleSets) func(*testing.B) {
		return func(b *testing.B) {
			for b.Loop() {
				for _, at := range small.Channels {
					a := search.NewAudience(small, search.Place{Channel: at.ID, Sets: sets}, nobody)
					for _, from := range small.Channels {
						a.Judge(from.ID)
					}
				}
			}
		}
	}
	b.Run("pairs, any roles", pairs(nil))
	r := search.NewMemberRoles()
	b.Run("told", func(b *testing.B) {
		for b.Loop() {
			r.Open(g.ID)
			_, nonce, _ := r.NextRequest(time.Time{}, time.Time{})
			r.AddChunk(g.ID, nonce, 0, 1, members)
		}
	})
	b.Run("changed", func(b *testing.B) {
		for b.Loop() {
			r.Changed(members[0])
			r.Sets(g)
		}
	})
	place.Sets = r.Sets(g)
	all, _ := place.Sets.Known()
	b.Run("pairs, known", pairs(r.Sets(small)))
	b.Run("known", func(b *testing.B) {
		b.ReportMetric(float64(len(all)), "sets")
		for b.Loop() {
			search.Readable(g, place, nobody)
		}
	})
}
