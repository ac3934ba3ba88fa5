package memory

import "time"

// ModeChosen is in which mode questions asked in a channel, and in its threads that have none of their own, are
// answered: the name of a mode, or "" if it is to be inferred from each question again. Of several the last by At holds.
type ModeChosen struct {
	Guild   GuildID
	Channel ChannelID
	Mode    string
	At      time.Time
}

func (ModeChosen) isEvent() {}

// ModeIn is the name of the mode that was chosen for a channel, for a thread without one that of its channel; "" if none was.
func (g *Guild) ModeIn(id ChannelID) string {
	c := g.channel(id)
	if c != nil && c.Mode == "" && c.Kind.IsThread() {
		c = g.channel(c.Parent)
	}
	if c == nil {
		return ""
	}
	return c.Mode
}
