package search

import (
	"slices"

	"hark/memory"
)

// Place is where an answer will be read.
type Place struct {
	// Channel is in Discord. 0 is outside Discord, where only Viewer reads, with these Roles.
	Channel memory.ChannelID
	// Viewer is set when only this person will see the answer.
	Viewer memory.UserID
	// Roles are the viewer's roles when they asked, without @everyone; nil if unknown.
	Roles []memory.RoleID
	// Asker are the roles of whoever asks, as Discord sent them with the question; nil if unknown. What admins stated of
	// roles doesn't count if they contradict it.
	Asker []memory.RoleID
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
	a := NewAudience(g, p, people)
	var readable []memory.ChannelID
	for i := range g.Channels {
		if a.judge(&g.Channels[i]).OK {
			readable = append(readable, g.Channels[i].ID)
		}
	}
	return readable
}

// Judge says whether an answer at p may use a channel of g, and if not, why. It agrees with Readable. To judge many
// channels, make one Audience.
func Judge(g *memory.Guild, p Place, channel memory.ChannelID, people People) Verdict {
	return NewAudience(g, p, people).Judge(channel)
}

// Visible returns the channels of g that a member with those roles can read with their past, and the categories
// that they can see. It leaves out private threads, whose members are unknown.
func Visible(g *memory.Guild, user memory.UserID, roles []memory.RoleID) []memory.Channel {
	s := newStructure(g, nil)
	return slices.DeleteFunc(slices.Clone(g.Channels), func(c memory.Channel) bool {
		if !s.known {
			return true
		}
		if c.Kind == memory.CategoryChannel && !c.Unplaced {
			return !s.views(user, roles, &c)
		}
		rules := s.rules(&c)
		return rules == nil || !isShared(&c) || c.Kind == memory.PrivateThread || !s.reads(user, roles, rules)
	})
}

// UnreadableByHark returns the channels and threads of g that Hark can't read with their past; nil if g's structure
// is unknown.
func UnreadableByHark(g *memory.Guild, people People) map[memory.ChannelID]bool {
	s := newStructure(g, people)
	shut := map[memory.ChannelID]bool{}
	if !s.known {
		return nil
	}
	for id, c := range s.channels {
		if rules := s.rules(c); rules != nil && isShared(c) && !s.selfReads(rules) {
			shut[id] = true
		}
	}
	return shut
}

// Audience is everybody who can read an answer at a place. It isn't safe for concurrent use.
type Audience struct {
	structure
	place    Place
	at       *memory.Channel              // nil if unknown
	sets     *RoleSets                    // that people have or may have
	viewers  bits                         // the sets that can view the place; nil until needed
	verdicts map[memory.ChannelID]Verdict // by the channel whose rules count: threads share their parent's
}

// NewAudience returns the audience of p in g.
func NewAudience(g *memory.Guild, p Place, people People) *Audience {
	a := &Audience{
		structure: newStructure(g, people),
		place:     p,
		sets:      p.Sets,
		verdicts:  make(map[memory.ChannelID]Verdict, len(g.Channels)),
	}
	a.at = a.channels[p.Channel]
	if p.Channel == 0 && a.isOneViewer() {
		a.at = &memory.Channel{} // counts as a channel that everybody can read
	}
	if a.sets == nil {
		a.sets = possible(g, standing(g.Implied(), p.Asker))
	}
	return a
}

// Judge says whether an answer may use a channel of the guild, and if not, why.
func (a *Audience) Judge(channel memory.ChannelID) Verdict {
	v := a.judge(a.channels[channel])
	v.Roles = slices.Clone(v.Roles)
	return v
}

// judge is Judge for c, nil if unknown. The verdict's roles are shared.
func (a *Audience) judge(c *memory.Channel) Verdict {
	at := a.at
	switch {
	case at == nil:
		return refused(ObstaclePlace)
	case c == nil:
		return refused(ObstacleChannel)
	case c.Shut:
		return refused(ObstacleShut)
	case at.ID == c.ID && a.ownsPlace():
		return Verdict{OK: true}
	case at.Unplaced:
		return refused(ObstaclePlace)
	case !isShared(at) || !isShared(c):
		return refused(ObstacleUnshared)
	case !a.known:
		return refused(ObstacleStructure)
	}
	r := a.rules(at)
	source := a.rules(c)
	switch {
	case r == nil:
		return refused(ObstaclePlace)
	case source == nil:
		return refused(ObstacleChannel)
	case source.AgeLimited && !r.AgeLimited:
		return refused(ObstacleAge)
	case c.Kind == memory.PrivateThread && c.ID != at.ID:
		return refused(ObstaclePrivateThread)
	}
	v, judged := a.verdicts[source.ID]
	if !judged {
		v = a.judgeReaders(r, source)
		a.verdicts[source.ID] = v
	}
	return v
}

// ownsPlace reports whether the place's own messages may be used whatever its permissions: direct messages, and
// for the operator what roles don't decide.
func (a *Audience) ownsPlace() bool {
	return a.place.Operator && (a.at.Unplaced || !isShared(a.at)) ||
		a.at.Kind == memory.DirectChannel && !a.at.Unplaced
}

// judgeReaders decides whether Hark and everybody who reads an answer in a channel with the rules r can read c.
func (a *Audience) judgeReaders(r, c *memory.Channel) Verdict {
	switch {
	case !a.selfReads(c):
		return refused(ObstacleHark)
	case !a.isOneViewer():
		return a.judgeViewers(r, c)
	case !a.reads(a.place.Viewer, a.place.Roles, c):
		return cannotRead(a.place.Viewer, a.place.Roles)
	}
	return Verdict{OK: true}
}

