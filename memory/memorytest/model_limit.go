package memorytest

import (
	"maps"
	"slices"
	"time"

	"hark/memory"
)

// limited is what a limit is of: a role of a guild.
type limited struct {
	guild memory.GuildID
	role  memory.RoleID
}

// asked is a question in a guild.
type asked struct {
	guild memory.GuildID
	id    memory.MessageID
}

// chooseLimit keeps the last limit by time.
func (m *model) chooseLimit(e memory.LimitChosen) {
	key := limited{e.Guild, e.Role}
	if was, ok := m.limits[key]; !ok || e.At.After(was.At) {
		m.limits[key] = e
	}
}

// limitsOf are the limits that were chosen for a guild, by role.
func (m *model) limitsOf(guild memory.GuildID) []memory.RoleLimit {
	var all []memory.RoleLimit
	for key, e := range m.limits {
		if key.guild == guild && (e.Messages != memory.AsConfigured || e.Tokens != memory.AsConfigured) {
			all = append(all, e.RoleLimit)
		}
	}
	slices.SortFunc(all, func(a, b memory.RoleLimit) int { return compare(a.Role, b.Role) })
	return all
}

// spend keeps what a question took, and whose it was unless they are forgotten.
func (m *model) spend(e memory.Spent) {
	if m.opted[member{e.Guild, e.User}].Out {
		e.User = 0
	}
	for _, g := range m.forgettings {
		f := g.Forgetting
		switch {
		case !g.all || f.Channel != 0 || !g.of(e.Guild) || e.Question >= g.end:
		case f.User == 0:
			return
		case f.User == e.User:
			e.User = 0
		}
	}
	key := asked{e.Guild, e.Question}
	if was, ok := m.spent[key]; ok {
		e.User, e.Tokens = was.User, max(was.Tokens, e.Tokens)
	}
	m.spent[key] = e
}

// forgetSpending forgets on whose questions tokens were spent, or, with all of a guild, that any were.
func (m *model) forgetSpending(g *forgetting) {
	f := g.Forgetting
	if f.Channel != 0 || !g.all {
		return
	}
	for key, e := range m.spent {
		switch {
		case !g.of(key.guild) || key.id >= g.end:
		case f.User == 0:
			delete(m.spent, key)
		case f.User == e.User:
			m.disown(key)
		}
	}
}

func (m *model) disown(key asked) {
	e := m.spent[key]
	e.User = 0
	m.spent[key] = e
}

func (m *model) spending(guild memory.GuildID, day time.Time) map[memory.UserID]int {
	by := map[memory.UserID]int{}
	for key, e := range m.spent {
		if key.guild == guild && key.id.Time().Format(time.DateOnly) == day.UTC().Format(time.DateOnly) {
			by[e.User] += e.Tokens
		}
	}
	return by
}

// forgetOldSpending takes away what was spent before a time, and tells on how many questions.
func (m *model) forgetOldSpending(before time.Time) int {
	n := len(m.spent)
	maps.DeleteFunc(m.spent, func(key asked, _ memory.Spent) bool { return key.id < memory.FirstMessageID(before) })
	return n - len(m.spent)
}
