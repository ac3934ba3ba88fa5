package bot

import "hark/memory"

// subject is what an event is about. Whoever follows what happens asks it rather than what kind of event there is.
type subject struct {
	guild   memory.GuildID
	channel memory.ChannelID   // 0 if it is about all of the guild
	message memory.MessageID   // that was said or edited
	deleted []memory.MessageID // of the channel
	said    bool               // it is logged only where that is remembered
	ours    bool               // Hark said it
	told    bool               // it tells all of the guild
	ended   bool               // the channel or the guild isn't there any more
	decides bool               // it may change what is remembered
	shuts   bool               // it may change who may read there
	person  memory.UserID      // whose roles it tells
}

func subjectOf(e memory.Event) subject {
	switch e := e.(type) {
	case memory.Posted:
		return subject{guild: e.Message.Guild, channel: e.Message.Channel, message: e.Message.ID, said: true,
			ours: e.Message.Kind == memory.FromHark}
	case memory.Edited:
		return subject{guild: e.Guild, channel: e.Channel, message: e.ID, said: true}
	case memory.Answered:
		return subject{guild: e.Trace.Guild, channel: e.Trace.Channel, said: true}
	case memory.Called:
		return subject{guild: e.Record.Guild, channel: e.Record.Channel, said: true}
	case memory.Deleted:
		return subject{guild: e.Guild, channel: e.Channel, deleted: e.IDs}
	case memory.ChannelSeen:
		return subject{guild: e.Channel.Guild, channel: e.Channel.ID,
			decides: e.Channel.Guild != memory.DirectGuild, shuts: true}
	case memory.ChannelGone:
		return subject{guild: e.Guild, channel: e.Channel, decides: true}
	case memory.ChannelDeleted:
		return subject{guild: e.Guild, channel: e.Channel, decides: true, ended: true}
	case memory.GuildSeen:
		return subject{guild: e.Guild.ID, told: true, decides: true, shuts: true}
	case memory.GuildLeft:
		return subject{guild: e.Guild, decides: true, ended: true}
	case memory.RoleSeen:
		return subject{guild: e.Guild, decides: true, shuts: true}
	case memory.RoleGone:
		return subject{guild: e.Guild, decides: true, shuts: true}
	case memory.PersonSeen:
		return subject{guild: e.Person.Guild, person: e.Person.ID}
	case memory.Chose:
		return subject{guild: e.Guild, decides: true}
	}
	return subject{}
}

func subjectsOf(events []memory.Event) []subject {
	all := make([]subject, len(events))
	for i, e := range events {
		all[i] = subjectOf(e)
	}
	return all
}

// ends reports whether a channel, which may be a thread of parent, is there no longer.
func (s subject) ends(guild memory.GuildID, channel, parent memory.ChannelID) bool {
	if s.channel == 0 {
		return s.ended && s.guild == guild
	}
	return s.ended && (s.channel == channel || s.channel == parent)
}
