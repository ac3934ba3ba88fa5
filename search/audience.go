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
	// Roles are the viewer's roles when they asked, without @everyone; nil if unknown.
	Roles []memory.RoleID
	// Operator is set at the command line, where whoever has the files reads the answer.
	Operator bool
	// Sets are the sets of roles that the guild's members have, if all are known; nil: members may have any.
	Sets *RoleSets
}

// People returns a person of the guild; false if unknown. Roles aren't used, because they may have changed.
type People func(memory.UserID) (memory.Person, bool)

// Readable returns the channels of g that an answer at p may use: those that everybody who can read the answer,
// and Hark itself, can read with their past. Hark counts because it doesn't learn what is deleted in a channel
// that it can't read. A channel with anything unknown is left out; a role known only from overwrites may be
// anybody's.
//
// Let R be the place and C a channel. The rule looks for a counterexample. If the members' sets of roles are
// known, it is one of these sets, or a member with their own overwrite in R or C, with their roles. Otherwise it
// is anybody whom R's and C's rules can tell apart: @everyone alone, with one or with two roles and what these
// imply, and each person with their own overwrite, likewise. Two roles suffice, because a counterexample needs
// one that opens R and one that closes C; whoever has the two also has what they imply.
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

// Visible returns the channels of g that a member with those roles can read with their past, and the categories
// that they can see. It leaves out private threads, whose members are unknown.
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

// UnreadableByHark returns the channels and threads of g that Hark can't read with their past; nil if g's structure
// is unknown.
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

// selfReads reports whether Hark can read with its past a channel with rules of its own. If Hark's user is
// unknown, as in imports, it can.
func (a *audience) selfReads(c *memory.Channel) bool {
	self := a.guild.Self
	if self == 0 {
		return true
	}
	known, _ := a.people(self)
	return a.guild.SelfPermissions(known.Roles, c).Has(c.Kind.Reading())
}

// audience decides who reads what in a guild.
type audience struct {
	guild    *memory.Guild
	people   People
	channels map[memory.ChannelID]*memory.Channel
	verdicts map[memory.ChannelID]bool // by the channel whose rules count: threads share their parent's
	known    bool                      // the guild's structure is: it has @everyone's permissions
	sets     *RoleSets                 // that people have or may have
	viewers  bits                      // the sets that can view the place
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

// isUsable reports whether an answer at p, in the channel at, may use messages of c.
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
		ok = a.selfReads(source) && a.mayRead(p, r, source)
		a.verdicts[source.ID] = ok
	}
	return ok
}

// isShared reports whether roles and overwrites decide who reads c, unlike direct messages and local channels.
func isShared(c *memory.Channel) bool {
	return c.Kind != memory.DirectChannel && c.Kind != memory.LocalChannel
}

// rules returns the channel whose overwrites and age restriction c has; nil if unknown, or if c can't have
// messages.
func (a *audience) rules(c *memory.Channel) *memory.Channel {
	if c.Kind == memory.CategoryChannel {
		return nil
	}
	return c.Rules(a.channels[c.Parent])
}

// views reports whether a user with roles can view the channel with rules.
func (a *audience) views(user memory.UserID, roles []memory.RoleID, rules *memory.Channel) bool {
	return a.guild.Permissions(user, roles, rules).Has(memory.ViewChannel)
}

// reads reports whether they can read it with its past.
func (a *audience) reads(user memory.UserID, roles []memory.RoleID, rules *memory.Channel) bool {
	return a.guild.Permissions(user, roles, rules).Has(rules.Kind.Reading())
}

// mayRead reports whether whoever reads an answer at p, in a channel with the rules r, can read c. A viewer whose
// roles are unknown counts as everybody who can view r.
func (a *audience) mayRead(p Place, r, c *memory.Channel) bool {
	if p.Viewer == 0 || p.Roles == nil && p.Viewer != a.guild.Owner {
		return a.allMayRead(r, c)
	}
	return a.reads(p.Viewer, p.Roles, c)
}

// allMayRead reports whether everybody who can view r can read c. Known roles of people may be outdated: see
// docs/decisions/0010-stale-roles.md.
func (a *audience) allMayRead(r, c *memory.Channel) bool {
	judged := map[[2]memory.Overwrite]bool{} // by a person's overwrites in r and c, if members may have any set
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
