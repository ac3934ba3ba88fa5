package command

import (
	"hark/memory"
	"hark/search"
)

// seesAll reports whether the user of x may read every channel. Others get names and numbers only of what they may
// read.
func (x *interaction) seesAll() bool { return x.Guild == 0 || x.May(memory.Administrator) }

// visibleGuild returns the guild without the channels that the user of x may not read, for lists and numbers. The
// interaction's own channel is always in it. A choice by name counts even if its channels are left out.
func (x *interaction) visibleGuild() *memory.Guild {
	if x.seesAll() {
		return x.server
	}
	seen := *x.server
	seen.Choice = choiceFor(x.server, x.policy)
	seen.Channels = search.Visible(x.server, x.who(), x.roles())
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

// visibleChannels returns the channels that numbers for the user of x are limited to; nil if they may read all.
func (x *interaction) visibleChannels() []memory.ChannelID {
	if x.seesAll() {
		return nil
	}
	return channelIDs(x.visibleGuild())
}

// visibleNote says that numbers count only what the user may read. It doesn't tell whether there is more.
func (x *interaction) visibleNote() string {
	if x.seesAll() {
		return ""
	}
	return x.Text("-# I count what you may read. What you may not read goes as well.")
}
