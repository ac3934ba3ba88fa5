package bot

import (
	"slices"

	"hark/memory"
)

// sighting is how far channels have come by Discord's account, from which it follows what was missed.
type sighting struct {
	guild memory.GuildID
	// whole says that it is all of the guild, after a time in which Hark wasn't told of it.
	whole    bool
	listed   map[memory.ChannelID]bool // all that Discord tells of, if it is whole
	channels []sighted
	parents  []memory.ChannelID // that may have threads in the archive, which the guild doesn't tell
}

// sighted is a channel whose past Hark may read.
type sighted struct {
	id     memory.ChannelID
	last   memory.MessageID // newest that was ever written there
	thread bool
}

// sight is how far the channels of a guild have come that Hark may read. Hark is among the members that the gateway tells.
func sight(w *wireGuild, g *memory.Guild) *sighting {
	s := &sighting{guild: g.ID, whole: true, listed: map[memory.ChannelID]bool{}}
	var roles []memory.RoleID
	for _, m := range w.Members {
		if m != nil && m.User != nil && memory.UserID(m.User.ID) == g.Self {
			roles = rolesOf(m)
		}
	}
	channels := map[memory.ChannelID]*memory.Channel{}
	for _, w := range slices.Concat(w.Channels, w.Threads) {
		if w == nil {
			continue
		}
		s.listed[memory.ChannelID(w.ID)] = true
		ch, ok := channelOf(w, g.ID)
		if !ok || ch.Kind == memory.CategoryChannel {
			continue
		}
		channels[ch.ID] = &ch
		rules := ch.Rules(channels[ch.Parent])
		if rules == nil || !g.SelfPermissions(roles, rules).Has(rules.Kind.Reading()) {
			continue
		}
		if ch.Kind == memory.TextChannel || ch.Kind == memory.ForumChannel {
			s.parents = append(s.parents, ch.ID)
		}
		if w.Last != 0 && ch.Kind != memory.ForumChannel { // whose last is a thread
			s.channels = append(s.channels, sighted{ch.ID, memory.MessageID(w.Last), ch.Kind.IsThread()})
		}
	}
	return s
}
