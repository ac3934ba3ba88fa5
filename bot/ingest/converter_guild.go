package ingest

import (
	"errors"
	"slices"

	"hark/bot/discord"
	"hark/memory"
	"hark/search"
)

func (c *converter) guildCreate(g *discord.Guild, out *converted) {
	if g.Unavailable || g.ID == 0 {
		return
	}
	if !g.IsWhole() || g.Channels == nil {
		c.guildUnknown(memory.GuildID(g.ID), out)
		return
	}
	delete(c.fetching, memory.GuildID(g.ID))
	guild := discord.GuildOf(g)
	guild.Self = c.self
	for _, role := range guild.Roles {
		c.ownRole(guild.ID, role)
	}
	out.plan = &catchUpPlan{
		guild:  guild.ID,
		whole:  true,
		listed: map[memory.ChannelID]bool{},
	}
	out.ready = guild.ID
	for _, w := range slices.Concat(g.Channels, g.Threads) {
		if w == nil {
			continue
		}
		w.Guild = g.ID
		ch, ok := discord.ChannelOf(w, guild.ID)
		if w.ID != 0 && !w.IsWhole() {
			guild.Channels = append(guild.Channels, memory.Channel{
				ID:       memory.ChannelID(w.ID),
				Guild:    guild.ID,
				Unplaced: true,
			})
			c.refetch(incomplete{guild.ID, memory.ChannelID(w.ID), 0}, out)
		} else if ok {
			delete(c.fetching, ch.ID)
			guild.Channels = append(guild.Channels, ch)
		}
		out.plan.listed[memory.ChannelID(w.ID)] = true
		if ok && (ch.Kind == memory.TextChannel || ch.Kind == memory.ForumChannel) {
			out.plan.parents = append(out.plan.parents, ch.ID)
		}
		if ok && w.Last != 0 && ch.Kind != memory.ForumChannel { // its last is a thread
			out.plan.channels = append(out.plan.channels, channelSnapshot{ch.ID, memory.MessageID(w.Last),
				ch.Kind.IsThread()})
		}
	}
	out.events = append(out.events, memory.GuildSeen{Guild: guild, At: c.now()})
	out.members = func(r *search.MemberRoles) { r.Open(guild.ID) }
	if g.Scheduled != nil {
		out.calendar = &calendar{
			guild: guild.ID,
			shown: c.shown(guild.ID, *g.Scheduled),
			whole: true,
		}
	}
	for _, m := range g.Members {
		if m != nil {
			c.saw(out, g.ID, m.User, m)
			c.person(out, guild.ID, m.User, m)
		}
	}
}

// ready lists Hark's guilds: others may have removed it during an absence.
func (c *converter) ready(w *wireReady, out *converted) {
	if w.Guilds == nil {
		out.err = errors.New("it doesn't say which servers there are")
		return
	}
	out.guilds = []memory.GuildID{}
	out.members = (*search.MemberRoles).Begin
	for _, g := range w.Guilds {
		out.guilds = append(out.guilds, memory.GuildID(g.ID))
	}
}

func (c *converter) resumed(_ *struct{}, out *converted) { out.members = (*search.MemberRoles).Resume }

type wireReady struct {
	Guilds []discord.Guild `json:"guilds"`
}

// guildDelete is a guild that removed Hark, or one with an outage.
func (c *converter) guildDelete(g *discord.Guild, out *converted) {
	out.members = func(r *search.MemberRoles) { r.Close(memory.GuildID(g.ID)) }
	switch {
	case g.ID == 0:
	case g.Unavailable:
		out.unavailable = memory.GuildID(g.ID)
	default:
		out.ready = memory.GuildID(g.ID)
		out.events = append(out.events, memory.GuildLeft{Guild: out.ready, At: c.now()})
	}
}

// guildUpdate carries everything except the channels.
func (c *converter) guildUpdate(g *discord.Guild, out *converted) {
	switch id := memory.GuildID(g.ID); {
	case g.Unavailable, id == 0:
	case !g.IsWhole():
		c.guildUnknown(id, out)
	default:
		c.changed(id)
		guild := discord.GuildOf(g)
		out.merge = &guild
	}
}

// fetched reads a fetched channel or guild. REST leaves nsfw out if it is false.
func (c *converter) fetched(f *fetched, out *converted) {
	if f.asChannel.NSFW == nil {
		f.asChannel.NSFW = new(bool)
	}
	switch {
	case c.isLate(f.incomplete, out):
	case f.channel != 0 && f.asChannel.IsWhole():
		c.channelSeen(f.asChannel, out)
	case f.channel == 0 && f.asGuild.IsWhole() && f.asGuild.Channels != nil:
		c.guildCreate(f.asGuild, out)
	default:
		out.err = errors.New("Discord's answer doesn't say who may read what")
	}
}

// withChannelsOf returns update with stored's channels.
func withChannelsOf(update memory.Guild, stored *memory.Guild) memory.Guild {
	update.Channels = nil
	for _, ch := range stored.Channels {
		if !ch.Unplaced {
			update.Channels = append(update.Channels, ch)
		}
	}
	return update
}

