package bot

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"hark/bot/locale"
	"hark/memory"
)

// The permissions that Hark needs besides those that decide who reads what.
const attachFiles memory.Permissions = 1 << 15

// permissionNames are what Discord calls permissions, the one first without which nothing is of use.
func permissionNames(l locale.Locale, of memory.Permissions) string {
	var names []string
	for _, p := range []struct {
		permission memory.Permissions
		name       string
	}{
		{memory.ViewChannel, l.Text("View Channels")},
		{memory.Connect, l.Text("Connect")},
		{sendMessages, l.Text("Send Messages")},
		{sendInThreads, l.Text("Send Messages in Threads")},
		{attachFiles, l.Text("Attach Files")},
		{memory.ReadMessageHistory, l.Text("Read Message History")},
	} {
		if of.Has(p.permission) {
			names = append(names, p.name)
		}
	}
	return strings.Join(names, ", ")
}

// grantLink is where those who manage a guild give Hark all that it needs there, with what is missing; ""
// while Discord hasn't told who Hark is.
func (b *Bot) grantLink(guild memory.GuildID, missing memory.Permissions) string {
	app := b.app.Load()
	if app == 0 {
		return ""
	}
	return inviteURL(strconv.FormatInt(app, 10), guild, missing)
}

// lacking names what Hark may not do in a channel and needs, and says how it is given; "" if nothing is missing.
func (b *Bot) lacking(l locale.Locale, guild memory.GuildID, channel memory.ChannelID, missing memory.Permissions) string {
	if missing == 0 {
		return ""
	}
	return l.Text("⚠️ In <#%d> I lack: **%s**. Whoever manages this server can [give me that](<%s>); where a channel's own permissions take it away, allow it there.",
		channel, permissionNames(l, missing), b.grantLink(guild, missing))
}

// permissionsIn asks Discord what Hark may do in a channel of a guild, and of what kind that is; errUnreadable if it
// isn't shown it.
func (b *Bot) permissionsIn(
	ctx context.Context, guild memory.GuildID, channel memory.ChannelID,
) (memory.Permissions, memory.ChannelKind, error) {
	var at, parent wireChannel
	var g wireGuild
	var self wireMember
	err := b.rest.get(ctx, discordgo.EndpointChannel(channel.String()), &at)
	place, ok := channelOf(&at, guild)
	if err == nil && place.Kind.IsThread() {
		err = b.rest.get(ctx, discordgo.EndpointChannel(place.Parent.String()), &parent)
	}
	if err == nil {
		err = b.guildParts(ctx, guild, &g, &self, nil)
	}
	if denied(err) {
		err = errUnreadable
	}
	if err != nil {
		return 0, 0, err
	}
	rules := &place
	if ok && place.Kind.IsThread() {
		var above memory.Channel
		above, ok = channelOf(&parent, guild)
		rules = place.Rules(&above)
	}
	if !ok || rules == nil {
		return 0, place.Kind, nil
	}
	return b.mayIn(&g, &self, rules), place.Kind, nil
}

// guildParts asks Discord for a guild, for Hark as its member and, unless channels is nil, for its channels.
func (b *Bot) guildParts(ctx context.Context, id memory.GuildID, g *wireGuild, self *wireMember,
	channels *[]*wireChannel) error {
	err := b.rest.get(ctx, discordgo.EndpointGuild(id.String()), g)
	if err == nil && channels != nil {
		err = b.rest.get(ctx, discordgo.EndpointGuildChannels(id.String()), channels)
	}
	if err == nil {
		err = b.rest.get(ctx, discordgo.EndpointGuildMember(id.String(), b.self.String()), self)
	}
	return err
}

// mayIn is what Hark may do in a channel of a guild as Discord tells them.
func (b *Bot) mayIn(g *wireGuild, self *wireMember, at *memory.Channel) memory.Permissions {
	known := guildOf(g)
	known.Self = b.self
	return known.SelfPermissions(rolesOf(self), at)
}

// need is what Hark needs in a channel of that kind.
type need uint8

const (
	toRead   need = iota // what is said there, and was
	toAnswer             // and that
)

// needed are the permissions for it.
func (n need) needed(kind memory.ChannelKind) memory.Permissions {
	p := kind.Reading()
	switch {
	case n == toRead:
	case kind.IsThread() || kind == memory.ForumChannel:
		p |= sendInThreads | attachFiles
	default:
		p |= sendMessages | attachFiles
	}
	return p
}

// missing is what Hark lacks in a channel for a need, as Discord tells it now.
func (b *Bot) missing(ctx context.Context, guild memory.GuildID, channel memory.ChannelID,
	n need) (memory.Permissions, error) {
	may, kind, err := b.permissionsIn(ctx, guild, channel)
	if errors.Is(err, errUnreadable) {
		return memory.ViewChannel, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look what I may do in channel %d: %w", channel, err)
	}
	return n.needed(kind) &^ may, nil
}

// missingFor is missing for whoever uses an exchange. Of the channel that it is used in the use itself tells.
func (c *commands) missingFor(ctx context.Context, x *exchange, at memory.Channel, n need) (memory.Permissions, error) {
	if at.Kind == memory.CategoryChannel {
		return 0, nil
	}
	if told := memory.Permissions(x.AppPermissions); told != 0 && at.ID == memory.ChannelID(x.Channel) {
		if told.Has(memory.Administrator) {
			return 0, nil
		}
		return n.needed(at.Kind) &^ told, nil
	}
	return c.bot.missing(ctx, x.guild(), at.ID, n)
}

// logLack logs, once an hour for a channel, that something can't be done there, with what is missing and
// where it is given.
func (b *Bot) logLack(ctx context.Context, guild memory.GuildID, channel memory.ChannelID, err error, what string) {
	if b.isMute(channel) {
		return
	}
	line := b.log.Warn().Err(err).Int64("channel", int64(channel))
	if missing, failed := b.missing(ctx, guild, channel, toAnswer); failed == nil && missing != 0 &&
		guild != memory.DirectGuild {
		line = line.Str("missing", permissionNames(locale.Locale{}, missing)).Str("grant", b.grantLink(guild, missing))
	}
	line.Msg(what + "; not said again for an hour")
}

// noFiles is what stands below an answer of which Discord didn't take the files, where Hark may send none:
// once an hour for a channel, as the log says it.
func (b *Bot) noFiles(ctx context.Context, a *ask, err error) string {
	if a.guild == memory.DirectGuild {
		return ""
	}
	missing, failed := b.missing(ctx, a.guild, a.channel, toAnswer)
	if failed != nil || !missing.Has(attachFiles) || b.isMute(a.channel) {
		return ""
	}
	b.log.Warn().Err(err).Int64("channel", int64(a.channel)).Str("missing",
		permissionNames(locale.Locale{}, missing)).Str("grant", b.grantLink(a.guild, missing)).
		Msg("may not attach files where it was asked, so code stands in the answer; not said again for an hour")
	return "-# " + b.lacking(b.localeIn(ctx, a.guild, a.channel), a.guild, a.channel, missing)
}
