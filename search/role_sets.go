package search

import (
	"encoding/binary"
	"maps"
	mathbits "math/bits"
	"slices"

	"hark/memory"
)

// RoleSets are numbered sets of roles that members have or may have, reduced to what decides who reads what.
type RoleSets struct {
	roles [][]memory.RoleID // by set; those with fewer roles first
	all   bits
	base  map[memory.Permissions]bits // sets by the guild-wide permissions of their roles
	with  map[memory.RoleID]bits      // sets by role, for roles with overwrites
	// own holds the roles of members with their own overwrites; nil: they may have any set.
	own map[memory.UserID][]memory.RoleID
}

// deciding are the permissions that decide who reads what. Administrators have them all.
const deciding = memory.ViewChannel | memory.ReadMessageHistory | memory.Connect

var permissions = []memory.Permissions{memory.ViewChannel, memory.ReadMessageHistory, memory.Connect}

// newRoleSets returns the sets that matter in g. Administrators' don't: they read everything. It reorders sets.
func newRoleSets(g *memory.Guild, sets [][]memory.RoleID) *RoleSets {
	s := &RoleSets{base: map[memory.Permissions]bits{}, with: map[memory.RoleID]bits{}}
	brings := map[memory.RoleID]memory.Permissions{}
	for _, role := range g.Roles {
		brings[role.ID] = role.Permissions & (deciding | memory.Administrator)
	}
	for _, c := range g.Channels {
		for _, o := range c.Overwrites {
			if o.User == 0 && (o.Allow|o.Deny)&deciding != 0 {
				s.with[o.Role] = nil
			}
		}
	}
	everyone := brings[memory.RoleID(g.ID)]
	seen := map[string]bool{}
	var brought []memory.Permissions // by set
	var key []byte
	slices.SortFunc(sets, func(a, b []memory.RoleID) int { return len(a) - len(b) })
	for _, set := range sets {
		has := everyone
		key = key[:0]
		for _, role := range set {
			has |= brings[role]
			if _, named := s.with[role]; named {
				key = appendRole(key, role)
			}
		}
		key = appendRole(key, memory.RoleID(has))
		if !has.Has(memory.Administrator) && !seen[string(key)] {
			seen[string(key)] = true
			s.roles = append(s.roles, set)
			brought = append(brought, has)
		}
	}
	s.all = newBits(len(s.roles))
	for role := range s.with {
		s.with[role] = newBits(len(s.roles))
	}
	for _, p := range permissions {
		s.base[p] = newBits(len(s.roles))
	}
	for i, set := range s.roles {
		s.all.set(i)
		for _, p := range permissions {
			if brought[i].Has(p) {
				s.base[p].set(i)
			}
		}
		for _, role := range set {
			if with := s.with[role]; with != nil {
				with.set(i)
			}
		}
	}
	return s
}

// PossibleRoleSets returns the sets of roles that members of g may have, as NewAudience takes them where Place.Sets is
// nil. Many audiences of a guild can share them.
func PossibleRoleSets(g *memory.Guild) *RoleSets { return possible(g, g.Implied()) }

// standing returns the statements that somebody with those roles doesn't contradict.
func standing(implied []memory.Implied, roles []memory.RoleID) []memory.Implied {
	return slices.DeleteFunc(implied, func(i memory.Implied) bool { return i.RefutedBy(roles) })
}

// possible returns the sets needed to find a counterexample if members may have any roles: no role, each one and
// each pair that people can have, with the roles they imply. Anybody may have a role known only from overwrites.
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
	can[0] = false
	can[memory.RoleID(g.ID)] = false
	also := map[memory.RoleID][]memory.RoleID{}
	for _, i := range implied {
		also[i.Role] = append(also[i.Role], i.Also)
	}
	var each [][]memory.RoleID
	for _, role := range slices.Sorted(maps.Keys(can)) {
		if !can[role] {
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
		slices.Sort(set)
		each = append(each, set)
	}
	all := append([][]memory.RoleID{nil}, each...)
	for i, first := range each {
		for _, second := range each[:i] {
			pair := slices.Concat(first, second)
			slices.Sort(pair)
			all = append(all, slices.Compact(pair))
		}
	}
	return newRoleSets(g, all)
}

// readers returns the sets that can read a channel with those rules, with its past. User 0 has no overwrites.
func (s *RoleSets) readers(g *memory.Guild, user memory.UserID, rules *memory.Channel) bits {
	readers := s.having(g, memory.ViewChannel, user, rules)
	for _, p := range []memory.Permissions{memory.ReadMessageHistory, memory.Connect} {
		if rules.Kind.Reading().Has(p) {
			readers.and(s.having(g, p, user, rules))
		}
	}
	return readers
}

// having returns the sets that have a permission in a channel: memory.Guild.Permissions for all sets at once.
func (s *RoleSets) having(g *memory.Guild, p memory.Permissions, user memory.UserID, rules *memory.Channel) bits {
	has := slices.Clone(s.base[p])
	s.decide(has, p, overwriteOf(rules, memory.RoleID(g.ID), 0))
	for _, o := range rules.Overwrites {
		if o.Deny.Has(p) && o.Role != memory.RoleID(g.ID) {
			has.without(s.with[o.Role])
		}
	}
	for _, o := range rules.Overwrites {
		if o.Allow.Has(p) && o.Role != memory.RoleID(g.ID) {
			has.or(s.with[o.Role])
		}
	}
	if user != 0 {
		s.decide(has, p, overwriteOf(rules, 0, user))
	}
	return has
}

// decide applies an overwrite that holds for all sets to has.
func (s *RoleSets) decide(has bits, p memory.Permissions, o memory.Overwrite) {
	switch {
	case o.Allow.Has(p):
		copy(has, s.all)
	case o.Deny.Has(p):
		clear(has)
	}
}

// overwriteOf returns c's overwrites for a role or a person, combined.
func overwriteOf(c *memory.Channel, role memory.RoleID, user memory.UserID) (all memory.Overwrite) {
	for _, o := range c.Overwrites {
		if o.Role == role && o.User == user {
			all.Allow = all.Allow | o.Allow&deciding
			all.Deny = all.Deny | o.Deny&deciding
		}
	}
	return all
}

// bits is a bit set. All bits of one RoleSets have equal length; an empty set may be nil.
type bits []uint64

func newBits(most int) bits { return make(bits, (most+63)/64) }

func (b bits) set(i int) { b[i/64] |= 1 << (i % 64) }

func (b bits) or(other bits) {
	for i, w := range other {
		b[i] |= w
	}
}

func (b bits) and(other bits) {
	for i, w := range other {
		b[i] &= w
	}
}

func (b bits) without(other bits) {
	for i, w := range other {
		b[i] &^= w
	}
}

// outside returns the first bit of b that other lacks; -1 if b is a subset of other.
func (b bits) outside(other bits) int {
	for i, w := range b {
		if missing := w &^ other[i]; missing != 0 {
			return 64*i + mathbits.TrailingZeros64(missing)
		}
	}
	return -1
}

func appendRole(key []byte, role memory.RoleID) []byte {
	return binary.BigEndian.AppendUint64(key, uint64(role))
}
