package discordtest

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
