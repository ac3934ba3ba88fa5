package memory

import "slices"

// Permissions is a set of Discord's permission bits.
type Permissions uint64

// The permissions that decide who may read what. https://discord.com/developers/docs/topics/permissions
const (
	Administrator      Permissions = 1 << 3
	ViewChannel        Permissions = 1 << 10
	ReadMessageHistory Permissions = 1 << 16
	Connect            Permissions = 1 << 20
)

// Has reports whether p holds every permission of q.
func (p Permissions) Has(q Permissions) bool { return p&q == q }

// Reading returns the permissions needed to read the past of a channel of kind k.
func (k ChannelKind) Reading() Permissions {
	if k == VoiceChannel {
		return ViewChannel | ReadMessageHistory | Connect
	}
	return ViewChannel | ReadMessageHistory
}

// Rules returns the channel whose overwrites and age restriction apply to c: for a thread its parent, given
// here. It returns nil if that is unknown or can't have threads.
func (c *Channel) Rules(parent *Channel) *Channel {
	if c.Unplaced || !c.Kind.IsThread() {
		parent = c
	} else if parent == nil || parent.Kind != TextChannel && parent.Kind != ForumChannel {
		return nil
	}
	if parent.Unplaced {
		return nil
	}
	return parent
}

// Permissions computes the permissions of a user with roles (@everyone is implied) in a channel to which the
// overwrites of rules apply, in Discord's order: the roles' own; then the overwrites of @everyone, the
// denials of all roles, the grants of all roles, and the user's own. The owner and administrators may do
// everything. User 0 has no overwrites. Timeouts are ignored: Discord doesn't send them to Hark, and they
// don't affect reading text channels. https://discord.com/developers/docs/topics/permissions
func (g *Guild) Permissions(user UserID, roles []RoleID, rules *Channel) Permissions {
	everyone := RoleID(g.ID)
	var p Permissions
	for _, role := range g.Roles {
		if role.ID == everyone || slices.Contains(roles, role.ID) {
			p |= role.Permissions
		}
	}
	if p.Has(Administrator) || user != 0 && user == g.Owner {
		return ^Permissions(0)
	}
	var all, some, own Overwrite
	for _, o := range rules.Overwrites {
		to := &some
		switch {
		case o.User != 0 && o.User == user:
			to = &own
		case o.User == 0 && o.Role == everyone:
			to = &all
		case o.User != 0 || !slices.Contains(roles, o.Role):
			continue
		}
		to.Allow |= o.Allow
		to.Deny |= o.Deny
	}
	for _, o := range []Overwrite{all, some, own} {
		p = p&^o.Deny | o.Allow
	}
	return p
}

// SelfPermissions computes Hark's own, with roles and the bot's own role.
func (g *Guild) SelfPermissions(roles []RoleID, rules *Channel) Permissions {
	roles = slices.Clone(roles)
	for _, role := range g.Roles {
		if role.Bot != 0 && role.Bot == g.Self {
			roles = append(roles, role.ID)
		}
	}
	return g.Permissions(g.Self, roles, rules)
}

// IsPublic reports whether a member without roles can read a channel and its past, whatever its age
// restriction.
func (g *Guild) IsPublic(id ChannelID) bool {
	c := g.Channel(id)
	if c == nil || c.Kind == PrivateThread {
		return false
	}
	rules := c.Rules(g.Channel(c.Parent))
	return rules != nil && g.Permissions(0, nil, rules).Has(rules.Kind.Reading())
}
