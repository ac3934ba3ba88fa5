package discord

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/bwmarrin/discordgo"

	"hark/bot/locale"
	"hark/memory"
)

// The permissions that Hark needs beyond those for reading, and those that show who may change settings.
// https://discord.com/developers/docs/topics/permissions
const (
	ManageGuild    memory.Permissions = 1 << 5
	SendMessages   memory.Permissions = 1 << 11
	ManageMessages memory.Permissions = 1 << 13
	AttachFiles    memory.Permissions = 1 << 15
	SendInThreads  memory.Permissions = 1 << 38
)

// PermissionNames returns Discord's names of permissions, most important first.
func PermissionNames(l locale.Locale, of memory.Permissions) string {
	var names []string
	for _, p := range []struct {
		permission memory.Permissions
		name       string
	}{
		{memory.ViewChannel, l.Text("View Channels")},
		{memory.Connect, l.Text("Connect")},
		{SendMessages, l.Text("Send Messages")},
		{SendInThreads, l.Text("Send Messages in Threads")},
		{AttachFiles, l.Text("Attach Files")},
		{memory.ReadMessageHistory, l.Text("Read Message History")},
	} {
		if of.Has(p.permission) {
			names = append(names, p.name)
		}
	}
	return strings.Join(names, ", ")
}

// Grants asks Discord for Hark's permissions, and says what is missing.
type Grants struct {
	Client *Client
	Self   memory.UserID
	app    atomic.Int64 // the application's id, from READY
}

// Met records the application's id.
func (s *Grants) Met(app int64) { s.app.Store(app) }

// Link returns the address where admins grant what Hark needs and what is missing; "" before READY.
func (s *Grants) Link(guild memory.GuildID, missing memory.Permissions) string {
	app := s.app.Load()
	if app == 0 {
		return ""
	}
	return GrantURL(strconv.FormatInt(app, 10), guild, missing)
}

// Lacking says which permissions are missing in a channel and how to grant them; "" if none are.
func (s *Grants) Lacking(l locale.Locale, guild memory.GuildID, channel memory.ChannelID,
	missing memory.Permissions) string {
	if missing == 0 {
		return ""
	}
	return l.Text("⚠️ In <#%d> I lack: **%s**. Whoever manages this server can [give me that](<%s>); where a channel's own permissions take it away, allow it there.",
		channel, PermissionNames(l, missing), s.Link(guild, missing))
}

// In fetches Hark's permissions in a channel, and the channel's kind; ErrUnreadable if Hark can't see it.
func (s *Grants) In(ctx context.Context, guild memory.GuildID,
	channel memory.ChannelID) (memory.Permissions, memory.ChannelKind, error) {
	var at, parent Channel
	var g Guild
	var self Member
	err := s.Client.Channel(ctx, channel, &at)
	place, ok := ChannelOf(&at, guild)
	if err == nil && place.Kind.IsThread() {
		err = s.Client.Channel(ctx, place.Parent, &parent)
	}
	if err == nil {
		err = s.Parts(ctx, guild, &g, &self, nil)
	}
	if Denied(err) {
		err = ErrUnreadable
	}
	if err != nil {
		return 0, 0, err
	}
	rules := &place
	if ok && place.Kind.IsThread() {
		var above memory.Channel
		above, ok = ChannelOf(&parent, guild)
		rules = place.Rules(&above)
	}
	if !ok || rules == nil {
		return 0, place.Kind, nil
	}
	return s.May(&g, &self, rules), place.Kind, nil
}

// Parts fetches a guild, Hark as its member and, unless channels is nil, the channels.
func (s *Grants) Parts(ctx context.Context, id memory.GuildID, g *Guild, self *Member,
	channels *[]*Channel) error {
	err := s.Client.get(ctx, discordgo.EndpointGuild(id.String()), g)
	if err == nil && channels != nil {
		err = s.Client.get(ctx, discordgo.EndpointGuildChannels(id.String()), channels)
	}
	if err == nil {
		err = s.Client.get(ctx, discordgo.EndpointGuildMember(id.String(), s.Self.String()), self)
	}
	return err
}

// May returns Hark's permissions in a fetched guild's channel.
func (s *Grants) May(g *Guild, self *Member, at *memory.Channel) memory.Permissions {
	known := GuildOf(g)
	known.Self = s.Self
	return known.SelfPermissions(RolesOf(self), at)
}

// Need is a set of permissions by purpose.
type Need uint8

const (
	ToRead   Need = iota // messages and history
	ToAnswer             // and that as well
)

// Needed returns the permissions for it.
func (n Need) Needed(kind memory.ChannelKind) memory.Permissions {
	p := kind.Reading()
	switch {
	case n == ToRead:
	case kind.IsThread() || kind == memory.ForumChannel:
		p |= SendInThreads | AttachFiles
	default:
		p |= SendMessages | AttachFiles
	}
	return p
}

// Missing fetches which permissions Hark lacks in a channel.
func (s *Grants) Missing(ctx context.Context, guild memory.GuildID, channel memory.ChannelID,
	n Need) (memory.Permissions, error) {
	may, kind, err := s.In(ctx, guild, channel)
	if errors.Is(err, ErrUnreadable) {
		return memory.ViewChannel, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look what I may do in channel %d: %w", channel, err)
	}
	return n.Needed(kind) &^ may, nil
}

// invitePermissions are what the invitation asks for, most important first: all that Hark needs except Connect,
// which only private voice channels need.
var invitePermissions = []memory.Permissions{memory.ViewChannel, SendMessages, AttachFiles, memory.ReadMessageHistory,
	SendInThreads}

// missingPermissions returns the English names of the invitePermissions that have lacks.
func missingPermissions(have memory.Permissions) []string {
	var missing []string
	for _, p := range invitePermissions {
		if !have.Has(p) && !have.Has(memory.Administrator) {
			missing = append(missing, PermissionNames(locale.Locale{}, p))
		}
	}
	return missing
}

// InviteURL returns the address that invites the bot with the permissions it needs, or grants them where it is;
// guild 0 lets the user choose.
func InviteURL(app string, guild memory.GuildID) string { return GrantURL(app, guild, 0) }

// GrantURL is InviteURL with further permissions.
func GrantURL(app string, guild memory.GuildID, further memory.Permissions) string {
	sum := further
	for _, p := range invitePermissions {
		sum |= p
	}
	link := fmt.Sprintf("https://discord.com/oauth2/authorize?client_id=%s&scope=bot+applications.commands&permissions=%d", app, uint64(sum))
	if guild != 0 {
		link += "&guild_id=" + guild.String() + "&disable_guild_select=true"
	}
	return link
}
