package memorytest

import (
	"errors"
	"time"

	"hark/memory"

	"pgregory.net/rapid"
)

func (t *trial) spending(guild memory.GuildID, day time.Time) map[memory.UserID]int {
	t.Helper()
	return got(t.store.Spending(t.ctx, guild, day))(t)
}

// spent is what the question so many hours after the beginning took.
func spent(user memory.UserID, hours, tokens int) memory.Spent {
	return memory.Spent{Guild: guild, User: user, Question: id(hours * 3600), Tokens: tokens}
}

type byUser = map[memory.UserID]int

var limitPromises = []promise{
	{"the last limit by time holds, whatever is seen of the guild", func(t *trial) {
		chosen := func(role memory.RoleID, messages, tokens, minutes int) memory.LimitChosen {
			return memory.LimitChosen{Guild: guild, RoleLimit: memory.RoleLimit{Role: role, Limit: memory.Limit{Messages: messages, Tokens: tokens}},
				At: began.Add(time.Duration(minutes) * time.Minute)}
		}
		t.apply(chosen(951, 3, memory.AsConfigured, 1), memory.GuildSeen{Guild: town(), At: began})
		t.same("of what was known later", t.guild(guild).Limits, []memory.RoleLimit{chosen(951, 3, memory.AsConfigured, 1).RoleLimit})
		elsewhere := chosen(951, 9, 9, 9)
		elsewhere.Guild = memory.LocalGuild
		t.apply(chosen(951, memory.Unlimited, 5, 3), chosen(951, 4, 4, 2), chosen(0, 7, 7, 1), chosen(900, 1, 1, 1),
			chosen(900, memory.AsConfigured, memory.AsConfigured, 2), elsewhere)
		seen := town()
		seen.Limits = []memory.RoleLimit{{Role: 951, Limit: memory.Limit{Messages: 99, Tokens: 99}}}
		t.apply(memory.GuildSeen{Guild: seen, At: later})
		t.same("the last", t.guild(guild).Limits, []memory.RoleLimit{chosen(0, 7, 7, 0).RoleLimit, chosen(951, 0, 5, 0).RoleLimit})
		t.apply(memory.GuildLeft{Guild: guild, At: later})
		t.forget(memory.Forgetting{Guild: guild, Why: memory.WhyLeft, At: later})
		t.apply(memory.GuildSeen{Guild: town(), At: later})
		t.same("after all of the guild was forgotten", t.guild(guild).Limits, []memory.RoleLimit(nil))
	}},
	{"what can't be a limit or be spent is refused", func(t *trial) {
		for _, e := range []memory.Event{
			memory.LimitChosen{Guild: guild, RoleLimit: memory.RoleLimit{Limit: memory.Limit{Messages: -2}}}, memory.LimitChosen{Guild: guild, RoleLimit: memory.RoleLimit{Limit: memory.Limit{Tokens: -2}}},
			memory.Spent{Guild: guild, User: ada, Tokens: 1}, memory.Spent{Guild: guild, User: ada, Question: id(1), Tokens: -1},
		} {
			if err := t.store.Apply(t.ctx, e); !errors.Is(err, memory.ErrRefused) {
				t.Fatalf("Apply(%+v): %v", e, err)
			}
		}
	}},
	{"what is spent is counted by day and by who asked", func(t *trial) {
		elsewhere := spent(ada, 1, 70)
		elsewhere.Guild = 901
		// The beginning is at noon.
		t.apply(spent(ada, 1, 10), spent(ada, 2, 20), spent(ben, 3, 5), spent(ada, 12, 100), spent(ada, -13, 200), elsewhere,
			spent(ada, 2, 20), spent(ada, 2, 15), spent(ben, 3, 6))
		t.same("today", t.spending(guild, began), byUser{ada: 30, ben: 6})
		t.same("today, in another zone", t.spending(guild, began.Add(11*time.Hour).In(time.FixedZone("", 12*3600))), byUser{ada: 30, ben: 6})
		t.same("tomorrow", t.spending(guild, began.Add(12*time.Hour)), byUser{ada: 100})
		t.same("yesterday", t.spending(guild, began.Add(-13*time.Hour)), byUser{ada: 200})
		t.same("elsewhere", t.spending(901, began), byUser{ada: 70})
		today, _ := memory.Day(began)
		t.expire(memory.Expiry{Spending: today})
		t.same("yesterday, then", t.spending(guild, began.Add(-13*time.Hour)), byUser{})
		t.same("today, then", t.spending(guild, began), byUser{ada: 30, ben: 6})
		t.expire(memory.Expiry{Spending: id(2 * 3600).Time()})
		t.same("what is left", t.spending(guild, began), byUser{ada: 20, ben: 6})
	}},
	{"on whom something was spent is forgotten with all of them, and what was with the guild", func(t *trial) {
		t.apply(memory.GuildSeen{Guild: town(), At: began}, spent(ada, 1, 10), spent(ben, 2, 5))
		t.forget(memory.Forgetting{Guild: guild, User: ada, Channel: general, Why: memory.WhyMember, At: later})
		t.forget(memory.Forgetting{Guild: guild, User: ada, Before: began.Add(9 * time.Hour), Why: memory.WhyMember, At: later})
		t.forget(memory.Forgetting{Guild: 901, User: ada, Why: memory.WhyMember, At: later})
		t.same("before", t.spending(guild, began), byUser{ada: 10, ben: 5})
		t.forget(memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: began.Add(4 * time.Hour)})
		t.same("what was spent on them", t.spending(guild, began), byUser{0: 10, ben: 5})
		t.apply(spent(ada, 1, 12), spent(ada, 3, 7), spent(ada, 5, 1))
		t.same("what comes late, and what comes then", t.spending(guild, began), byUser{0: 19, ben: 5, ada: 1})
		t.apply(memory.Opted{Guild: guild, User: ada, Out: true, At: began}, spent(ada, 6, 2))
		t.same("of who has opted out", t.spending(guild, began), byUser{0: 22, ben: 5})
		t.forget(memory.Forgetting{Guild: memory.Everywhere, User: ben, Why: memory.WhyPurge, At: later})
		t.same("of who is forgotten everywhere", t.spending(guild, began), byUser{0: 27})
		t.forget(memory.Forgetting{Guild: guild, Why: memory.WhyPurge, At: later})
		t.apply(spent(503, 7, 2))
		t.same("of a guild that is forgotten", t.spending(guild, began), byUser{})
	}},
}

