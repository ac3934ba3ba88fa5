package search

import (
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"hark/memory"
)

// MemberRoles knows which sets of roles the members of guilds have. It keeps in memory the sets with their counts,
// and a fingerprint of each member to find their set. The fingerprints' key lives as long as the process.
//
// A guild's sets are known once Discord has sent all its members, and stay known while every change arrives. After
// any doubt, such as a lost connection, they are unknown until Discord sends all members again.
type MemberRoles struct {
	seed   maphash.Seed
	mu     sync.Mutex
	guilds map[memory.GuildID]*guildRoles
	nonces int  // nonces used so far
	lost   bool // the connection is lost, so Discord can't be asked
}

// guildRoles is the state of one guild.
type guildRoles struct {
	asked    time.Time    // of the last request; zero: never
	nonce    string       // of the last request; empty: answers are ignored
	parts    map[int]bool // received parts of the answer
	complete bool         // all parts were received
	sets     map[string]*roleSet
	of       map[uint64]*roleSet // by member fingerprint
	changed  map[uint64]bool     // members changed since the request; nil once the answer is complete
	view     *RoleSets           // cached sets for viewOf
	viewOf   *memory.Guild
	named    map[uint64]bool // members with an overwrite in the view
}

// roleSet is a sorted set of roles and how many members have it.
type roleSet struct {
	roles []memory.RoleID
	count int
}

// NewMemberRoles returns a MemberRoles without guilds.
func NewMemberRoles() *MemberRoles {
	return &MemberRoles{seed: maphash.MakeSeed(), guilds: map[memory.GuildID]*guildRoles{}}
}

// Begin starts a session with nothing known.
func (r *MemberRoles) Begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.guilds)
	r.lost = false
}

// Open lets NextRequest ask for a guild's members, and drops what is known of them.
func (r *MemberRoles) Open(guild memory.GuildID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.guilds[guild] = &guildRoles{}
}

// Close drops a guild until it is opened again.
func (r *MemberRoles) Close(guild memory.GuildID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.guilds, guild)
}

// Lose records a lost connection, during which changes are missed.
func (r *MemberRoles) Lose() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = true
}

// Resume records that the connection is back. All guilds must be requested again.
func (r *MemberRoles) Resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for guild := range r.guilds {
		r.guilds[guild] = &guildRoles{}
	}
	r.lost = false
}

// Invalidate drops what is known of a guild's members until Discord is asked again; for 0, of all guilds'.
func (r *MemberRoles) Invalidate(guild memory.GuildID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, at := range r.guilds {
		if guild == 0 || id == guild {
			r.guilds[id] = &guildRoles{asked: at.asked}
		}
	}
}

// NextRequest returns a guild whose members to request now, with the request's nonce. It skips complete guilds and
// those requested after before.
func (r *MemberRoles) NextRequest(now, before time.Time) (guild memory.GuildID, nonce string, ask bool) {
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
		r.guilds[id] = &guildRoles{
			asked:   now,
			nonce:   nonce,
			parts:   map[int]bool{},
			sets:    map[string]*roleSet{},
			of:      map[uint64]*roleSet{},
			changed: map[uint64]bool{},
		}
		return id, nonce, true
	}
	return 0, "", false
}

// AddChunk records part index of the of parts that answer the request with that nonce.
func (r *MemberRoles) AddChunk(guild memory.GuildID, nonce string, index, of int, members []memory.Person) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.guilds[guild]
	if at == nil || at.nonce == "" || at.nonce != nonce || at.complete || at.parts[index] || index < 0 || index >= of {
		return
	}
	at.parts[index] = true
	for _, m := range members {
		if who := r.fingerprint(m.ID); !at.changed[who] { // else a later change may be newer
			at.put(who, m)
		}
	}
	at.complete = len(at.parts) == of
	if at.complete {
		at.changed = nil
	}
}

// Changed records a member's new roles.
func (r *MemberRoles) Changed(m memory.Person) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.guilds[m.Guild]; at != nil && at.nonce != "" {
		at.put(at.move(r.fingerprint(m.ID)), m)
	}
}

// Left records that a member left.
func (r *MemberRoles) Left(guild memory.GuildID, user memory.UserID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.guilds[guild]; at != nil && at.nonce != "" {
		at.drop(at.move(r.fingerprint(user)))
	}
}

// Check compares a member's roles at an action with the known ones. If they differ, a change was missed, and the
// guild's sets become unknown.
func (r *MemberRoles) Check(m memory.Person) {
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

// Refute reports whether a member of a guild is known to contradict i. It is false while not all members are known.
func (r *MemberRoles) Refute(guild memory.GuildID, i memory.Implied) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.guilds[guild]
	if at == nil || !at.complete || r.lost {
		return false
	}
	for _, set := range at.sets {
		if i.RefutedBy(set.roles) {
			return true
		}
	}
	return false
}

func (r *MemberRoles) fingerprint(id memory.UserID) uint64 { return maphash.Comparable(r.seed, id) }

func sorted(roles []memory.RoleID) []memory.RoleID {
	return slices.Compact(slices.Sorted(slices.Values(roles)))
}

// roleSetKey returns a map key for a set of roles.
func roleSetKey(roles []memory.RoleID) string {
	var key []byte
	for _, id := range roles {
		key = appendRole(key, id)
	}
	return string(key)
}

// move records a change since the request.
func (at *guildRoles) move(who uint64) uint64 {
	if !at.complete {
		at.changed[who] = true
	}
	return who
}

// put assigns a member the set of their roles. Bots have none: they are no audience.
func (at *guildRoles) put(who uint64, m memory.Person) {
	at.drop(who)
	if m.Bot {
		return
	}
	roles := sorted(m.Roles)
	key := roleSetKey(roles)
	set := at.sets[key]
	if set == nil {
		set = &roleSet{roles: roles}
		at.sets[key] = set
	}
	set.count++
	at.of[who] = set
	at.alter(who, set)
}

// drop removes a member from their set.
func (at *guildRoles) drop(who uint64) {
	set := at.of[who]
	if set == nil {
		return
	}
	delete(at.of, who)
	set.count--
	if set.count == 0 {
		delete(at.sets, roleSetKey(set.roles))
	}
	at.alter(who, set)
}

// alter drops the view if a change of a set may affect it: hardly anybody has the set (one may be the owner), or an
// overwrite names the member.
func (at *guildRoles) alter(who uint64, set *roleSet) {
	if set.count <= 2 || at.named[who] {
		at.view = nil
	}
}

// Sets returns the sets of roles that g's members have; nil if not all are known. It includes the empty set, which
// the next to join has.
func (r *MemberRoles) Sets(g *memory.Guild) *RoleSets {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.guilds[g.ID]
	if at == nil || !at.complete || r.lost {
		return nil
	}
	if at.view == nil || at.viewOf != g {
		at.view = r.buildSets(at, g)
		at.viewOf = g
	}
	return at.view
}

// buildSets computes Sets. The caller holds mu.
func (r *MemberRoles) buildSets(at *guildRoles, g *memory.Guild) *RoleSets {
	all := [][]memory.RoleID{nil}
	owners := at.of[r.fingerprint(g.Owner)]
	for _, set := range at.sets {
		if set != owners || set.count > 1 {
			all = append(all, set.roles)
		}
	}
	sets := newRoleSets(g, all)
	sets.own = map[memory.UserID][]memory.RoleID{}
	at.named = map[uint64]bool{}
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
