package command

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hark/bot/discord"
	"hark/internal/ttl"
	"hark/memory"
)

// Discord enforces who may use a command, and tells what it decided by the use alone. A second look costs nothing for
// members who have the permission that the command asks for. Of others Discord is asked whether the server gave it to
// them in its settings. So a use that Discord should have refused is refused by Hark.

// overridesTTL is how long it is believed that a server gave somebody a command.
const overridesTTL = time.Minute

const maxOverrides = 1 << 10

const notGiven = "You may not use this command: it needs a permission that you don't have here, and this server's settings don't give it to you."

// overrides are what servers decided about commands, by server.
type overrides struct {
	*ttl.Cache[memory.GuildID, *[]discord.CommandOverride]
	rest *discord.Client
	now  func() time.Time
}

func newOverrides(o *Options) *overrides {
	return &overrides{ttl.New[memory.GuildID, *[]discord.CommandOverride](maxOverrides), o.Client, o.Now}
}

// requireGrant returns why the user of x may not use a command that needs permissions; "" if they may.
func (o *overrides) requireGrant(ctx context.Context, x *interaction, needs memory.Permissions) (string, error) {
	used := x.Type == discord.InteractionCommand || x.Type == discord.InteractionTyping
	if !used || needs == 0 || x.May(needs) {
		return "", nil
	}
	if x.Guild == 0 { // where no such command is
		return x.Text(notGiven), nil
	}
	if known, there := o.Get(x.guild(), o.now()); there && gives(*known, x) {
		return "", nil
	}
	all, err := o.rest.CommandOverrides(ctx, x.Application, x.guild())
	if err != nil {
		return x.Text(useAgain), fmt.Errorf("ask Discord who may use the commands of server %d: %w", x.Guild, err)
	}
	o.Put(x.guild(), &all, o.now(), o.now().Add(overridesTTL))
	if gives(all, x) {
		return "", nil
	}
	return x.Text(notGiven), nil
}

// gives reports whether a server gave the command of x, or all of Hark's, to its user, to one of their roles or to
// everybody. What it decided about the user comes first.
func gives(all []discord.CommandOverride, x *interaction) bool {
	of := []discord.Snowflake{x.Guild} // everybody's role
	if x.Member != nil {
		of = append(of, x.Member.Roles...)
	}
	given := false
	for _, o := range all {
		if o.Command != x.Data.ID && o.Command != x.Application {
			continue
		}
		for _, p := range o.Permissions {
			if p.Kind == discord.ForUser && p.ID == discord.Snowflake(x.who()) {
				return p.Allowed
			}
			given = given || p.Kind == discord.ForRole && p.Allowed && slices.Contains(of, p.ID)
		}
	}
	return given
}
