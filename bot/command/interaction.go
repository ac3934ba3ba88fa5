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

// interaction is one use of a command, a button or a menu, being answered. What is said in it only its user sees, but for
// changes of a message that all see.
type interaction struct {
	discord.Interaction
	locale.Locale // in which whoever uses it is answered
	rest          *discord.Client
	server        *memory.Guild // as the log has it; nil for handlers that are early
	policy        memory.Policy
	logged        <-chan struct{} // closed once the log has all that came before
	came          time.Time       // when we heard of it
	outcome       string          // of CommandRefused and CommandFailed, if it is one of them
	// permitted says that Discord let its user use /hark a moment ago, which showed them what they use now.
	granted bool
}

// say answers at once.
func (x *interaction) say(ctx context.Context, text string) error {
	return x.respond(ctx, discord.Response{Type: discord.RespondMessage, Data: discord.Outgoing{Content: text,
		Flags:           discord.FlagEphemeral,
		AllowedMentions: discord.NoMentions}})
}

func (x *interaction) respond(ctx context.Context, r discord.Response) error {
	return x.rest.Respond(ctx, &x.Interaction, r)
}

// show keeps the promise; again, it changes what is shown.
func (x *interaction) show(ctx context.Context, s response) error {
	return x.rest.EditResponse(ctx, &x.Interaction, s.edit(), s.Files)
}

// pages shows all of a sheet.
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

// add says more, or gives files, below what is shown.
func (x *interaction) add(ctx context.Context, text string, files ...markdown.File) error {
	return x.rest.FollowUp(ctx, &x.Interaction, text, files)
}

// heard waits until all that came before is in the log.
func (x *interaction) waitLogged(ctx context.Context) error {
	select {
	case <-x.logged:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (x *interaction) guild() memory.GuildID { return memory.GuildID(x.Guild) }

// target is the message in whose menu a command is used, and where that was written; nil if Discord doesn't tell.
func (x *interaction) target() (m *discord.Message, channel memory.ChannelID) {
	m, channel = x.Data.Resolved.Messages[fmt.Sprint(int64(x.Data.Target))], memory.ChannelID(x.Channel)
	if m != nil && m.Channel != 0 { // a thread shows the message that it began from, which is elsewhere
		channel = memory.ChannelID(m.Channel)
	}
	return m, channel
}

// remembers reports whether what is said in a channel is remembered.
func (x *interaction) remembers(channel memory.ChannelID) bool {
	return x.policy.Remembers(x.server, channel)
}

// who is who uses it; 0 if Discord doesn't say.
func (x *interaction) who() memory.UserID {
	if u := x.Invoker(); u != nil {
		return memory.UserID(u.ID)
	}
	return 0
}

// roles are those of who uses it; nil if Discord doesn't say.
func (x *interaction) roles() []memory.RoleID {
	if x.Member == nil || x.Member.Roles == nil {
		return nil
	}
	return discord.RolesOf(x.Member)
}
