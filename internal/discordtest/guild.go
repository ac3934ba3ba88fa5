package discordtest

import (
	"cmp"
	"maps"
	"slices"
)

// Guild is what a test needs of a guild.
type Guild struct {
	ID      ID
	Name    string
	Owner   User
	BotRole Role // the managed role that came with the bot
}

type guild struct {
	Guild
	roles          []Role
	members        map[ID]*Member
	channels       []ID
	scheduled      []ScheduledEvent // by when it was changed
	unavailable    bool
	commandsDenied bool // the bot was invited without the commands scope
}

type channel struct {
	Channel
	messages          []*storedMessage
	lastMessageFrozen bool // last_message_id isn't updated
	typing            bool // the bot was typing
}

// change takes the lock. done wakes the waiters and releases it.
func (s *Server) change() (done func()) {
	s.mu.Lock()
	return func() {
		s.notify()
		s.mu.Unlock()
	}
}

// AddGuild makes a guild with an owner and the bot; @everyone and the bot's role have Everyday.
func (s *Server) AddGuild(name string) Guild {
	g := &guild{members: map[ID]*Member{}}
	defer s.change()()
	g.ID, g.Name = s.clock.nextID(), name
	g.Owner = *s.account(User{Username: "owner-of-" + g.ID.String()})
	g.BotRole = Role{ID: s.clock.nextID(), Name: s.Bot.Username, Permissions: Everyday, Position: 1, Managed: true,
		Tags: &roleTags{BotID: s.Bot.ID}}
	g.roles = []Role{{ID: g.ID, Name: "@everyone", Permissions: Everyday}, g.BotRole}
	s.guilds[g.ID] = g
	s.join(g, s.users[g.Owner.ID])
	s.join(g, s.users[s.Bot.ID], g.BotRole.ID)
	s.emitGuild(g.ID, "GUILD_CREATE", s.guildCreate(g))
	return g.Guild
}

// RemoveGuild removes the bot from the guild, like a kick.
func (s *Server) RemoveGuild(id ID) {
	defer s.change()()
	g := s.guild(id)
	for _, c := range g.channels {
		delete(s.channels, c)
	}
	delete(s.guilds, id)
	s.emitGuild(id, "GUILD_DELETE", object{"id": id})
}

// Outage makes the guild unavailable, or with over available again.
func (s *Server) Outage(id ID, over bool) {
	defer s.change()()
	g := s.guild(id)
	g.unavailable = !over
	if over {
		s.emitGuild(g.ID, "GUILD_CREATE", s.guildCreate(g))
		return
	}
	s.emitGuild(id, "GUILD_DELETE", object{"id": id, "unavailable": true})
}

// SetOwner makes a member the owner.
func (s *Server) SetOwner(id, member ID) {
	defer s.change()()
	g := s.guild(id)
	g.Owner = *s.member(g, member).User
	s.emitGuild(g.ID, "GUILD_UPDATE", s.guildObject(g))
}

// AddRole adds a role above the others.
func (s *Server) AddRole(guildID ID, name string, allow Permissions) Role {
	defer s.change()()
	g := s.guild(guildID)
	r := Role{ID: s.clock.nextID(), Name: name, Permissions: allow, Position: len(g.roles)}
	g.roles = append(g.roles, r)
	s.emitGuild(guildID, "GUILD_ROLE_CREATE", object{"guild_id": guildID, "role": r})
	return r
}

// UpdateRole changes a role.
func (s *Server) UpdateRole(guildID, roleID ID, edit func(*Role)) {
	defer s.change()()
	g := s.guild(guildID)
	r, before := s.role(g, roleID), s.visibleChannels(g)
	edit(r)
	s.emitGuild(guildID, "GUILD_ROLE_UPDATE", object{"guild_id": guildID, "role": *r})
	s.emitRevealed(g, before)
}

// RemoveRole removes a role and its overwrites.
func (s *Server) RemoveRole(guildID, roleID ID) {
	defer s.change()()
	g := s.guild(guildID)
	s.role(g, roleID)
	before := s.visibleChannels(g)
	g.roles = slices.DeleteFunc(g.roles, func(r Role) bool { return r.ID == roleID })
	for _, m := range g.members {
		m.Roles = slices.DeleteFunc(slices.Clone(m.Roles), func(r ID) bool { return r == roleID })
	}
	for _, id := range g.channels {
		c := s.channels[id]
		c.Overwrites = slices.DeleteFunc(slices.Clone(c.Overwrites), func(o Overwrite) bool {
			return o.ID == roleID
		})
	}
	s.emitGuild(guildID, "GUILD_ROLE_DELETE", object{"guild_id": guildID, "role_id": roleID})
	s.emitRevealed(g, before)
}

// AddMember adds a user to a guild. A user without an id is a new account.
func (s *Server) AddMember(guildID ID, u User, roles ...ID) User {
	defer s.change()()
	g := s.guild(guildID)
	for _, r := range roles {
		s.role(g, r)
	}
	account := s.account(u)
	u = *account
	m := s.join(g, account, roles...)
	s.emit(event{name: "GUILD_MEMBER_ADD", guild: guildID, intents: Members, payload: m.in(g.ID)})
	return u
}

