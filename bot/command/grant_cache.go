package command

import (
	"time"

	"hark/bot/discord"
	"hark/internal/ttl"
	"hark/memory"
)

// adminCommand is the command whose components decide for a guild.
const adminCommand = "hark"

// grantTTL is as long as Discord accepts responses to an interaction.
const grantTTL = 15 * time.Minute

const (
	notAllowed = "Only those who may manage this server can decide that."
	useAgain   = "I can't tell any more whether you may decide that. Please use the command once more."
)

// grantCache has who just used /hark without the Manage Server permission. A guild decides in Discord's settings who
// may use a command, and Discord enforces that; for a component or form it doesn't tell whether its user may use the
// command that showed it. After a restart the cache is empty, and the command has to be used again.
type grantCache struct {
	*ttl.Cache[memory.Membership, bool]
	now func() time.Time
}

const maxGrants = 1 << 12

// note sets x.granted if a component or form is used that /hark showed to whoever just used it. Public components are
// excluded.
func (p *grantCache) note(x *interaction) {
	if x.Type != discord.InteractionComponent && x.Type != discord.InteractionForm {
		return
	}
	permitted, _ := p.Get(membershipOf(x), p.now())
	x.granted = permitted && !x.IsPublic()
}

// grant stores that the user of x may use /hark, if x is such a use and they may by the server's settings alone.
func (p *grantCache) grant(x *interaction) {
	if x.Type != discord.InteractionCommand || x.Data.Name != adminCommand || x.Guild == 0 {
		return
	}
	now := p.now()
	p.Put(membershipOf(x), !x.May(discord.ManageGuild), now, now.Add(grantTTL))
}

func membershipOf(x *interaction) memory.Membership {
	return memory.Membership{Guild: x.guild(), User: x.who()}
}

// requireManager returns why the user of x may not decide for the server; "" if they may. Discord enforces who may use
// commands, and overrides.requireGrant looks again. See docs/decisions/0020-who-may-command.md.
func requireManager(x *interaction) string {
	switch {
	case x.Guild == 0:
		return x.Text(notAllowed)
	case x.Type == discord.InteractionCommand, x.Type == discord.InteractionTyping, x.May(discord.ManageGuild),
		x.granted:
		return ""
	case x.IsPublic():
		return x.Text(notAllowed)
	}
	return x.Text(useAgain)
}
