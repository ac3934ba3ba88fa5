package reply

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"hark/memory"
)

func TestRolesLimitsTakeThePlaceOfEverybodys(t *testing.T) {
	t.Parallel()
	const guild = 9
	configured := Limits{Member: memory.Limit{Messages: 10, Tokens: 1000},
		Guild: memory.Limit{Messages: 60, Tokens: 9000}}
	limit := func(role memory.RoleID, messages, tokens int) memory.RoleLimit {
		return memory.RoleLimit{Role: role, Limit: memory.Limit{Messages: messages, Tokens: tokens}}
	}
	const as, none = memory.AsConfigured, memory.Unlimited
	for name, test := range map[string]struct {
		chosen      []memory.RoleLimit
		roles       []memory.RoleID
		member, all memory.Limit
	}{
		"nothing is chosen": {nil, []memory.RoleID{5}, configured.Member, configured.Guild},
		"each member's": {[]memory.RoleLimit{limit(guild, 3, as)}, []memory.RoleID{5},
			memory.Limit{Messages: 3, Tokens: 1000}, configured.Guild},
		"each member's, without": {[]memory.RoleLimit{limit(guild, none, none)}, nil, memory.Limit{},
			configured.Guild},
		"a role's": {[]memory.RoleLimit{limit(guild, 3, 3), limit(5, 2, as)},
			[]memory.RoleID{guild, 5}, memory.Limit{Messages: 2, Tokens: 3}, configured.Guild},
		"of a role that they don't have": {[]memory.RoleLimit{limit(5, 2, 2)}, []memory.RoleID{6, 0},
			configured.Member, configured.Guild},
		"the most generous role's": {[]memory.RoleLimit{limit(5, 2, 7), limit(6, 4, as), limit(7, as, 5)},
			[]memory.RoleID{7, 6, 5}, memory.Limit{Messages: 4, Tokens: 7}, configured.Guild},
		"a role without limit": {[]memory.RoleLimit{limit(5, 2, none), limit(6, none, 4)},
			[]memory.RoleID{5, 6}, memory.Limit{}, configured.Guild},
		"less for all": {[]memory.RoleLimit{limit(0, 20, 10)}, nil, configured.Member,
			memory.Limit{Messages: 20, Tokens: 10}},
		"more for all than configured": {[]memory.RoleLimit{limit(0, none, 10000)}, nil, configured.Member,
			configured.Guild},
	} {
		g := &memory.Guild{ID: guild, Limits: test.chosen}
		if member, all := configured.Of(g, test.roles); member != test.member || all != test.all {
			t.Errorf("%s: %+v and %+v", name, member, all)
		}
	}
	g := &memory.Guild{ID: guild, Limits: []memory.RoleLimit{limit(0, 20, 10)}}
	if _, all := (Limits{}).Of(g, nil); all != g.Limits[0].Limit {
		t.Errorf("where nothing is configured: %+v", all)
	}
	direct := &memory.Guild{ID: memory.DirectGuild, Limits: []memory.RoleLimit{limit(0, 1, 1)}}
	if member, all := configured.Of(direct, nil); member != configured.Member || all != (memory.Limit{}) {
		t.Errorf("in direct messages: %+v and %+v", member, all)
	}
}

// asked is a question that was let pass.
type asked struct {
	memory.Membership
	at time.Time
}

