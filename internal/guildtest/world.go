// Package guildtest draws random guilds for tests of who may read what. It judges them differently from
// search.Readable: member by member, by the rules in Discord's documentation.
package guildtest

import (
	"slices"

	"hark/memory"
)

// World is a guild and what Hark knows of the people in it.
type World struct {
	Guild  memory.Guild
	People map[memory.UserID]memory.Person
	Roles  []memory.RoleID // that people can have
	Stated []memory.Implied
}

// Person returns what is known of somebody.
func (w World) Person(id memory.UserID) (memory.Person, bool) {
	p, ok := w.People[id]
	return p, ok
}

// Member is somebody who may be there, with all their roles but @everyone's.
type Member struct {
	ID    memory.UserID
	Roles []memory.RoleID
}

// Everybody returns all members there can be: with any roles, because Hark isn't told when roles are given or
// taken.
func (w World) Everybody() []Member {
	ids := []memory.UserID{w.Guild.Owner, memory.UserID(w.Guild.ID) + 1} // and a stranger, of whom no overwrite tells
	for id := range w.People {
		ids = append(ids, id)
	}
	for _, c := range w.Guild.Channels {
		for _, o := range c.Overwrites {
			ids = append(ids, o.User)
		}
	}
	slices.Sort(ids)
	var all []Member
	for _, id := range slices.Compact(ids) {
		if id == 0 || w.People[id].Bot {
			continue
		}
		for _, roles := range w.anyRoles() {
			all = append(all, Member{id, roles})
		}
	}
	return all
}

// Strangers returns people whom no overwrite names: one without roles, and one with the roles of each of
// members but the owner.
func (w World) Strangers(members []Member) []Member {
	id := memory.UserID(w.Guild.ID) + 1
	strangers := []Member{{ID: id}}
	for _, m := range members {
		if m.ID != w.Guild.Owner {
			strangers = append(strangers, Member{id, m.Roles})
		}
	}
	return strangers
}

// anyRoles returns all the sets of roles that somebody can have.
func (w World) anyRoles() [][]memory.RoleID {
	var all [][]memory.RoleID
	for set := range 1 << len(w.Roles) {
		roles := []memory.RoleID{}
		for i, r := range w.Roles {
			if set>>i&1 == 1 {
				roles = append(roles, r)
			}
		}
		all = append(all, roles)
	}
	return all
}

// may reports whether m has one permission in c.
// https://discord.com/developers/docs/topics/permissions#permission-overwrites
func (w World) may(m Member, bit memory.Permissions, c memory.Channel) bool {
	if m.ID == w.Guild.Owner {
		return true
	}
	holds := func(role memory.RoleID) bool {
		return role != memory.RoleID(w.Guild.ID) && slices.Contains(m.Roles, role)
	}
	may := false
	for _, r := range w.Guild.Roles {
		if r.ID == memory.RoleID(w.Guild.ID) || holds(r.ID) {
			if r.Permissions&memory.Administrator != 0 {
				return true
			}
			may = may || r.Permissions&bit != 0
		}
	}
	steps := []func(memory.Overwrite) bool{
		func(o memory.Overwrite) bool { return o.User == 0 && o.Role == memory.RoleID(w.Guild.ID) },
		func(o memory.Overwrite) bool { return o.User == 0 && holds(o.Role) },
		func(o memory.Overwrite) bool { return o.User != 0 && o.User == m.ID },
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

// home returns the channel that decides who sees c, and whether it is known.
func (w World) home(c memory.Channel) (memory.Channel, bool) {
	if c.Unplaced || c.Kind != memory.PublicThread && c.Kind != memory.PrivateThread {
		return c, !c.Unplaced && c.Kind != memory.CategoryChannel
	}
	for _, parent := range w.Guild.Channels {
		if parent.ID == c.Parent {
			return parent, !parent.Unplaced && (parent.Kind == memory.TextChannel || parent.Kind == memory.ForumChannel)
		}
	}
	return c, false
}

func (w World) sees(m Member, c memory.Channel) bool { return w.may(m, memory.ViewChannel, c) }

func (w World) reads(m Member, c memory.Channel) bool {
	return w.sees(m, c) && w.may(m, memory.ReadMessageHistory, c) &&
		(c.Kind != memory.VoiceChannel || w.may(m, memory.Connect, c))
}

// Allowed is the rule: an answer in the channel at may use what was said in from, if all of audience who see
// it could read that. What only viewer sees depends on them, if their roles are known.
func (w World) Allowed(audience []Member, at, from memory.Channel, viewer *Member) bool {
	r, rKnown := w.home(at)
	c, cKnown := w.home(from)
	if !rKnown || !cKnown || c.AgeLimited && !r.AgeLimited || from.Kind == memory.PrivateThread && from.ID != at.ID {
		return false
	}
	if viewer != nil && (viewer.Roles != nil || viewer.ID == w.Guild.Owner) {
		return w.reads(*viewer, c)
	}
	for _, m := range audience {
		if w.sees(m, r) && !w.reads(m, c) {
			return false
		}
	}
	return true
}

// Views reports whether m can view c now.
func (w World) Views(m Member, c memory.Channel) bool {
	home, known := w.home(c)
	return known && w.sees(m, home)
}
