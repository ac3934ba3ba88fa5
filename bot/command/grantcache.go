package command

import (
	"context"
	"time"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/internal/ttl"
	"hark/memory"
)

// adminCommand is the command whose messages have buttons, menus and forms by which a guild decides.
const adminCommand = "hark"

// grantTTL is for how long somebody whom Discord let use the command may go on with what it showed them: as
// long as Discord lets a use be answered.
const grantTTL = 15 * time.Minute

const (
	notAllowed = "Only those who may manage this server can decide that."
	useAgain   = "I can't tell any more whether you may decide that. Please use the command once more."
)

// permits are who may go on although they may not manage the server. A guild gives its commands to whom it
// likes, in Discord's own settings, and Discord holds to that; but of a button, a menu or a form it doesn't
// tell whether whoever uses it may use the command that showed it. After a restart nobody is known, and the
// command has to be used again.
type grantCache struct {
	*ttl.Cache[ingest.Membership, bool]
	now func() time.Time
}

// maxGrants is how many are known.
const maxGrants = 1 << 12

func newGrantCache(now func() time.Time) *grantCache {
	return &grantCache{ttl.New[ingest.Membership, bool](maxGrants), now}
}

// look notes who uses the command, and whether whoever uses what it showed may go on. What everybody sees is
// no such thing.
func (p *grantCache) visit(x *interaction) {
	who, now := ingest.Membership{Guild: x.guild(), User: x.who()}, p.now()
	switch x.Type {
	case discord.InteractionCommand:
		if x.Data.Name != adminCommand || x.Guild == 0 {
			return
		}
		p.Put(who, !x.May(discord.ManageGuild), now, now.Add(grantTTL))
	case discord.InteractionComponent, discord.InteractionForm:
		permitted, _ := p.Get(who, now)
		x.granted = permitted && !x.IsPublic()
	}
}

// requireManager refuses whoever may not decide for a server. Of a command Discord itself has seen to that, as
// the server has set it. See docs/decisions/0020-who-may-command.md.
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

// missingFor is missing for whoever uses an exchange. Of the channel that it is used in the use itself tells.
func (c *Commands) missingFor(ctx context.Context, x *interaction, at memory.Channel,
	n discord.Need) (memory.Permissions, error) {
	if at.Kind == memory.CategoryChannel {
		return 0, nil
	}
	if told := memory.Permissions(x.AppPermissions); told != 0 && at.ID == memory.ChannelID(x.Channel) {
		if told.Has(memory.Administrator) {
			return 0, nil
		}
		return n.Needed(at.Kind) &^ told, nil
	}
	return c.Grants.Missing(ctx, x.guild(), at.ID, n)
}
