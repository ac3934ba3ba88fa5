package bot

import (
	"context"
	"time"

	"github.com/bwmarrin/discordgo"
)

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
	b.members = a.tellsMembers()
}

// askForMembers asks Discord for the members of the guilds of which they aren't known, until done. Of one that it has
// been asked for without an answer it isn't asked again at once:
// https://discord.com/developers/docs/events/gateway-events#rate-limited
func (b *Bot) askForMembers(h *heart, done <-chan struct{}) {
	next := time.NewTicker(b.timing.ask)
	defer next.Stop()
	for {
		select {
		case now := <-next.C:
			if guild, nonce, ask := b.memberRoles.Ask(now, now.Add(-b.timing.members)); ask {
				h.send(sentFrame{opMembers, map[string]any{"guild_id": guild.String(), "query": "", "limit": 0,
					"nonce": nonce}})
			}
		case <-done:
			return
		}
	}
}
