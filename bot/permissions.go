package bot

import (
	"slices"

	"hark/memory"
)

// may is what self, who isn't the owner, may do in a channel with those roles, in Discord's order: the roles' own; then, of the channel's
// overwrites, @everyone's, all roles' denials, all roles' grants, and Hark's.
func may(self memory.UserID, g *wireGuild, c *wireChannel, roles []snowflake) memory.Permissions {
	var p memory.Permissions
	for _, r := range g.Roles {
		if r != nil && (r.ID == g.ID || slices.Contains(roles, r.ID)) {
			p |= r.Permissions.set()
		}
	}
	if p.Has(memory.Administrator) {
		return ^memory.Permissions(0)
	}
	var all, some, own memory.Overwrite
	for _, o := range c.Overwrites {
		member := o.Type != nil && *o.Type == overwriteMember
		switch allow, deny := o.changes(); {
		case o.ID == g.ID:
			all = memory.Overwrite{Allow: allow, Deny: deny}
		case member && memory.UserID(o.ID) == self:
			own = memory.Overwrite{Allow: allow, Deny: deny}
		case !member && slices.Contains(roles, o.ID):
			some.Allow, some.Deny = some.Allow|allow, some.Deny|deny
		}
	}
	for _, o := range []memory.Overwrite{all, some, own} {
		p = p&^o.Deny | o.Allow
	}
	return p
}

// mayReadBack reports whether self may read what was said in a channel or a thread, whose parent decides. Discord shows
// an empty past, rather than an error, to those who may not.
func mayReadBack(self memory.UserID, g *wireGuild, c, parent *wireChannel, roles []snowflake) bool {
	place := c
	if c.isThread() {
		if place = parent; place == nil {
			return false
		}
	}
	needed := memory.ViewChannel | memory.ReadMessageHistory
	if kind, _ := place.kind(); kind == memory.VoiceChannel {
		needed |= memory.Connect
	}
	return may(self, g, place, roles).Has(needed)
}
