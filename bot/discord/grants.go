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

// PermissionNames are what Discord calls permissions, the one first without which nothing is of use.
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

// Grants asks Discord what Hark may do, and says what it lacks.
type Grants struct {
	Client *Client
	Self   memory.UserID
	app    atomic.Int64 // the application's id, which READY tells
}

// Met notes the id of the application.
func (s *Grants) Met(app int64) { s.app.Store(app) }

// Link is where those who manage a guild give Hark all that it needs there, with what is missing; ""
// while Discord hasn't told who Hark is.
func (s *Grants) Link(guild memory.GuildID, missing memory.Permissions) string {
	app := s.app.Load()
	if app == 0 {
		return ""
	}
	return GrantURL(strconv.FormatInt(app, 10), guild, missing)
}

// Lacking names what Hark may not do in a channel and needs, and says how it is given; "" if nothing is missing.
func (s *Grants) Lacking(l locale.Locale, guild memory.GuildID, channel memory.ChannelID,
	missing memory.Permissions) string {
	if missing == 0 {
		return ""
	}
	return l.Text("⚠️ In <#%d> I lack: **%s**. Whoever manages this server can [give me that](<%s>); where a channel's own permissions take it away, allow it there.",
		channel, PermissionNames(l, missing), s.Link(guild, missing))
}

// In asks Discord what Hark may do in a channel of a guild, and of what kind that is; errUnreadable if it
// isn't shown it.
func (s *Grants) In(
	ctx context.Context, guild memory.GuildID, channel memory.ChannelID,
) (memory.Permissions, memory.ChannelKind, error) {
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

// Parts asks Discord for a guild, for Hark as its member and, unless channels is nil, for its channels.
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

// May is what Hark may do in a channel of a guild as Discord tells them.
func (s *Grants) May(g *Guild, self *Member, at *memory.Channel) memory.Permissions {
	known := GuildOf(g)
	known.Self = s.Self
	return known.SelfPermissions(RolesOf(self), at)
}

// Need is what Hark needs in a channel of that kind.
type Need uint8

const (
	ToRead   Need = iota // what is said there, and was
	ToAnswer             // and that
)

// Needed are the permissions for it.
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

// Missing is what Hark lacks in a channel for a need, as Discord tells it now.
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
