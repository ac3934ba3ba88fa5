package discordtest

import "slices"

const allPermissions Permissions = 1<<53 - 1

// permissions returns a member's permissions in a channel by Discord's rules: all that matter in direct
// messages, none outside the guild.
func (s *Server) permissions(c *channel, user ID) Permissions {
	if c.Type == Direct {
		if user == s.Bot.ID || slices.ContainsFunc(c.Recipients, func(u User) bool { return u.ID == user }) {
			return allPermissions &^ Administrator
		}
		return 0
	}
	g := s.guilds[c.GuildID]
	if g == nil || g.members[user] == nil {
		return 0
	}
	base := g.base(user)
	if base.Has(Administrator) {
		return allPermissions
	}
	place := c
	if c.Type.IsThread() {
		place = s.channels[*c.ParentID]
	}
	p := applyOverwrites(base, place.Overwrites, g, user)
	if c.Type == PrivateThread && !slices.Contains(c.Invited, user) && !p.Has(ManageThreads) {
		return 0
	}
	if !p.Has(ViewChannel) {
		return 0
	}
	return p
}

// base returns what a member's roles allow in the guild.
func (g *guild) base(user ID) Permissions {
	if user == g.Owner.ID {
		return allPermissions
	}
	var p Permissions
	for _, r := range g.roles {
		if r.ID == g.ID || slices.Contains(g.members[user].Roles, r.ID) {
			p |= r.Permissions
		}
	}
	return p
}

// applyOverwrites applies a channel's overwrites in Discord's order: @everyone's, the roles' denials, the
// roles' allowances, the member's own.
func applyOverwrites(p Permissions, overwrites []Overwrite, g *guild, user ID) Permissions {
	var deny, allow Permissions
	var own Overwrite
	for _, o := range overwrites {
		switch {
		case o.ID == g.ID:
			p = p&^o.Deny | o.Allow
		case o.Type == 1 && o.ID == user:
			own = o
		case o.Type == 0 && slices.Contains(g.members[user].Roles, o.ID):
			deny |= o.Deny
			allow |= o.Allow
		}
	}
	p = p&^deny | allow
	return p&^own.Deny | own.Allow
}

// sendPermission is the permission to write in the channel.
func (t ChannelType) sendPermission() Permissions {
	if t.IsThread() {
		return SendMessagesInThreads
	}
	return SendMessages
}

// commandPermission is the key of a guild's permission for a command.
type commandPermission struct {
	guild, who ID // a role, or a person
	command    string
}

// SetCommandPermission sets, as in a guild's integration settings, whether a role or a user may use a command.
// The guild's id is everybody. Otherwise the command's own default applies.
func (s *Server) SetCommandPermission(guildID, roleOrUser ID, command string, may bool) {
	defer s.change()()
	s.commandPermissions[commandPermission{guildID, roleOrUser, command}] = may
}

// getCommandPermissions tells what a guild decided, by command.
func (s *Server) getCommandPermissions(c *call) reply {
	s.ownApp(c)
	g := c.id("guild")
	of := map[ID][]object{}
	for p, may := range s.commandPermissions {
		if p.guild != g {
			continue
		}
		kind := 1
		if s.users[p.who] != nil {
			kind = 2
		}
		for _, where := range []ID{g, 0} {
			for _, cmd := range s.commands[where] {
				if cmd.Name == p.command {
					of[cmd.ID] = append(of[cmd.ID], object{"id": p.who, "type": kind, "permission": may})
				}
			}
		}
	}
	all := []object{}
	for id, permissions := range of {
		all = append(all, object{"id": id, "application_id": s.AppID, "guild_id": g, "permissions": permissions})
	}
	return ok(all)
}

// LetAllUseCommands has Discord pass on uses of commands that it should refuse.
func (s *Server) LetAllUseCommands() {
	defer s.change()()
	s.letsAll = true
}

// CanUseCommand reports whether a user may use a slash command in a channel.
func (s *Server) CanUseCommand(channelID, user ID, command string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channelID)
	return s.mayUse(c, user, s.registered(c.GuildID, command, slashCommand))
}

// mayUse follows Discord: the user's permission comes before those of their roles, where
// one that allows is enough, and those before everybody's. Administrators always may.
// https://support.discord.com/hc/en-us/articles/4644915651095-Command-Permissions
func (s *Server) mayUse(c *channel, user ID, cmd *command) bool {
	g := s.guilds[c.GuildID]
	if g == nil {
		return true
	}
	has := s.permissions(c, user)
	if has.Has(Administrator) {
		return true
	}
	if may, decided := s.commandPermissions[commandPermission{g.ID, user, cmd.Name}]; decided {
		return may
	}
	decided := false
	for _, role := range s.member(g, user).Roles {
		may, of := s.commandPermissions[commandPermission{g.ID, role, cmd.Name}]
		if of && may {
			return true
		}
		decided = decided || of
	}
	if decided {
		return false
	}
	if may, of := s.commandPermissions[commandPermission{g.ID, g.ID, cmd.Name}]; of {
		return may
	}
	return cmd.Perms == nil || *cmd.Perms != 0 && has.Has(*cmd.Perms)
}
