package memory

// Policy is the operator's decision what to remember.
type Policy struct {
	Ask        bool // ask undecided guilds, instead of remembering them
	AgeLimited bool // remember age-restricted channels like others
	Direct     bool // remember direct messages
}

// Remembers reports whether messages in a channel of g are logged and may be recalled. The nearest choice
// (for a thread, its channel or the category) overrides the guild's. An unknown channel may be a thread of
// any, so it is remembered only if every channel is.
func (p Policy) Remembers(g *Guild, id ChannelID) bool {
	switch g.ID {
	case LocalGuild:
		return true
	case DirectGuild:
		return p.Direct
	}
	at := g.Channel(id)
	rules := at // whose overwrites and age restriction count
	if at != nil && at.Kind.IsThread() {
		rules = g.Channel(at.Parent)
	}
	choice := Undecided
	// Thread, channel, category: anything deeper may be a cycle.
	c := at
	for depth := 0; c != nil && choice == Undecided && depth < 3; depth++ {
		choice = c.Choice
		c = g.Channel(c.Parent)
	}
	switch {
	case choice == Ignore, choice == Undecided && rules == nil && g.restricts(p):
		return false
	case choice == Remember && (at.Choice == Remember || rules != nil && rules.Choice == Remember):
		return true // chosen by name, so even if age-restricted
	case rules != nil && rules.AgeLimited && !p.AgeLimited:
		return false
	case choice == Remember:
		return true
	}
	switch g.Choice {
	case Undecided:
		return !p.Ask
	case Remember:
		return true
	case RememberPublic:
		return g.IsPublic(id)
	}
	return false
}

// RemembersGuild reports whether what all members of g may see is remembered, such as its calendar.
func (p Policy) RemembersGuild(g *Guild) bool {
	if g.Choice == Undecided {
		return !p.Ask
	}
	return g.Choice == Remember || g.Choice == RememberPublic
}

// restricts reports whether any channel of g isn't remembered.
func (g *Guild) restricts(p Policy) bool {
	for i := range g.Channels {
		if c := &g.Channels[i]; c.Choice == Ignore || c.AgeLimited && !p.AgeLimited {
			return true
		}
	}
	return false
}