func (c *converter) channelSeen(w *discord.Channel, out *converted) {
	guild := memory.GuildID(w.Guild)
	id := memory.ChannelID(w.ID)
	if id == 0 {
		return
	}
	c.changed(guild)
	if !w.IsWhole() {
		c.channelUnknown(guild, id, out)
		return
	}
	delete(c.fetching, id)
	ch, ok := discord.ChannelOf(w, guild)
	if !ok {
		out.events = append(out.events, memory.ChannelGone{Guild: guild, Channel: id})
		return
	}
	out.events = append(out.events, memory.ChannelSeen{Channel: ch})
	if !ch.Kind.IsThread() || w.Last == 0 || w.New {
		return
	}
	if out.plan == nil { // it may have been archived or hidden
		out.plan = &catchUpPlan{guild: ch.Guild}
	}
	out.plan.channels = append(out.plan.channels, channelSnapshot{ch.ID, memory.MessageID(w.Last), true})
}

func (c *converter) channelDeleted(w *discord.Channel, out *converted) {
	if w.ID != 0 {
		c.changed(memory.GuildID(w.Guild))
		delete(c.fetching, memory.ChannelID(w.ID))
		out.events = append(out.events, memory.ChannelDeleted{
			Guild:   memory.GuildID(w.Guild),
			Channel: memory.ChannelID(w.ID),
			At:      c.now(),
		})
	}
}

func (c *converter) threadListSync(sync *discord.GuildThreads, out *converted) {
	for _, w := range sync.Threads {
		if w == nil {
			continue
		}
		w.Guild = sync.Guild
		c.channelSeen(w, out)
	}
}

type wireGuildRole struct {
	Guild  discord.Snowflake `json:"guild_id"`
	Role   *discord.Role     `json:"role"`
	RoleID discord.Snowflake `json:"role_id"`
}

func (c *converter) roleSeen(w *wireGuildRole, out *converted) {
	guild := memory.GuildID(w.Guild)
	c.changed(guild)
	if !w.Role.IsWhole() {
		c.guildUnknown(guild, out)
		return
	}
	role := discord.RoleOf(w.Role)
	c.ownRole(guild, role)
	out.events = append(out.events, memory.RoleSeen{Guild: guild, Role: role})
}

// ownRole keeps a role that only Hark has.
func (c *converter) ownRole(guild memory.GuildID, role memory.Role) {
	if role.Bot == c.self && c.self != 0 {
		c.ownRoles.Store(guild, role.ID)
	}
}

func (c *converter) roleGone(w *wireGuildRole, out *converted) {
	c.changed(memory.GuildID(w.Guild))
	out.events = append(out.events, memory.RoleGone{
		Guild: memory.GuildID(w.Guild), Role: memory.RoleID(w.RoleID)})
}

type wireGuildMember struct {
	Guild discord.Snowflake `json:"guild_id"`
	discord.Member
}

// memberSeen is about Hark itself and, with the Server Members intent, about everybody. Others aren't logged
// here, but when they write.
func (c *converter) memberSeen(w *wireGuildMember, out *converted) {
	c.saw(out, w.Guild, w.User, &w.Member)
	p, ok := personOf(&w.Member, w.Guild)
	switch {
	case !ok:
		out.err = errNoRoles
	case p.ID == c.self:
		c.person(out, p.Guild, w.User, &w.Member)
	default:
		out.met = append(out.met, seenMember{p, w.Joined})
		out.members = func(r *search.MemberRoles) { r.Changed(p) }
	}
}

var errNoRoles = errors.New("it doesn't say who has which roles")

// personOf returns a member with roles; false if those are missing.
func personOf(w *discord.Member, guild discord.Snowflake) (memory.Person, bool) {
	if w == nil || w.User == nil || w.User.ID == 0 || w.Roles == nil || guild == 0 {
		return memory.Person{}, false
	}
	return memory.Person{
		ID:         memory.UserID(w.User.ID),
		Guild:      memory.GuildID(guild),
		Bot:        w.User.Bot,
		RolesKnown: true,
		Roles:      discord.RolesOf(w),
	}, true
}

// memberLeft is also sent about Hark, along with its guild's removal.
func (c *converter) memberLeft(w *wireGuildMember, out *converted) {
	if w.User == nil || w.User.ID == 0 {
		out.err = errNoRoles
		return
	}
	guild := memory.GuildID(w.Guild)
	user := memory.UserID(w.User.ID)
	c.reported.Drop(personKey{guild, user, true})
	c.reported.Drop(personKey{guild, user, false})
	out.events = append(out.events, memory.PersonLeft{Guild: guild, User: user})
	out.members = func(r *search.MemberRoles) { r.Left(guild, user) }
}

// wireMembersChunk is a part of a guild's members.
type wireMembersChunk struct {
	Guild   discord.Snowflake `json:"guild_id"`
	Members []*discord.Member `json:"members"`
	Index   *int              `json:"chunk_index"`
	Of      int               `json:"chunk_count"`
	Nonce   string            `json:"nonce"`
}

func (c *converter) membersChunk(w *wireMembersChunk, out *converted) {
	var all []memory.Person
	for _, m := range w.Members {
		p, ok := personOf(m, w.Guild)
		if !ok {
			out.err = errNoRoles
			return
		}
		all = append(all, p)
		c.saw(out, w.Guild, m.User, m)
	}
	if w.Members == nil || w.Index == nil {
		out.err = errNoRoles
		return
	}
	out.members = func(r *search.MemberRoles) { r.AddChunk(memory.GuildID(w.Guild), w.Nonce, *w.Index, w.Of, all) }
}