// drawLimit is a limit of one of two roles, or none any more.
func drawLimit(t *rapid.T) memory.Event {
	at := drawTime(t, "limit at")
	limit := memory.Limit{Messages: []int{memory.AsConfigured, memory.Unlimited, 5}[at.Minute()%3], Tokens: memory.AsConfigured}
	return memory.LimitChosen{Guild: guild, RoleLimit: memory.RoleLimit{Role: rapid.SampledFrom([]memory.RoleID{0, 951}).Draw(t, "of role"), Limit: limit}, At: at}
}

// drawSpent is what one of a few questions took.
func drawSpent(t *rapid.T) memory.Event {
	n := rapid.IntRange(0, slots-1).Draw(t, "asked")
	return memory.Spent{Guild: []memory.GuildID{guild, guild, memory.LocalGuild}[n%3], User: []memory.UserID{ada, ben, 503}[n/3%3], Question: slotID(n),
		Tokens: rapid.IntRange(0, 3).Draw(t, "tokens")}
}

func (m *machine) compareSpending(t *rapid.T) {
	if rapid.IntRange(0, 5).Draw(t, "forget?") == 0 {
		before := slotID(rapid.IntRange(0, slots/4).Draw(t, "spent before")).Time()
		m.expire(memory.Expiry{Spending: before})
		m.model.forgetOldSpending(before)
	}
	for _, where := range []memory.GuildID{guild, memory.LocalGuild} {
		for _, n := range []int{0, slots / 2, slots - 1} {
			m.same("Spending", m.spending(where, slotID(n).Time()), m.model.spending(where, slotID(n).Time()))
		}
	}
}
