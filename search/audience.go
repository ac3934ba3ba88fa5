package search

import (
	"slices"

	"hark/memory"
)

// Place is where an answer will be read.
type Place struct {
	Channel memory.ChannelID
	// Viewer is set when only this person will see the answer.
	Viewer memory.UserID
	// Roles are the viewer's at the moment that they asked, without @everyone; nil if they aren't known.
	Roles []memory.RoleID
	// Operator is set at the command line, where whoever holds the files reads the answer.
	Operator bool
	// Sets are the sets of roles that the guild's members have, if all are known; else members may have any.
	Sets *RoleSets
}

// People tells what is known of a person of the guild; false if nothing is. Their roles may have changed
// since, and aren't looked at.
type People func(memory.UserID) (memory.Person, bool)

// Readable returns the channels of g from which an answer at p may be made: those that everybody who can read
// the answer can read, with their past, and Hark itself: of one that it was shut out of it may not know what
// was deleted. When anything about a channel is unknown, it isn't among them; a role that only overwrites
// tell of may be anybody's.
//
// Let R be the place and C a channel. It is decided by looking for a counterexample. Where the sets of roles
// are known that members have, it can only be one of these, or a member with an overwrite of their own in R
// or C, with the roles that they have. Else it can be everybody whom R's and C's rules can tell apart:
// @everyone alone, with one or with two roles and what these imply, and each person with an overwrite of
// their own, likewise. Two roles suffice, since a counterexample needs one that opens R and one that closes
// C; what the two imply, whoever has them has too.
func Readable(g *memory.Guild, p Place, people People) []memory.ChannelID {
	a := newAudience(g, people)
	if a.sets = p.Sets; a.sets == nil {
		a.sets = possible(g, g.Implied())
	}
	at := a.channels[p.Channel]
	if at == nil {
		return nil
	}
	var readable []memory.ChannelID
	for i := range g.Channels {
		if a.isUsable(at, &g.Channels[i], p) {
			readable = append(readable, g.Channels[i].ID)
		}
	}
	return readable
}

// Visible returns the channels of g that a member of those roles can read with their past, and the categories
// that they can see, by roles and overwrites alone: private threads aren't among them, since nobody tells who
// is in those.
func Visible(g *memory.Guild, user memory.UserID, roles []memory.RoleID) []memory.Channel {
	a := newAudience(g, nil)
	return slices.DeleteFunc(slices.Clone(g.Channels), func(c memory.Channel) bool {
		if !a.known {
			return true
		}
		if c.Kind == memory.CategoryChannel && !c.Unplaced {
			return !a.views(user, roles, &c)
		}
		rules := a.rules(&c)
		return rules == nil || !isShared(&c) || c.Kind == memory.PrivateThread || !a.reads(user, roles, rules)
	})
}

// UnreadableByHark returns the channels of g that Hark may not read with their past, threads among them; nil where g's
// structure isn't known.
func UnreadableByHark(g *memory.Guild, people People) map[memory.ChannelID]bool {
	a, shut := newAudience(g, people), map[memory.ChannelID]bool{}
	if !a.known {
		return nil
	}
	for id, c := range a.channels {
		if rules := a.rules(c); rules != nil && isShared(c) && !a.selfReads(rules) {
			shut[id] = true
		}
	}
	return shut
}

// selfReads reports whether Hark may read c with its past, whose rules are its own. Where Hark isn't known, as in
// what was imported, it may.
func (a *audience) selfReads(c *memory.Channel) bool {
	self := a.guild.Self
	if self == 0 {
		return true
	}
	known, _ := a.people(self)
	return a.guild.SelfPermissions(known.Roles, c).Has(c.Kind.Reading())
}

// audience is a guild being looked at.
type audience struct {
	guild    *memory.Guild
	people   People
	channels map[memory.ChannelID]*memory.Channel
	verdicts map[memory.ChannelID]bool // what was found of the channels whose rules count: threads share their parent's
	known    bool                      // whether the guild's structure is: it tells what @everyone may do
	sets     *RoleSets                 // that people have or may have
	viewers  bits                      // those of sets with which the place is viewed
}

