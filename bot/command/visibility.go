package command

import (
	"hark/memory"
	"hark/search"
)

// seesAll reports whether whoever uses x may read every channel: of nothing else they are told names or
// numbers without looking who may read it.
func (x *interaction) seesAll() bool { return x.Guild == 0 || x.May(memory.Administrator) }

// seen is the guild as far as whoever uses x may read it, for lists and numbers. The channel that it is used
// in is always there. What was chosen by name counts as chosen although it may not be among what is left.
func (x *interaction) visibleGuild() *memory.Guild {
	if x.seesAll() {
		return x.server
	}
	seen := *x.server
	seen.Choice, seen.Channels = choiceFor(x.server, x.policy), search.Visible(x.server, x.who(), x.roles())
	for _, c := range x.server.Channels {
		if c.ID == memory.ChannelID(x.Channel) && seen.Channel(c.ID) == nil {
			seen.Channels = append(seen.Channels, c)
		}
	}
	return &seen
}

func channelIDs(g *memory.Guild) []memory.ChannelID {
	ids := make([]memory.ChannelID, len(g.Channels))
	for i := range g.Channels {
		ids[i] = g.Channels[i].ID
	}
	return ids
}

// within are the channels to which numbers are held for whoever uses x; nil if they may read all.
func (x *interaction) visibleChannels() []memory.ChannelID {
	if x.seesAll() {
		return nil
	}
	return channelIDs(x.visibleGuild())
}

// visibleNote says below numbers that they are of what whoever uses x may read: the same whether there is more or not.
func (x *interaction) visibleNote() string {
	if x.seesAll() {
		return ""
	}
	return x.Text("-# I count what you may read. What you may not read goes as well.")
}
