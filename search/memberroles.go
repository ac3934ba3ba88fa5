package search

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"hark/memory"
)

// MemberRoles knows which sets of roles the members of guilds have, where Discord tells of all of them. It keeps the
// sets, how many have each, and, to tell which set somebody leaves, a fingerprint of each member, whose key goes with
// this process. Nothing of it is stored.
//
// The sets of a guild are known once Discord was asked for its members and has told all of them, and each change since.
// Whatever makes that doubtful, as a lost connection does, makes them unknown, until Discord was asked anew.
type MemberRoles struct {
	seed   maphash.Seed
	mu     sync.Mutex
	guilds map[memory.GuildID]*guildRoles
	nonces int  // that were given out
	lost   bool // the connection is, so that there is nobody to ask
}

// guildRoles is that of one guild.
type guildRoles struct {
	asked    time.Time    // when Discord was asked last; zero: not yet
	nonce    string       // of what it was asked; empty: what it tells isn't heeded
	parts    map[int]bool // of the answer, that came
	complete bool         // all of them
	sets     map[string]*roleSet
	of       map[uint64]*roleSet // by members' fingerprints
	changed  map[uint64]bool     // of whom was told after Discord was asked, while the answer isn't whole
	view     *RoleSets           // for viewOf, until something changes
	viewOf   *memory.Guild
	named    map[uint64]bool // by overwrites, in the view
}

// roleSet is a set of roles, in order, and how many have it.
type roleSet struct {
	roles []memory.RoleID
	count int
}

// NewMemberRoles knows of no guild.
func NewMemberRoles() *MemberRoles {
	return &MemberRoles{seed: maphash.MakeSeed(), guilds: map[memory.GuildID]*guildRoles{}}
}

// Begin says that a session begins, of which nothing is known yet.
func (r *MemberRoles) Begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.guilds)
	r.lost = false
}

// Open says that Discord can be asked for a guild's members. What was known of them may be out of date.
func (r *MemberRoles) Open(guild memory.GuildID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.guilds[guild] = &guildRoles{}
}

// Close says that Discord tells of a guild no more, until it is opened again.
func (r *MemberRoles) Close(guild memory.GuildID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.guilds, guild)
}

// Lose says that the connection is lost, and with it what changes meanwhile.
func (r *MemberRoles) Lose() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = true
}

// Resume says that the connection is there again, to ask anew.
func (r *MemberRoles) Resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for guild := range r.guilds {
		r.guilds[guild] = &guildRoles{}
	}
	r.lost = false
}

// Doubt says that what is known of a guild's members, or with 0 of those of all, may be wrong, so that Discord is to be
// asked anew.
func (r *MemberRoles) Doubt(guild memory.GuildID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, at := range r.guilds {
		if guild == 0 || id == guild {
			r.guilds[id] = &guildRoles{asked: at.asked}
		}
	}
}

// Ask is a guild for whose members Discord is to be asked now, with what the answer is to be known by. It hasn't been
// asked since before, or what it tells since then isn't whole.
func (r *MemberRoles) Ask(now, before time.Time) (guild memory.GuildID, nonce string, ask bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost {
		return 0, "", false
	}
	for id, at := range r.guilds {
		if at.complete || at.asked.After(before) {
			continue
		}
		r.nonces++
		nonce := fmt.Sprint(r.nonces)
		r.guilds[id] = &guildRoles{asked: now, nonce: nonce, parts: map[int]bool{}, sets: map[string]*roleSet{},
			of: map[uint64]*roleSet{}, changed: map[uint64]bool{}}
		return id, nonce, true
	}
	return 0, "", false
}

// Told notes a part of Discord's answer to what it was asked by nonce: of so many the one with that index.
func (r *MemberRoles) Told(guild memory.GuildID, nonce string, index, of int, members []memory.Person) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.guilds[guild]
	if at == nil || at.nonce == "" || at.nonce != nonce || at.complete || at.parts[index] || index < 0 || index >= of {
		return
	}
	at.parts[index] = true
	for _, m := range members {
		if who := r.fingerprint(m.ID); !at.changed[who] { // else what was told of them may be newer
			at.put(who, m)
		}
	}
	if at.complete = len(at.parts) == of; at.complete {
		at.changed = nil
	}
}