// GuestFlag is a Member's flag who was invited to one voice channel.
const GuestFlag = 1 << 4

// AddGuest adds a new account to a guild as a guest of a voice channel.
func (s *Server) AddGuest(guildID ID, u User) User {
	defer s.change()()
	g := s.guild(guildID)
	account := s.account(u)
	m := s.join(g, account)
	m.Flags = GuestFlag
	s.emit(event{name: "GUILD_MEMBER_ADD", guild: guildID, intents: Members, payload: m.in(g.ID)})
	return *account
}

// RemoveMember removes a user from a guild.
func (s *Server) RemoveMember(guildID, userID ID) {
	defer s.change()()
	g := s.guild(guildID)
	m := s.member(g, userID)
	delete(g.members, userID)
	s.emit(event{name: "GUILD_MEMBER_REMOVE", guild: guildID, intents: Members,
		payload: object{"guild_id": guildID, "user": m.User}})
}

// UpdateMember changes a member, such as nickname or roles.
func (s *Server) UpdateMember(guildID, userID ID, edit func(*Member)) {
	defer s.change()()
	g := s.guild(guildID)
	m, before := s.member(g, userID), s.visibleChannels(g)
	m.Roles = slices.Clone(m.Roles)
	edit(m)
	for _, r := range m.Roles {
		s.role(g, r)
	}
	intents := Members
	if userID == s.Bot.ID { // a bot always gets its own
		intents = 0
	}
	s.emit(event{name: "GUILD_MEMBER_UPDATE", guild: guildID, intents: intents, payload: m.in(g.ID)})
	s.emitRevealed(g, before)
}

// AddChannel adds a channel, a category or a thread.
func (s *Server) AddChannel(guildID ID, c Channel) Channel {
	defer s.change()()
	g := s.guild(guildID)
	if c.ID == 0 {
		c.ID = s.clock.nextID()
	}
	c.GuildID, c.Position = guildID, len(g.channels)
	if c.Type.IsThread() {
		s.makeThread(g, &c)
	}
	s.channels[c.ID] = &channel{Channel: c}
	g.channels = append(g.channels, c.ID)
	s.emitChannel("CREATE", s.channels[c.ID])
	return c
}

// Channels returns the ids of a guild's channels, categories and threads.
func (s *Server) Channels(guildID ID) []ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.guild(guildID).channels)
}

func (s *Server) makeThread(g *guild, c *Channel) {
	if c.ParentID == nil {
		s.fatalf("thread %q needs a ParentID", c.Name)
	}
	s.channel(*c.ParentID)
	if c.OwnerID == 0 {
		c.OwnerID = g.Owner.ID
	}
	if !slices.Contains(c.Invited, c.OwnerID) {
		c.Invited = append(slices.Clone(c.Invited), c.OwnerID)
	}
	now, none, members := timestamp(s.clock.now), 0, len(c.Invited)
	c.Thread = &ThreadMetadata{ArchiveTimestamp: &now, AutoArchiveDuration: 1440}
	c.MessageCount, c.TotalSent, c.MemberCount = &none, &none, &members
}

// UpdateChannel changes a channel: its name, its parent, whether it is age-restricted, who is in a thread.
func (s *Server) UpdateChannel(id ID, edit func(*Channel)) {
	defer s.change()()
	c := s.channel(id)
	changed := c.Channel
	edit(&changed)
	if c.Type.IsThread() || c.GuildID == 0 {
		c.Channel = changed
		s.emitChannel("UPDATE", c)
		return
	}
	g := s.guild(c.GuildID)
	before := s.visibleChannels(g)
	if c.Channel = changed; before[id] || !s.botCanView(c) {
		s.emitChannel("UPDATE", c)
	}
	s.emitRevealed(g, before)
}

// SetOverwrite adds an overwrite to a channel, or replaces the one for the same role or member.
func (s *Server) SetOverwrite(channelID ID, o Overwrite) {
	s.UpdateChannel(channelID, func(c *Channel) {
		c.Overwrites = slices.DeleteFunc(slices.Clone(c.Overwrites), func(x Overwrite) bool { return x.ID == o.ID })
		c.Overwrites = append(c.Overwrites, o)
	})
}

// RemoveChannel deletes a channel and the threads in it.
func (s *Server) RemoveChannel(id ID) {
	defer s.change()()
	c := s.channel(id)
	g := s.guild(c.GuildID)
	for _, other := range slices.Clone(g.channels) {
		if o := s.channels[other]; o.Type.IsThread() && *o.ParentID == id {
			s.dropChannel(g, o)
		}
	}
	s.dropChannel(g, c)
}

func (s *Server) dropChannel(g *guild, c *channel) {
	s.emitChannel("DELETE", c)
	delete(s.channels, c.ID)
	g.channels = slices.DeleteFunc(g.channels, func(id ID) bool { return id == c.ID })
}

