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

// Reading is what reading the past of a channel of that kind takes.
func (k ChannelKind) Reading() Permissions {
	if k == VoiceChannel {
		return ViewChannel | ReadMessageHistory | Connect
	}
	return ViewChannel | ReadMessageHistory
}

// Rules is the channel whose overwrites and age restriction c has, given its parent or nil: a thread has those of its
// parent. It is nil if that channel isn't known or can't have threads.
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

// Permissions are those of somebody with roles (@everyone goes without saying) in a channel that has rules'
// overwrites, in Discord's order: the roles' own; then, of the overwrites, @everyone's, all roles' denials,
// all roles' grants, and the person's. The owner and administrators may do everything. User 0 is somebody of
// whom no overwrite tells. Timeouts aren't looked at: Discord doesn't tell Hark of them, and they leave what
// reading text channels takes. https://discord.com/developers/docs/topics/permissions
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
		to.Allow, to.Deny = to.Allow|o.Allow, to.Deny|o.Deny
	}
	for _, o := range []Overwrite{all, some, own} {
		p = p&^o.Deny | o.Allow
	}
	return p
}

// SelfPermissions are Hark's, which has roles and always the one that came with it.
func (g *Guild) SelfPermissions(roles []RoleID, rules *Channel) Permissions {
	roles = slices.Clone(roles)
	for _, role := range g.Roles {
		if role.Bot != 0 && role.Bot == g.Self {
			roles = append(roles, role.ID)
		}
	}
	return g.Permissions(g.Self, roles, rules)
}

// IsPublic reports whether somebody without any role can read a channel with its past, as far as roles and overwrites
// tell: its age restriction isn't looked at.
func (g *Guild) IsPublic(id ChannelID) bool {
	c := g.Channel(id)
	if c == nil || c.Kind == PrivateThread {
		return false
	}
	rules := c.Rules(g.Channel(c.Parent))
	return rules != nil && g.Permissions(0, nil, rules).Has(rules.Kind.Reading())
}