// Changed notes the roles that a member has from now on.
func (r *MemberRoles) Changed(m memory.Person) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.guilds[m.Guild]; at != nil && at.nonce != "" {
		at.put(at.move(r.fingerprint(m.ID)), m)
	}
}

// Left notes that somebody is no member any more.
func (r *MemberRoles) Left(guild memory.GuildID, user memory.UserID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.guilds[guild]; at != nil && at.nonce != "" {
		at.drop(at.move(r.fingerprint(user)))
	}
}

// Met notes the roles with which a member did something just now. That they have others than is known puts all
// in doubt, since a change was missed.
func (r *MemberRoles) Met(m memory.Person) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.guilds[m.Guild]
	if at == nil || at.nonce == "" || m.Bot || !m.RolesKnown {
		return
	}
	who := r.fingerprint(m.ID)
	switch is := at.of[who]; {
	case is == nil:
		at.put(at.move(who), m)
	case !slices.Equal(is.roles, sorted(m.Roles)):
		r.guilds[m.Guild] = &guildRoles{asked: at.asked}
	}
}

func (r *MemberRoles) fingerprint(id memory.UserID) uint64 { return maphash.Comparable(r.seed, id) }

func sorted(roles []memory.RoleID) []memory.RoleID {
	return slices.Compact(slices.Sorted(slices.Values(roles)))
}

// keyOf tells sets of roles apart.
func keyOf(roles []memory.RoleID) string {
	var key []byte
	for _, id := range roles {
		key = appendRole(key, id)
	}
	return string(key)
}

func appendRole(key []byte, role memory.RoleID) []byte {
	return binary.BigEndian.AppendUint64(key, uint64(role))
}

// move notes that somebody was told of since Discord was asked.
func (at *guildRoles) move(who uint64) uint64 {
	if !at.complete {
		at.changed[who] = true
	}
	return who
}

// put has somebody have the set of roles that they have. Bots are no audience.
func (at *guildRoles) put(who uint64, m memory.Person) {
	at.drop(who)
	if m.Bot {
		return
	}
	roles := sorted(m.Roles)
	key := keyOf(roles)
	set := at.sets[key]
	if set == nil {
		set = &roleSet{roles: roles}
		at.sets[key] = set
	}
	set.count++
	at.of[who] = set
	at.alter(who, set)
}

// drop has somebody have no set.
func (at *guildRoles) drop(who uint64) {
	set := at.of[who]
	if set == nil {
		return
	}
	delete(at.of, who)
	if set.count--; set.count == 0 {
		delete(at.sets, keyOf(set.roles))
	}
	at.alter(who, set)
}

// alter notes that somebody got a set or lost it. To the view that matters where few have it, the owner perhaps one of
// them, or where an overwrite is for them.
func (at *guildRoles) alter(who uint64, set *roleSet) {
	if set.count <= 2 || at.named[who] {
		at.view = nil
	}
}

// Sets are the sets of roles that g's members have, or nil where not all are known. That of no roles is always among
// them: whoever joins next has it.
func (r *MemberRoles) Sets(g *memory.Guild) *RoleSets {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.guilds[g.ID]
	if at == nil || !at.complete || r.lost {
		return nil
	}
	if at.view == nil || at.viewOf != g {
		at.view, at.viewOf = r.buildSets(at, g), g
	}
	return at.view
}

// look is what Sets are; called with mu held.
func (r *MemberRoles) buildSets(at *guildRoles, g *memory.Guild) *RoleSets {
	all := [][]memory.RoleID{nil}
	owners := at.of[r.fingerprint(g.Owner)]
	for _, set := range at.sets {
		if set != owners || set.count > 1 {
			all = append(all, set.roles)
		}
	}
	sets := newRoleSets(g, all)
	sets.own, at.named = map[memory.UserID][]memory.RoleID{}, map[uint64]bool{}
	for _, c := range g.Channels {
		for _, o := range c.Overwrites {
			who := r.fingerprint(o.User)
			at.named[who] = true
			if set := at.of[who]; set != nil && o.User != 0 {
				sets.own[o.User] = set.roles
			}
		}
	}
	return sets
}