// While the clock goes on, a question passes exactly if fewer than the limit passed in the minute before it,
// of its asker and of all; and one that is refused would pass when it is told, and not a moment before.
func TestQuotaIsAsTheNaiveOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := newQuota()
		now := time.Date(2026, 3, 29, 0, 59, 0, 0, time.UTC)
		var passed []asked
		in := func(m memory.Membership, at time.Time) (own, all int) {
			for _, p := range passed {
				if p.Guild == m.Guild && at.Sub(p.at) < time.Minute {
					all++
					if p.User == m.User {
						own++
					}
				}
			}
			return own, all
		}
		for range rapid.IntRange(1, 80).Draw(t, "questions") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 500, 7_000, 20_000, 59_999, 60_000,
				200_000}).Draw(t, "ms later")) * time.Millisecond)
			m := memory.Membership{Guild: memory.GuildID(rapid.IntRange(1, 2).Draw(t, "guild")),
				User: memory.UserID(rapid.IntRange(1, 3).Draw(t, "user"))}
			member, guild := memory.Limit{Messages: rapid.IntRange(0, 3).Draw(t, "member's")},
				memory.Limit{Messages: rapid.IntRange(0, 5).Draw(t, "guild's")}
			own, all := in(m, now)
			want := ""
			switch {
			case member.Messages > 0 && own >= member.Messages:
				want = memberMessages
			case guild.Messages > 0 && all >= guild.Messages:
				want = guildMessages
			}
			got := ""
			h := l.take(m, now, member, guild)
			if h != nil {
				got = h.Of
			}
			if got != want {
				t.Fatalf("%q, want %q, after %d of theirs and %d of all", got, want, own, all)
			}
			if h == nil {
				passed = append(passed, asked{m, now})
				if n, until := l.asked(m, now); n != own+1 || until.Before(now) {
					t.Fatalf("counted %d until %v, want %d", n, until, own+1)
				}
				if rapid.IntRange(0, 4).Draw(t, "back?") == 0 {
					l.refund(m, now)
					passed = passed[:len(passed)-1]
				}
				continue
			}
			free := func(at time.Time) bool {
				own, all := in(m, at)
				return h.Of == memberMessages && own < member.Messages || h.Of == guildMessages && all < guild.Messages
			}
			if !free(h.until) || free(h.until.Add(-1)) || !h.until.After(now) {
				t.Fatalf("%s is over at %v", h.Of, h.until)
			}
		}
		l.sweep(now.Add(time.Hour))
		if len(l.recent) > 0 {
			t.Fatalf("kept %v", l.recent)
		}
	})
}

// However the clock jumps, nobody waits for longer than two minutes from then on, and nobody who has asked
// less than the limit is refused.
func TestQuotaOutlivesClocksThatJump(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := newQuota()
		now := time.Date(2026, 3, 29, 0, 59, 0, 0, time.UTC)
		m := memory.Membership{Guild: 1, User: 1}
		limit := memory.Limit{Messages: 2}
		var passed []time.Time
		for range rapid.IntRange(1, 40).Draw(t, "questions") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{1, 20, 59, 61, 86_400, -1, -30, -59, -61,
				-86_400, 400 * 86_400}).Draw(t, "s later")) * time.Second)
			near := slices.DeleteFunc(slices.Clone(passed), func(at time.Time) bool {
				return at.Sub(now).Abs() >= time.Minute
			})
			h := l.take(m, now, limit, memory.Limit{})
			if h != nil && (len(near) < limit.Messages || h.until.Sub(now) > 2*time.Minute) {
				t.Fatalf("refused until %v with %v", h.until, near)
			}
			if h == nil {
				passed = append(passed, now)
			}
		}
		if l.take(m, now.Add(2*time.Minute), limit, memory.Limit{}) != nil {
			t.Fatalf("refused two minutes later")
		}
	})
}

// Several answers at once can't pass a limit of which only one can: the others wait until it is known what
// the first took.
func TestAnswersAtOnceDontPassALimitOfOne(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string][2]Share{"a member's": {{Limit: 1}, {}}, "a guild's": {{}, {Limit: 1}}} {
		synctest.Test(t, func(t *testing.T) {
			q := newQuota()
			var spent, models, quoted atomic.Int32
			for id := range memory.MessageID(5) {
				go func() {
					m := memory.Membership{Guild: 1, User: 2}
					got, err := q.reserve(t.Context(), id, reservation{m, 1000}, func() (tokenQuota, error) {
						own, all := limits[0], limits[1]
						own.Spent, all.Spent = int(spent.Load()), int(spent.Load())
						return newTokenQuota(own, all, time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)), nil
					})
					switch {
					case err != nil:
						t.Error(err)
					case got.Hit != nil:
						quoted.Add(1)
					default:
						models.Add(1)
						time.Sleep(time.Second)
						spent.Store(7)
						q.release(id)
					}
				}()
				synctest.Wait()
			}
			time.Sleep(time.Minute)
			if models.Load() != 1 || quoted.Load() != 4 || len(q.reserved) > 0 {
				t.Errorf("%s: a model was asked %d times, and not %d times; reserved is %v", name,
					models.Load(), quoted.Load(), q.reserved)
			}
		})
	}
}
