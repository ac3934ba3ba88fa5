package discordtest

// use is what a guild has decided, in its settings of integrations, about who may use a command.
type commandPermission struct {
	guild, who ID // a role, or a person
	command    string
}

// LetUse decides, as in a guild's settings of integrations, whether a command may be used by whoever has a
// role, which for everybody is the guild's id, or by a person. What isn't decided follows from the
// permissions that the command itself asks for.
func (s *Server) LetUse(guildID, roleOrUser ID, command string, may bool) {
	defer s.change()()
	s.commandPermissions[commandPermission{guildID, roleOrUser, command}] = may
}

// Shows reports whether Discord lets somebody use a slash command in a channel.
func (s *Server) Shows(channelID, user ID, command string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channelID)
	return s.mayUse(c, user, s.registered(c.GuildID, command, slashCommand))
}

// mayUse is the rule of Discord's: what is decided of a person comes before what is of their roles, of which
// one that may is enough, and that before what is of everybody. Administrators may always.
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
