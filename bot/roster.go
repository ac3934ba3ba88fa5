package bot

import (
	"context"
	"fmt"
	"time"

	"github.com/bwmarrin/discordgo"

	"hark/search"
)

// enroll tells the roster what an event says of connections, guilds and members. It is called in the order of events.
func (b *Bot) enroll(kind string, c converted) {
	switch {
	case kind == "READY":
		b.roster.Begin()
	case kind == "RESUMED":
		b.roster.Resume()
	case c.away != 0:
		b.roster.Close(c.away)
	case c.told != 0 && c.visit == nil: // Hark was removed
		b.roster.Close(c.told)
	case c.told != 0 && b.members.Load():
		b.roster.Open(c.told)
	case c.members != nil:
		c.members(b.roster)
	}
	for _, m := range c.met {
		if c.heard != 0 && m.person.RolesKnown {
			b.roster.Met(m.person.Guild, search.Member{ID: m.person.ID, Bot: m.person.Bot, Roles: m.person.Roles})
		}
	}
	if kind == "RESUMED" || c.told != 0 {
		wakeUp(b.asking)
	}
}

// The flags of an application that is told of members: as a large bot, that Discord has verified, or as one of few
// guilds.
// https://discord.com/developers/docs/resources/application
const (
	flagMembers        = 1 << 14
	flagMembersLimited = 1 << 15
)

// application is the bot's, as Discord tells of it.
type application struct {
	ID    snowflake `json:"id"`
	Name  string    `json:"name"`
	Flags int       `json:"flags"`
}

func (c *client) application(ctx context.Context) (a application, err error) {
	err = c.get(ctx, discordgo.EndpointAPI+"applications/@me", &a)
	return a, err
}

// tellsMembers reports whether the Server Members intent is switched on.
func (a application) tellsMembers() bool { return a.Flags&(flagMembers|flagMembersLimited) != 0 }

// lookForMembers finds out whether Discord would tell of members, so that it is asked to.
func (b *Bot) lookForMembers(ctx context.Context) {
	a, err := b.rest.application(ctx)
	if err != nil {
		b.log.Warn().Err(redact(err)).Msg("couldn't learn whether the Server Members intent is on; going on without it")
	}
	b.members.Store(a.tellsMembers())
}

// askForMembers asks Discord for the members of the guilds of which they aren't known. Of one that it has been asked for
// without an answer it isn't asked again at once: https://discord.com/developers/docs/events/gateway-events#rate-limited
func (b *Bot) askForMembers(ctx context.Context) {
	for s := b.gateway.Load(); s != nil && ctx.Err() == nil; {
		now := time.Now()
		guild, nonce, ask := b.roster.Ask(now, now.Add(-b.timing.members))
		if !ask {
			return
		}
		if err := s.RequestGuildMembers(guild.String(), "", 0, nonce, false); err != nil {
			b.log.Warn().Err(redact(err)).Msg(fmt.Sprintf("couldn't ask for the members of guild %d; trying again", guild))
			return
		}
		_ = sleep(ctx, b.timing.ask)
	}
}
