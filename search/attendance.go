package search

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"hark/memory"
)

// Attendance knows since when everybody who reads a channel could read it. It matters if some may not read the
// past: an answer there may use only what all of them could see.
//
// Let R be the channel and m a message in it. m may be used if everybody who can view R now could view it when m
// was sent. A counterexample is somebody who since then
//   - gained or lost access: R's overwrites, a role or the owner changed. A change that only shuts somebody out
//     counts too: once it is undone, they are back and missed the messages between.
//   - joined the guild or got a role. Discord reports neither, but it sends roles and joining time of whoever
//     writes, is mentioned or uses a command. If every role may view R, they could since they joined; otherwise
//     since they were first seen with their current roles.
//   - did anything while Hark was away, so nothing counts from before Discord sent the guild.
//   - was invited to a private thread. Discord doesn't report that to Hark, so nothing counts there.
//
// Two counterexamples go unnoticed, because Discord reports them only with the members intent: somebody who joined
// and hasn't done anything yet, and somebody who lost a role and got it back between two actions.
type Attendance struct {
	mu     sync.Mutex
	newest memory.MessageID // the newest message or use of a command
	guilds map[memory.GuildID]*guildAttendance
}

// guildAttendance is what is known of a guild.
type guildAttendance struct {
	owner    memory.UserID
	roles    map[memory.RoleID]memory.Permissions
	channels map[memory.ChannelID]string           // viewingRules by channel
	since    map[memory.ChannelID]memory.MessageID // since when these hold
	asOf     memory.MessageID                      // since when the owner and the roles hold
	people   map[memory.UserID]attendee
}

// attendee is a member's roles, and since when they are known to have them.
type attendee struct {
	roles         []memory.RoleID
	joined, since memory.MessageID
}

// maxAttendees bounds the members known of a guild. When there are more, all count as new.
const maxAttendees = 1 << 14

// viewing are the permissions that decide who views a channel.
const viewing = memory.Administrator | memory.ViewChannel

// NewAttendance returns an Attendance without guilds.
func NewAttendance() *Attendance {
	return &Attendance{guilds: map[memory.GuildID]*guildAttendance{}}
}

// Advance records that a message or command just arrived.
func (a *Attendance) Advance(id memory.MessageID) {
	a.mu.Lock()
	a.newest = max(a.newest, id)
	a.mu.Unlock()
}

// SawMember records a member's roles and joining time. by is set if they came with the newest message, not after
// it.
func (a *Attendance) SawMember(p memory.Person, joined time.Time, by bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.guilds[p.Guild]
	if at == nil || p.Bot || !p.RolesKnown {
		return
	}
	now := attendee{
		roles:  slices.Sorted(slices.Values(p.Roles)),
		joined: memory.FirstMessageID(joined),
		since:  a.newest,
	}
	if !by {
		now.since++
	}
	if joined.IsZero() {
		now.joined = now.since
	}
	was, known := at.people[p.ID]
	if known && slices.Equal(was.roles, now.roles) && (joined.IsZero() || was.joined == now.joined) {
		return
	}
	if len(at.people) >= maxAttendees {
		clear(at.people)
		at.asOf = a.newest + 1
	}
	at.people[p.ID] = now
}

// Observe applies events, in order.
func (a *Attendance) Observe(events []memory.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range events {
		switch e := e.(type) {
		case memory.GuildSeen:
			if at := a.guilds[e.Guild.ID]; e.At.IsZero() && at != nil {
				a.setRoles(at, &e.Guild) // its channels are unchanged
			} else if !e.At.IsZero() {
				a.reset(e)
			}
		case memory.RoleSeen:
			if at := a.guilds[e.Guild]; at != nil && at.roles[e.Role.ID] != e.Role.Permissions&viewing {
				at.roles[e.Role.ID] = e.Role.Permissions & viewing
				at.asOf = a.newest + 1
			}
		case memory.RoleGone:
			if at := a.guilds[e.Guild]; at != nil {
				at.asOf = a.newest + 1
				delete(at.roles, e.Role)
			}
		case memory.ChannelSeen:
			at := a.guilds[e.Channel.Guild]
			is := viewingRules(&e.Channel)
			if at == nil {
				continue
			}
			if was, known := at.channels[e.Channel.ID]; !known || was != is {
				at.channels[e.Channel.ID] = is
				at.since[e.Channel.ID] = a.newest + 1
			}
		case memory.ChannelGone:
			a.closeChannel(e.Guild, e.Channel)
		case memory.ChannelDeleted:
			a.closeChannel(e.Guild, e.Channel)
		}
	}
}

