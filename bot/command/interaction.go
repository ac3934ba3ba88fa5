package command

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/memory"
)

// interaction is one interaction while it is answered. Only its user sees the responses, except changes of a public
// message.
type interaction struct {
	discord.Interaction
	locale.Locale // the user's
	rest          *discord.Client
	server        *memory.Guild // nil for early handlers
	policy        memory.Policy
	logged        <-chan struct{} // closed once all earlier events are in the log
	came          time.Time       // when we received it
	outcome       string          // CommandRefused or CommandFailed; else empty
	granted       bool            // Discord just let the user use the /hark command that showed this component
}

// say responds with text, at once.
func (x *interaction) say(ctx context.Context, text string) error {
	m := discord.Saying(text)
	m.Flags |= discord.FlagEphemeral
	return x.respond(ctx, discord.Response{Type: discord.RespondMessage, Data: m})
}

func (x *interaction) respond(ctx context.Context, r discord.Response) error {
	return x.rest.Respond(ctx, &x.Interaction, r)
}

// show sets or replaces the deferred response.
func (x *interaction) show(ctx context.Context, s response) error {
	return x.rest.EditResponse(ctx, &x.Interaction, s.edit(), s.Files)
}

// pages shows s with its follow-ups.
func (x *interaction) pages(ctx context.Context, s response) error {
	err := x.show(ctx, s)
	if len(s.Files) > 0 && discord.RefusesFiles(err) {
		s.Files = nil
		s.More = append(slices.Clone(s.More),
			x.Text("Discord doesn't take my file here. I need the permission Attach Files in this channel, or the file is too large."))
		err = x.show(ctx, s)
	}
	if err != nil {
		return err
	}
	for _, more := range s.More {
		if err := x.add(ctx, more); err != nil {
			return err
		}
	}
	return nil
}

// add sends a follow-up message.
func (x *interaction) add(ctx context.Context, text string, files ...markdown.File) error {
	return x.rest.FollowUp(ctx, &x.Interaction, text, files)
}

// waitLogged waits until all earlier events are in the log.
func (x *interaction) waitLogged(ctx context.Context) error {
	select {
	case <-x.logged:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (x *interaction) guild() memory.GuildID { return memory.GuildID(x.Guild) }

// target returns the message in whose menu a command is used, and its channel; nil if Discord doesn't tell.
func (x *interaction) target() (m *discord.Message, channel memory.ChannelID) {
	m = x.Data.Resolved.Messages[fmt.Sprint(int64(x.Data.Target))]
	channel = memory.ChannelID(x.Channel)
	if m != nil && m.Channel != 0 { // a thread also shows its starter message, which is elsewhere
		channel = memory.ChannelID(m.Channel)
	}
	return m, channel
}

func (x *interaction) remembers(channel memory.ChannelID) bool {
	return x.policy.Remembers(x.server, channel)
}

// who returns the user of x; 0 if Discord doesn't tell.
func (x *interaction) who() memory.UserID {
	if u := x.Invoker(); u != nil {
		return memory.UserID(u.ID)
	}
	return 0
}

// roles returns the roles of the user of x; nil if Discord doesn't tell.
func (x *interaction) roles() []memory.RoleID {
	if x.Member == nil || x.Member.Roles == nil {
		return nil
	}
	return discord.RolesOf(x.Member)
}