// obfuscated returns a channel as the gateway sends it: a hidden one with only its position and
// ViewChannel denied to everybody.
// https://discord.com/developers/docs/resources/channel#channel-object-obfuscated-channels
func (s *Server) obfuscated(c *channel) Channel {
	if c.Type.IsThread() || c.GuildID == 0 || s.botCanView(c) {
		return c.Channel
	}
	return Channel{ID: c.ID, Type: c.Type, GuildID: c.GuildID, ParentID: c.ParentID, Position: c.Position,
		Name: "___hidden___", Flags: c.Flags | 1<<17,
		Overwrites: []Overwrite{ForRole(c.GuildID, 0, ViewChannel)}}
}

// botCanView reports whether the bot may view a channel; a category, if it may view any channel in it.
func (s *Server) botCanView(c *channel) bool {
	if c.Type == Category {
		for _, in := range s.channels {
			if in.ParentID != nil && *in.ParentID == c.ID && s.botCanView(in) {
				return true
			}
		}
	}
	return s.permissions(c, s.Bot.ID).Has(ViewChannel)
}

// visibleChannels returns the guild's channels that the bot may view.
func (s *Server) visibleChannels(g *guild) map[ID]bool {
	seen := map[ID]bool{}
	for _, id := range g.channels {
		if c := s.channels[id]; !c.Type.IsThread() && s.botCanView(c) {
			seen[id] = true
		}
	}
	return seen
}

// emitRevealed sends the channels that became visible, with their threads. Discord sends nothing about hidden
// ones beyond the change itself.
func (s *Server) emitRevealed(g *guild, before map[ID]bool) {
	for _, id := range g.channels {
		c := s.channels[id]
		if c.Type.IsThread() || before[id] || !s.botCanView(c) {
			continue
		}
		s.emitGuild(g.ID, "CHANNEL_UPDATE", c.Channel)
		threads := []Channel{}
		for _, other := range g.channels {
			if t := s.channels[other]; t.Type.IsThread() && *t.ParentID == id && !t.Thread.Archived &&
				s.permissions(t, s.Bot.ID).Has(ViewChannel) {
				threads = append(threads, t.Channel)
			}
		}
		s.emitGuild(g.ID, "THREAD_LIST_SYNC", object{"guild_id": g.ID, "channel_ids": []ID{id}, "threads": threads,
			"members": []any{}})
	}
}

// emitChannel sends a channel event; of threads, and for deletions, only if the bot can see the channel.
func (s *Server) emitChannel(what string, c *channel) {
	e := event{name: "CHANNEL_" + what, guild: c.GuildID, intents: Guilds, payload: s.obfuscated(c)}
	if what == "DELETE" {
		e.channel = c
	}
	if c.Type.IsThread() {
		e.name, e.channel = "THREAD_"+what, c
		if what == "DELETE" {
			e.payload = object{"id": c.ID, "guild_id": c.GuildID, "parent_id": c.ParentID, "type": c.Type}
		}
	}
	s.emit(e)
}

// account makes a user's account.
func (s *Server) account(u User) *User {
	if u.ID == 0 {
		u.ID = s.clock.nextID()
	}
	if u.Discriminator == "" {
		u.Discriminator = "0"
	}
	s.users[u.ID] = &u
	return &u
}

func (s *Server) join(g *guild, u *User, roles ...ID) *Member {
	if roles == nil {
		roles = []ID{}
	}
	m := &Member{User: u, Roles: roles, JoinedAt: timestamp(s.clock.now)}
	g.members[u.ID] = m
	return m
}

// Name returns the name of a user, a channel, a role or a guild; "" for other ids.
func (s *Server) Name(id ID) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := s.users[id]; u != nil {
		return "@" + u.Username
	}
	if c := s.channels[id]; c != nil && c.Name != "" {
		return "#" + c.Name
	}
	if g := s.guilds[id]; g != nil {
		return g.Name
	}
	for _, g := range s.guilds {
		for _, r := range g.roles {
			if r.ID == id {
				return "@" + r.Name
			}
		}
	}
	return ""
}

func (s *Server) user(id ID) *User       { return known(s, "user", s.users, id) }
func (s *Server) guild(id ID) *guild     { return known(s, "guild", s.guilds, id) }
func (s *Server) channel(id ID) *channel { return known(s, "channel", s.channels, id) }

func (s *Server) member(g *guild, id ID) *Member {
	return known(s, "member of guild "+g.ID.String(), g.members, id)
}

// known returns the entry with an id, or ends the test.
func known[T any](s *Server, what string, all map[ID]*T, id ID) *T {
	if all[id] == nil {
		s.fatalf("there is no %s %d", what, id)
	}
	return all[id]
}

func (s *Server) role(g *guild, id ID) *Role {
	i := slices.IndexFunc(g.roles, func(r Role) bool { return r.ID == id })
	if i < 0 {
		s.fatalf("there is no role %d in guild %d", id, g.ID)
	}
	return &g.roles[i]
}

// sortedGuilds returns the bot's guilds by id.
func (s *Server) sortedGuilds() []*guild {
	return slices.SortedFunc(maps.Values(s.guilds), func(a, b *guild) int { return cmp.Compare(a.ID, b.ID) })
}