// isOneViewer reports whether one person sees the answer whose permissions are known. A viewer whose roles are
// unknown counts as everybody who can view the place.
func (a *Audience) isOneViewer() bool {
	return a.place.Viewer != 0 && (a.place.Roles != nil || a.place.Viewer == a.guild.Owner)
}

// judgeViewers decides whether everybody who can view r can read c. Known roles of people may be outdated: see
// docs/decisions/0010-stale-roles.md.
func (a *Audience) judgeViewers(r, c *memory.Channel) Verdict {
	if a.viewers == nil {
		a.viewers = a.sets.having(a.guild, memory.ViewChannel, 0, r)
	}
	if set := a.viewers.outside(a.sets.readers(a.guild, 0, c)); set >= 0 {
		return cannotRead(0, a.sets.roles[set])
	}
	judged := map[[2]memory.Overwrite]bool{} // by a person's overwrites in r and c, if members may have any set
	for _, o := range slices.Concat(r.Overwrites, c.Overwrites) {
		if o.User == 0 || o.User == a.guild.Owner || a.isBot(o.User) {
			continue // the owner reads everything, and bots are no audience
		}
		if a.sets.own != nil {
			if roles, there := a.sets.own[o.User]; there && a.views(o.User, roles, r) && !a.reads(o.User, roles, c) {
				return cannotRead(o.User, roles)
			}
			continue
		}
		here := overwriteOf(r, 0, o.User)
		there := overwriteOf(c, 0, o.User)
		if like := [2]memory.Overwrite{here, there}; !judged[like] {
			judged[like] = true
			viewers := a.sets.having(a.guild, memory.ViewChannel, o.User, r)
			if set := viewers.outside(a.sets.readers(a.guild, o.User, c)); set >= 0 {
				return cannotRead(o.User, a.sets.roles[set])
			}
		}
	}
	return Verdict{OK: true}
}

// structure is a guild with what decides who reads its channels.
type structure struct {
	guild    *memory.Guild
	people   People
	channels map[memory.ChannelID]*memory.Channel
	known    bool // it has @everyone's permissions
}

func newStructure(g *memory.Guild, people People) structure {
	s := structure{
		guild:    g,
		people:   people,
		channels: map[memory.ChannelID]*memory.Channel{},
	}
	for i := range g.Channels {
		s.channels[g.Channels[i].ID] = &g.Channels[i]
	}
	s.known = slices.ContainsFunc(g.Roles, func(role memory.Role) bool { return role.ID == memory.RoleID(g.ID) })
	return s
}

// isShared reports whether roles and overwrites decide who reads c, unlike direct messages and local channels.
func isShared(c *memory.Channel) bool {
	return c.Kind != memory.DirectChannel && c.Kind != memory.LocalChannel
}

// rules returns the channel whose overwrites and age restriction c has; nil if unknown, or if c can't have
// messages.
func (s *structure) rules(c *memory.Channel) *memory.Channel {
	if c.Kind == memory.CategoryChannel {
		return nil
	}
	return c.Rules(s.channels[c.Parent])
}

// selfReads reports whether Hark can read with its past a channel with rules of its own. If Hark's user is
// unknown, as in imports, it can.
func (s *structure) selfReads(c *memory.Channel) bool {
	self := s.guild.Self
	if self == 0 {
		return true
	}
	known, _ := s.people(self)
	return s.guild.SelfPermissions(known.Roles, c).Has(c.Kind.Reading())
}

// views reports whether a user with roles can view the channel with rules.
func (s *structure) views(user memory.UserID, roles []memory.RoleID, rules *memory.Channel) bool {
	return s.guild.Permissions(user, roles, rules).Has(memory.ViewChannel)
}

// reads reports whether they can read it with its past.
func (s *structure) reads(user memory.UserID, roles []memory.RoleID, rules *memory.Channel) bool {
	return s.guild.Permissions(user, roles, rules).Has(rules.Kind.Reading())
}

func (s *structure) isBot(user memory.UserID) bool {
	known, _ := s.people(user)
	return known.Bot
}

// Verdict says whether an answer at a place may use a channel, and if not, why.
type Verdict struct {
	OK  bool
	Why Obstacle // empty if OK
	// User and Roles are a counterexample for ObstacleReader: somebody who reads the answer and can't read the
	// channel. User is the only viewer, or a member with overwrites of their own; 0: anybody with Roles.
	User memory.UserID
	// Roles suffice, without @everyone; empty: a member without roles. If members' roles are known, these are
	// all the roles of some member.
	Roles []memory.RoleID
}

// The obstacles. A verdict names one, even if several apply.
const (
	ObstaclePlace         Obstacle = "place"          // who can read the place is unknown
	ObstacleChannel       Obstacle = "channel"        // who can read the channel is unknown
	ObstacleShut          Obstacle = "shut"           // the channel is Shut
	ObstacleUnshared      Obstacle = "unshared"       // one of them is a direct or local channel
	ObstacleStructure     Obstacle = "structure"      // the guild's roles are unknown
	ObstacleAge           Obstacle = "age"            // only the channel is age-restricted
	ObstaclePrivateThread Obstacle = "private-thread" // the channel is another private thread
	ObstacleHark          Obstacle = "hark"           // Hark can't read the channel
	ObstacleReader        Obstacle = "reader"         // somebody who reads the answer can't read the channel
)

func refused(why Obstacle) Verdict { return Verdict{Why: why} }

// cannotRead is the verdict for a counterexample.
func cannotRead(user memory.UserID, roles []memory.RoleID) Verdict {
	return Verdict{
		Why:   ObstacleReader,
		User:  user,
		Roles: roles,
	}
}

// Obstacle is a reason why an answer may not use a channel.
type Obstacle string
