package memory

// Choice is what has been decided about remembering a guild, a category, a channel or a thread.
type Choice uint8

const (
	Undecided      Choice = iota
	Remember              // everything
	RememberPublic        // of a guild: the channels that @everyone can read
	RememberChosen        // of a guild: the channels and categories that say Remember
	Ignore                // nothing
)

// Policy is what the operator has decided about remembering, for all guilds.
type Policy struct {
	Ask        bool // whether a guild that hasn't decided is to be asked first, rather than remembered
	AgeLimited bool // whether age-restricted channels are remembered like others
	Direct     bool // whether direct messages are remembered
}

// Remembers reports whether what is said in a channel of g is to be logged, and whether what was logged of it may be
// recalled. What was chosen for a thread, its channel or the category goes before what was chosen for the guild, the
// nearest first. A channel that isn't known is remembered only where
// everything is: it may be a thread of any other.
func (p Policy) Remembers(g *Guild, id ChannelID) bool {
	switch g.ID {
	case LocalGuild:
		return true
	case DirectGuild:
		return p.Direct
	}
	at := g.Channel(id)
	var rules *Channel // the one whose overwrites and age restriction count
	choice := Undecided
	// A thread lies in a channel, and that in a category: what claims to lie deeper may lie in itself.
	for c, depth := at, 0; c != nil && choice == Undecided && depth < 3; c, depth = g.Channel(c.Parent), depth+1 {
		choice = c.Choice
	}
	if rules = at; at != nil && at.Kind.IsThread() {
		rules = g.Channel(at.Parent)
	}
	switch {
	case choice == Ignore, choice == Undecided && rules == nil && g.restricts(p):
		return false
	case choice == Remember && (at.Choice == Remember || rules != nil && rules.Choice == Remember):
		return true // chosen by name, so also if it is age-restricted
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

// restricts reports whether any channel of g isn't remembered, so that one that isn't known may be a thread of it.
func (g *Guild) restricts(p Policy) bool {
	for i := range g.Channels {
		if c := &g.Channels[i]; c.Choice == Ignore || c.AgeLimited && !p.AgeLimited {
			return true
		}
	}
	return false
}

// Channel is a channel of g by its id, or nil.
func (g *Guild) Channel(id ChannelID) *Channel {
	for i := range g.Channels {
		if g.Channels[i].ID == id {
			return &g.Channels[i]
		}
	}
	return nil
}
