package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/bwmarrin/discordgo"

	"hark/bot/markdown"
	"hark/memory"
)

// The requests except those of Sender and Interaction.

// PageSize is the most messages or threads in one answer.
const PageSize = 100

// Channel fetches a channel; into may be nil.
func (c *Client) Channel(ctx context.Context, id memory.ChannelID, into any) error {
	return c.get(ctx, discordgo.EndpointChannel(id.String()), into)
}

// Discord's codes for somebody who isn't a member.
const (
	codeUnknownMember = 10007
	codeUnknownUser   = 10013
)

// ErrNoMember means that somebody isn't a member of a guild.
var ErrNoMember = errors.New("not a member of the server")

// Member fetches a member of a guild, or ErrNoMember.
func (c *Client) Member(ctx context.Context, guild memory.GuildID, user memory.UserID) (*Member, error) {
	m := &Member{}
	err := c.get(ctx, discordgo.EndpointGuildMember(guild.String(), user.String()), m)
	switch code := Code(err); {
	case code == codeUnknownMember || code == codeUnknownUser:
		return nil, ErrNoMember
	case err == nil && m.User == nil:
		m.User = &User{ID: Snowflake(user)}
	case err != nil:
		return nil, fmt.Errorf("ask Discord for member %d of server %d: %w", user, guild, err)
	}
	return m, nil
}

// Message fetches a message.
func (c *Client) Message(ctx context.Context, channel memory.ChannelID, id memory.MessageID) (*Message, error) {
	t := &Sender{Client: c, Channel: channel}
	w := &Message{}
	return w, t.Request(ctx, http.MethodGet, id, nil, w)
}

// Messages fetches a page of a channel's messages after one, oldest first.
func (c *Client) Messages(ctx context.Context, guild memory.GuildID, channel memory.ChannelID,
	after memory.MessageID) ([]Message, error) {
	address := fmt.Sprintf("%s?limit=%d&after=%d", discordgo.EndpointChannelMessages(channel.String()), PageSize, after)
	var page []Message
	if err := c.get(ctx, address, &page); err != nil {
		return nil, fmt.Errorf("fetch messages of channel %d: %w", channel, err)
	}
	for i := range page {
		page[i].Guild = Snowflake(guild)
		page[i].Channel = Snowflake(channel)
	}
	slices.SortFunc(page, func(a, b Message) int { return cmp.Compare(a.ID, b.ID) })
	return page, nil
}

// Newest fetches a channel's newest messages.
func (c *Client) Newest(ctx context.Context, channel memory.ChannelID) (page []Message, err error) {
	err = c.get(ctx, discordgo.EndpointChannelMessages(channel.String())+"?limit=50", &page)
	return page, err
}

// ActiveThreads fetches a guild's threads that aren't archived.
func (c *Client) ActiveThreads(ctx context.Context, guild memory.GuildID) ([]*Channel, error) {
	var active GuildThreads
	err := c.get(ctx, discordgo.EndpointGuildActiveThreads(guild.String()), &active)
	return active.Threads, err
}

// threadPage is a page of archived threads.
type threadPage struct {
	Threads []*Channel `json:"threads"`
	More    bool       `json:"has_more"`
}

// ArchivedThreads fetches a page of one of a channel's lists of archived threads. before is the query for the
// next page.
func (c *Client) ArchivedThreads(ctx context.Context, channel memory.ChannelID, list, before string) (page threadPage,
	err error) {
	address := fmt.Sprintf("%s%s?limit=%d%s", discordgo.EndpointChannel(channel.String()), list, PageSize, before)
	err = c.get(ctx, address, &page)
	if err != nil {
		err = fmt.Errorf("list the archived threads of channel %d: %w", channel, err)
	}
	return page, err
}

// commandsAt returns the address of a guild's commands; guild 0: the global ones.
func commandsAt(app string, guild memory.GuildID) string {
	if guild == 0 {
		return discordgo.EndpointApplicationGlobalCommands(app)
	}
	return discordgo.EndpointApplicationGuildCommands(app, guild.String())
}

// Commands fetches a guild's commands; guild 0: the global ones.
func (c *Client) Commands(ctx context.Context, app string, guild memory.GuildID, into any) error {
	address := commandsAt(app, guild)
	return c.call(ctx, http.MethodGet, address+"?with_localizations=true", address, nil, into)
}

// SetCommands replaces them with list, and returns them as Discord has them then.
func (c *Client) SetCommands(ctx context.Context, app string, guild memory.GuildID, list, into any) error {
	address := commandsAt(app, guild)
	return c.call(ctx, http.MethodPut, address, address, list, into)
}

// CommandOverride is what a guild decided about one command, or, with the application's id, about all.
type CommandOverride struct {
	Command     Snowflake           `json:"id"`
	Permissions []CommandPermission `json:"permissions"`
}

// CommandPermission says whether a role, a user or a channel may use a command.
// https://discord.com/developers/docs/interactions/application-commands#application-command-permissions-object
type CommandPermission struct {
	ID      Snowflake `json:"id"` // the guild's is everybody's
	Kind    int       `json:"type"`
	Allowed bool      `json:"permission"`
}

// Whom a CommandPermission is about, besides channels.
const (
	ForRole = 1
	ForUser = 2
)

// CommandOverrides fetches what a guild decided about who may use the commands.
func (c *Client) CommandOverrides(ctx context.Context, app Snowflake, guild memory.GuildID) (all []CommandOverride,
	err error) {
	address := commandsAt(fmt.Sprint(int64(app)), guild) + "/permissions"
	return all, c.get(ctx, address, &all)
}

// Direct returns the channel of direct messages with a user.
func (c *Client) Direct(ctx context.Context, user memory.UserID) (memory.ChannelID, error) {
	var channel Channel
	who := map[string]string{"recipient_id": user.String()}
	err := c.post(ctx, discordgo.EndpointUserChannels("@me"), who, &channel)
	return memory.ChannelID(channel.ID), err
}

// SendFile sends a text with a file to a channel, once for an id.
func (c *Client) SendFile(ctx context.Context, channel memory.ChannelID, id memory.MessageID, content string,
	file markdown.File) error {
	files := []markdown.File{file}
	return c.post(ctx, discordgo.EndpointChannelMessages(channel.String()), withFiles(Outgoing{
		Content:         content,
		Nonce:           Nonce("e", id, 0),
		EnforceNonce:    true,
		AllowedMentions: NoMentions,
		Flags:           SuppressEmbeds,
		Attachments:     Attachments(files),
	}, files), nil)
}