func newAudience(g *memory.Guild, people People) *audience {
	a := &audience{guild: g, people: people, channels: map[memory.ChannelID]*memory.Channel{},
		verdicts: map[memory.ChannelID]bool{}}
	for i := range g.Channels {
		a.channels[g.Channels[i].ID] = &g.Channels[i]
	}
	a.known = slices.ContainsFunc(g.Roles, func(role memory.Role) bool { return role.ID == memory.RoleID(g.ID) })
	return a
}

// isUsable reports whether what was said in c may be used in an answer at p, which is in the channel at.
func (a *audience) isUsable(at, c *memory.Channel, p Place) bool {
	if c.Shut {
		return false
	}
	if at.Unplaced || !isShared(at) || !isShared(c) {
		return at.ID == c.ID && (p.Operator || at.Kind == memory.DirectChannel && !at.Unplaced)
	}
	r, source := a.rules(at), a.rules(c)
	if !a.known || r == nil || source == nil || source.AgeLimited && !r.AgeLimited {
		return false
	}
	if c.Kind == memory.PrivateThread && c.ID != at.ID {
		return false
	}
	ok, judged := a.verdicts[source.ID]
	if !judged {
		if !a.selfReads(source) {
			ok = false
		} else if p.Viewer != 0 {
			ok = a.viewerMayRead(p, r, source)
		} else {
			ok = a.allMayRead(r, source)
		}
		a.verdicts[source.ID] = ok
	}
	return ok
}

// isShared reports whether roles and overwrites say who reads c. Direct messages and what was said outside
// Discord serve only themselves.
func isShared(c *memory.Channel) bool {
	return c.Kind != memory.DirectChannel && c.Kind != memory.LocalChannel
}

// rules returns the channel whose overwrites and age restriction c has. It is nil if that isn't known, or c
// can't hold messages.
func (a *audience) rules(c *memory.Channel) *memory.Channel {
	if c.Kind == memory.CategoryChannel {
		return nil
	}
	return c.Rules(a.channels[c.Parent])
}

// views reports whether somebody with roles can view the channel that has rules.
func (a *audience) views(user memory.UserID, roles []memory.RoleID, rules *memory.Channel) bool {
	return a.guild.Permissions(user, roles, rules).Has(memory.ViewChannel)
}

// reads reports whether they can read it, with its past.
func (a *audience) reads(user memory.UserID, roles []memory.RoleID, rules *memory.Channel) bool {
	return a.guild.Permissions(user, roles, rules).Has(rules.Kind.Reading())
}

// viewerMayRead reports whether the one person at p may read c. Somebody whose roles are unknown may read
// what everybody else at r may.
func (a *audience) viewerMayRead(p Place, r, c *memory.Channel) bool {
	if p.Roles == nil && p.Viewer != a.guild.Owner {
		return a.allMayRead(r, c)
	}
	return a.reads(p.Viewer, p.Roles, c)
}

// allMayRead reports whether everybody who can view r can read c. Whatever roles people had when they wrote
// last, by now they may have any: see docs/decisions/0010-stale-roles.md.
func (a *audience) allMayRead(r, c *memory.Channel) bool {
	judged := map[[2]memory.Overwrite]bool{} // of people who may have any set, those with other overwrites of their own
	for _, o := range slices.Concat(r.Overwrites, c.Overwrites) {
		if o.User == 0 || o.User == a.guild.Owner || a.isBot(o.User) {
			continue // the owner reads everything, and bots are no audience
		}
		if a.sets.own != nil {
			if roles, there := a.sets.own[o.User]; there && a.views(o.User, roles, r) && !a.reads(o.User, roles, c) {
				return false
			}
			continue
		}
		here, there := overwriteOf(r, 0, o.User), overwriteOf(c, 0, o.User)
		if like := [2]memory.Overwrite{here, there}; !judged[like] {
			judged[like] = true
			if !a.sets.having(a.guild, memory.ViewChannel, o.User, r).in(a.sets.readers(a.guild, o.User, c)) {
				return false
			}
		}
	}
	if a.viewers == nil {
		a.viewers = a.sets.having(a.guild, memory.ViewChannel, 0, r)
	}
	return a.viewers.in(a.sets.readers(a.guild, 0, c))
}

func (a *audience) isBot(user memory.UserID) bool {
	known, _ := a.people(user)
	return known.Bot
}
