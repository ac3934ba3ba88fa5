package search

import (
	"slices"

	"hark/memory"
)

// RoleSets are sets of roles that members of a guild have or may have, numbered, as far as they decide who reads what.
type RoleSets struct {
	count int
	all   bits
	base  map[memory.Permissions]bits // the sets whose roles bring a permission, whatever channels say
	with  map[memory.RoleID]bits      // the sets that have a role of which channels say something
	// own are the roles of the members with an overwrite of their own; nil: these may have any of the sets.
	own map[memory.UserID][]memory.RoleID
}

// deciding are the permissions that say who reads what; administrators have them all.
const deciding = memory.ViewChannel | memory.ReadMessageHistory | memory.Connect

// newRoleSets are those of sets that make a difference in g. Who reads everything makes none.
func newRoleSets(g *memory.Guild, sets [][]memory.RoleID) *RoleSets {
	s := &RoleSets{base: map[memory.Permissions]bits{}, with: map[memory.RoleID]bits{}}
	brings := map[memory.RoleID]memory.Permissions{}
	for _, role := range g.Roles {
		brings[role.ID] = role.Permissions & (deciding | memory.Administrator)
	}
	named := map[memory.RoleID]bool{}
	for _, c := range g.Channels {
		for _, o := range c.Overwrites {
			named[o.Role] = named[o.Role] || o.User == 0 && (o.Allow|o.Deny)&deciding != 0
		}
	}
	everyone, seen := brings[memory.RoleID(g.ID)], map[string]bool{}
	var key []byte
	for _, set := range sets {
		has := everyone
		key = key[:0]
		for _, role := range set {
			has |= brings[role]
			if named[role] {
				key = appendRole(key, role)
			}
		}
		key = appendRole(key, memory.RoleID(has))
		if has.Has(memory.Administrator) || seen[string(key)] {
			continue
		}
		seen[string(key)] = true
		for _, p := range []memory.Permissions{memory.ViewChannel, memory.ReadMessageHistory, memory.Connect} {
			if has.Has(p) {
				s.base[p] = s.base[p].set(s.count)
			}
		}
		for _, role := range set {
			if named[role] {
				s.with[role] = s.with[role].set(s.count)
			}
		}
		s.all = s.all.set(s.count)
		s.count++
	}
	return s
}

// possible are the sets that it takes to find a counterexample where members may have any roles: none, each one and each
// two of those that people can have, with what whoever has these has too. A role that only overwrites tell of may be
// anybody's.
func possible(g *memory.Guild, implied []memory.Implied) *RoleSets {
	can := map[memory.RoleID]bool{}
	for _, c := range g.Channels {
		for _, o := range c.Overwrites {
			can[o.Role] = can[o.Role] || (o.Allow|o.Deny)&deciding != 0
		}
	}
	base := g.Permissions(0, nil, &memory.Channel{})
	for _, role := range g.Roles {
		can[role.ID] = (can[role.ID] || role.Permissions&^base&deciding != 0) && role.Bot == 0
	}
	can[0], can[memory.RoleID(g.ID)] = false, false
	also := map[memory.RoleID][]memory.RoleID{}
	for _, i := range implied {
		also[i.Role] = append(also[i.Role], i.Also)
	}
	var each [][]memory.RoleID
	for role, is := range can {
		if !is {
			continue
		}
		set := []memory.RoleID{role}
		for i := 0; i < len(set); i++ {
			for _, implied := range also[set[i]] {
				if !slices.Contains(set, implied) {
					set = append(set, implied)
				}
			}
		}
		each = append(each, set)
	}
	all := append([][]memory.RoleID{nil}, each...)
	for i, first := range each {
		for _, second := range each[:i] {
			all = append(all, slices.Concat(first, second))
		}
	}
	return newRoleSets(g, all)
}

// viewers are the sets with which somebody can view the channel that has rules, readers those with which they can read
// it with its past. User 0 is somebody of whom no overwrite tells.
func (s *RoleSets) viewers(g *memory.Guild, user memory.UserID, rules *memory.Channel) bits {
	return s.having(g, memory.ViewChannel, user, rules)
}

func (s *RoleSets) readers(g *memory.Guild, user memory.UserID, rules *memory.Channel) bits {
	all := s.having(g, memory.ViewChannel, user, rules)
	for _, p := range []memory.Permissions{memory.ReadMessageHistory, memory.Connect} {
		if rules.Kind.Reading().Has(p) {
			all.and(s.having(g, p, user, rules))
		}
	}
	return all
}

// having are the sets with which somebody has one permission in a channel: memory.Guild.Permissions for all at once.
func (s *RoleSets) having(g *memory.Guild, p memory.Permissions, user memory.UserID, rules *memory.Channel) bits {
	has, denied, granted := make(bits, len(s.all)), bits(nil), bits(nil)
	copy(has, s.base[p])
	var everyone, own memory.Overwrite
	for _, o := range rules.Overwrites {
		switch {
		case o.User != 0 && o.User == user:
			own.Allow, own.Deny = own.Allow|o.Allow, own.Deny|o.Deny
		case o.User != 0:
		case o.Role == memory.RoleID(g.ID):
			everyone.Allow, everyone.Deny = everyone.Allow|o.Allow, everyone.Deny|o.Deny
		default:
			if o.Deny.Has(p) {
				denied = denied.or(s.with[o.Role])
			}
			if o.Allow.Has(p) {
				granted = granted.or(s.with[o.Role])
			}
		}
	}
	s.decide(has, p, everyone)
	for i, d := range denied {
		has[i] &^= d
	}
	for i, g := range granted {
		has[i] |= g
	}
	s.decide(has, p, own)
	return has
}

// bits is a set of numbers of role sets; those that it is too short for aren't in it.
type bits []uint64

func (b bits) set(i int) bits {
	for i/64 >= len(b) {
		b = append(b, 0)
	}
	b[i/64] |= 1 << (i % 64)
	return b
}

func (b bits) or(other bits) bits {
	b = append(b, make(bits, max(0, len(other)-len(b)))...)
	for i, w := range other {
		b[i] |= w
	}
	return b
}

// and leaves what is in other, which is as long.
func (b bits) and(other bits) {
	for i, w := range other {
		b[i] &= w
	}
}

// decide has all be in has, or none, where an overwrite that holds with any roles says so.
func (s *RoleSets) decide(has bits, p memory.Permissions, o memory.Overwrite) {
	switch {
	case o.Allow.Has(p):
		copy(has, s.all)
	case o.Deny.Has(p):
		clear(has)
	}
}

// in reports whether all are in other, which is as long.
func (b bits) in(other bits) bool {
	for i, w := range b {
		if w&^other[i] != 0 {
			return false
		}
	}
	return true
}
