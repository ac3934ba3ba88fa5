package discord

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bwmarrin/discordgo"
	"golang.org/x/sync/errgroup"

	"hark/memory"
)

// The flags of an application with an intent: of a verified bot, and of one in fewer than a hundred guilds.
// https://discord.com/developers/docs/resources/application
const (
	flagMembers               = 1 << 14
	flagMembersLimited        = 1 << 15
	flagMessageContent        = 1 << 18
	flagMessageContentLimited = 1 << 19
)

// Account is the bot's account, as far as REST tells.
type Account struct {
	App     string // the application's id
	Name    string
	Content bool // whether the Message Content intent is switched on
	Members bool // whether the Server Members intent is

	rest *Client
}

// GuildAccess is what the bot may do in a guild.
type GuildAccess struct {
	ID      memory.GuildID
	Name    string
	Missing []string // names of the permissions that Hark needs and lacks
	Untold  bool     // Discord left the permissions out
	// NoCommands means that Hark was invited without the scope applications.commands.
	NoCommands bool
}

// Starts is the daily limit of gateway sessions.
type Starts struct {
	Total, Remaining int
	Reset            time.Duration // until there are Total again
	Shards           int           // that Discord recommends
}

// Check asks Discord, at most twice, whether the token is valid: ErrNoToken, ErrToken or ErrUnreachable.
func Check(ctx context.Context, o Options) (*Account, error) {
	rest, err := NewClient(o)
	if err != nil {
		return nil, err
	}
	rest.Backoff = UsualGateway.Retry
	rest.tries = 2
	application, err := rest.application(ctx)
	if err != nil {
		if errors.Is(err, ErrToken) || ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
			return nil, err
		}
		return nil, unreachable(err)
	}
	return &Account{
		App:     fmt.Sprint(int64(application.ID)),
		Name:    application.Name,
		rest:    rest,
		Content: application.Flags&(flagMessageContent|flagMessageContentLimited) != 0,
		Members: application.tellsMembers(),
	}, nil
}

const (
	guildPage      = 200 // guilds in one answer
	maxScopeChecks = 100 // a bot in more guilds isn't checked for NoCommands
)

// Guilds fetches the bot's guilds, by id.
func (a *Account) Guilds(ctx context.Context) ([]GuildAccess, error) {
	var all []GuildAccess
	for after := memory.GuildID(0); ; after = all[len(all)-1].ID {
		var page []struct {
			ID          Snowflake    `json:"id"`
			Name        string       `json:"name"`
			Permissions *Permissions `json:"permissions"`
		}
		address := fmt.Sprintf("%s/guilds?limit=%d&after=%d", discordgo.EndpointUser("@me"), guildPage, int64(after))
		if err := a.rest.get(ctx, address, &page); err != nil {
			return nil, fmt.Errorf("ask Discord which servers Hark is in: %w", err)
		}
		for _, g := range page {
			m := GuildAccess{
				ID:     memory.GuildID(g.ID),
				Name:   g.Name,
				Untold: g.Permissions == nil,
			}
			if g.Permissions != nil {
				m.Missing = missingPermissions(memory.Permissions(*g.Permissions))
			}
			all = append(all, m)
		}
		if len(page) < guildPage {
			break
		}
	}
	if len(all) > maxScopeChecks {
		return all, nil
	}
	var work errgroup.Group
	work.SetLimit(4)
	for i := range all {
		work.Go(func() error {
			all[i].NoCommands = a.refusesCommands(ctx, all[i].ID)
			return ctx.Err()
		})
	}
	return all, work.Wait()
}

// refusesCommands reports whether a guild let the bot in without commands.
func (a *Account) refusesCommands(ctx context.Context, guild memory.GuildID) bool {
	err := a.rest.get(ctx, discordgo.EndpointApplicationGuildCommands(a.App, guild.String()), nil)
	return Status(err) == 403 && Code(err) == codeMissingAccess
}

// Starts asks how often the bot may still connect.
func (a *Account) Starts(ctx context.Context) (Starts, error) { return a.rest.Starts(ctx) }

// application is the bot's application.
type application struct {
	ID    Snowflake `json:"id"`
	Name  string    `json:"name"`
	Flags int       `json:"flags"`
}

func (c *Client) application(ctx context.Context) (a application, err error) {
	err = c.get(ctx, discordgo.EndpointAPI+"applications/@me", &a)
	return a, err
}

// TellsMembers returns the application's id, and whether the Server Members intent is switched on.
func (c *Client) TellsMembers(ctx context.Context) (app int64, tells bool, err error) {
	a, err := c.application(ctx)
	return int64(a.ID), a.tellsMembers(), err
}

// Starts asks for the gateway's limits.
func (c *Client) Starts(ctx context.Context) (Starts, error) {
	g, err := c.gateway(ctx)
	if err != nil {
		return Starts{}, fmt.Errorf("ask Discord for the gateway's limits: %w", err)
	}
	return Starts{g.Limit.Total, g.Limit.Remaining, g.Limit.reset(), g.Shards}, nil
}

func (a application) tellsMembers() bool { return a.Flags&(flagMembers|flagMembersLimited) != 0 }

// Shards asks how many shards Discord recommends. It fails like Self.
func (c *Client) Shards(ctx context.Context) (int, error) {
	patient := *c
	patient.tries = startupAttempts
	g, err := patient.gateway(ctx)
	switch {
	case ctx.Err() != nil:
		err = nil
	case err != nil && !errors.Is(err, ErrToken):
		err = unreachable(err)
	}
	return max(1, g.Shards), err
}

// Self returns Hark's id, ErrToken or, after trying for half a minute, ErrUnreachable.
func (c *Client) Self(ctx context.Context) (memory.UserID, error) {
	patient := *c
	patient.tries = startupAttempts
	var u User
	err := patient.get(ctx, discordgo.EndpointUser("@me"), &u)
	switch {
	case ctx.Err() != nil:
		err = nil
	case err != nil && !errors.Is(err, ErrToken):
		err = unreachable(err)
	}
	return memory.UserID(u.ID), err
}
