package discord

import (
	"slices"
	"strings"

	"hark/internal/chat"
	"hark/memory"
)

// RolesOf returns a member's roles.
func RolesOf(m *Member) []memory.RoleID {
	roles := make([]memory.RoleID, len(m.Roles))
	for i, r := range m.Roles {
		roles[i] = memory.RoleID(r)
	}
	return roles
}

// DisplayName returns u's name in the guild of m, or elsewhere if m is nil.
func DisplayName(u *User, m *Member) string {
	p := memory.Person{Username: memory.Clean(u.Username), Name: memory.Clean(u.GlobalName)}
	if m != nil {
		p.Nick = memory.Clean(m.Nick)
	}
	return p.DisplayName()
}

// GuildThreads are threads of a guild.
type GuildThreads struct {
	Guild   Snowflake  `json:"guild_id"`
	Threads []*Channel `json:"threads"`
}

// GuildOf converts a guild, without its channels.
func GuildOf(g *Guild) memory.Guild {
	guild := memory.Guild{
		ID:    memory.GuildID(g.ID),
		Name:  memory.Clean(g.Name),
		Owner: memory.UserID(g.Owner),
	}
	for _, r := range g.Roles {
		if r != nil {
			guild.Roles = append(guild.Roles, RoleOf(r))
		}
	}
	return guild
}

// RoleOf converts a role.
func RoleOf(r *Role) memory.Role {
	role := memory.Role{
		ID:          memory.RoleID(r.ID),
		Name:        memory.Clean(r.Name),
		Permissions: r.Permissions.set(),
	}
	if r.Tags != nil {
		role.Bot = memory.UserID(r.Tags.Bot)
	}
	return role
}

// channelKinds are the types of channels with messages, and categories. Nothing in other types is recalled.
// https://discord.com/developers/docs/resources/channel#channel-object-channel-types
var channelKinds = map[int]memory.ChannelKind{
	0:  memory.TextChannel,
	1:  memory.DirectChannel,
	2:  memory.VoiceChannel,
	4:  memory.CategoryChannel,
	5:  memory.TextChannel,  // announcements
	10: memory.PublicThread, // of announcements
	11: memory.PublicThread,
	12: memory.PrivateThread,
	13: memory.VoiceChannel, // stage
	15: memory.ForumChannel,
	16: memory.ForumChannel, // media
}

// obfuscated flags a channel that Hark may not view. Discord sends only its position and that @everyone may not
// view it.
// https://discord.com/developers/docs/resources/channel#channel-object-obfuscated-channels
const obfuscated = 1 << 17

// The types of overwrites.
const (
	overwriteRole   = 0
	overwriteMember = 1
)

// ChannelOf converts a channel; false for one that can't be used.
func ChannelOf(w *Channel, guild memory.GuildID) (memory.Channel, bool) {
	if w == nil {
		return memory.Channel{}, false
	}
	kind, ok := w.kind()
	if !ok || w.ID == 0 {
		return memory.Channel{}, false
	}
	ch := memory.Channel{
		ID:         memory.ChannelID(w.ID),
		Guild:      guild,
		Parent:     memory.ChannelID(w.Parent),
		Kind:       kind,
		Name:       memory.Clean(w.Name),
		AgeLimited: w.NSFW != nil && *w.NSFW,
	}
	ch.Tags = tagsOf(w, kind)
	if w.Flags&obfuscated != 0 {
		ch.Name = "" // the known name stays
	}
	if kind.IsThread() {
		ch.Owner = memory.UserID(w.Owner)
	}
	for _, o := range w.Overwrites {
		ow := memory.Overwrite{Allow: o.Allow.set(), Deny: o.Deny.set()}
		switch {
		case o.Type != nil && *o.Type == overwriteRole:
			ow.Role = memory.RoleID(o.ID)
		case o.Type != nil && *o.Type == overwriteMember:
			ow.User = memory.UserID(o.ID)
		default:
			return memory.Channel{}, false
		}
		ch.Overwrites = append(ch.Overwrites, ow)
	}
	return ch, true
}

// tagsOf converts a forum's tags, or a post's.
func tagsOf(w *Channel, kind memory.ChannelKind) []memory.Tag {
	var tags []memory.Tag
	switch {
	case kind == memory.ForumChannel:
		for _, t := range w.Offered {
			if t.ID != 0 {
				tags = append(tags, memory.Tag{ID: memory.TagID(t.ID), Name: memory.Clean(t.Name)})
			}
		}
	case kind.IsThread():
		for _, id := range w.Applied {
			if id != 0 {
				tags = append(tags, memory.Tag{ID: memory.TagID(id)})
			}
		}
	}
	return tags
}

// Kind returns what a model can tell of a file; empty: nothing.
func (a wireFile) Kind() memory.FileKind {
	kind, _, _ := strings.Cut(a.ContentType, ";")
	switch {
	case a.Waveform != "":
		return memory.VoiceFile
	case slices.Contains(chat.ImageTypes, kind):
		return memory.ImageFile
	}
	return ""
}

// Remembered converts a message's files.
func Remembered(all []wireFile) []memory.File {
	var files []memory.File
	for _, a := range all {
		f := memory.File{
			Name:        memory.Clean(a.Filename),
			Description: memory.Clean(a.Description),
			Kind:        a.Kind(),
		}
		if f.Kind != "" {
			f.ID = int64(a.ID)
		}
		files = append(files, f)
	}
	return files
}