// reset starts a guild afresh. The caller holds mu.
func (a *Attendance) reset(e memory.GuildSeen) {
	a.newest = max(a.newest, memory.FirstMessageID(e.At))
	at := &guildAttendance{
		channels: map[memory.ChannelID]string{},
		since:    map[memory.ChannelID]memory.MessageID{},
		people:   map[memory.UserID]attendee{},
	}
	for i := range e.Guild.Channels {
		at.channels[e.Guild.Channels[i].ID] = viewingRules(&e.Guild.Channels[i])
	}
	a.guilds[e.Guild.ID] = at
	a.setRoles(at, &e.Guild)
	at.asOf = a.newest + 1
}

// setRoles updates a guild's owner and roles. The caller holds mu.
func (a *Attendance) setRoles(at *guildAttendance, g *memory.Guild) {
	roles := map[memory.RoleID]memory.Permissions{}
	for _, r := range g.Roles {
		if p := r.Permissions & viewing; p != 0 {
			roles[r.ID] = p
		}
	}
	if at.owner != g.Owner || !maps.Equal(at.roles, roles) {
		at.owner = g.Owner
		at.roles = roles
		at.asOf = a.newest + 1
	}
}

// closeChannel removes a channel. The caller holds mu.
func (a *Attendance) closeChannel(guild memory.GuildID, channel memory.ChannelID) {
	if at := a.guilds[guild]; at != nil {
		delete(at.channels, channel)
	}
}

// viewingRules returns the part of a channel's overwrites that decides who views it.
func viewingRules(c *memory.Channel) string {
	var rules []string
	for _, o := range c.Overwrites {
		if (o.Allow|o.Deny)&viewing != 0 {
			rules = append(rules, fmt.Sprint(o.Role, o.User, o.Allow&viewing, o.Deny&viewing))
		}
	}
	slices.Sort(rules)
	return strings.Join(rules, ";")
}

// Since returns the message id from which on everybody who can read a channel of g could read all messages there;
// the greatest id if that is unknown.
func (a *Attendance) Since(g *memory.Guild, channel memory.ChannelID) memory.MessageID {
	const never = memory.MessageID(math.MaxInt64)
	look := newStructure(g, func(memory.UserID) (memory.Person, bool) { return memory.Person{}, false })
	place := look.channels[channel]
	if place == nil || !look.known || !isShared(place) || place.Kind == memory.PrivateThread {
		return never
	}
	place = look.rules(place)
	if place == nil {
		return never
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.guilds[g.ID]
	if at == nil {
		return never
	}
	if _, known := at.channels[place.ID]; !known {
		return never
	}
	sets := possible(g, nil)
	always := func(user memory.UserID) bool {
		return sets.all.outside(sets.having(g, memory.ViewChannel, user, place)) < 0
	}
	open := always(0)
	since := max(at.asOf, at.since[place.ID])
	for user, p := range at.people {
		if !look.views(user, p.roles, place) {
			continue
		}
		since = max(since, p.joined)
		own := func(o memory.Overwrite) bool { return o.User == user }
		could := open
		if slices.ContainsFunc(place.Overwrites, own) {
			could = always(user)
		}
		if !could && user != g.Owner {
			since = max(since, p.since)
		}
	}
	return since
}
