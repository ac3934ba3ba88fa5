package ingest

import "hark/memory"

// Subject is what an event is about. Whoever follows what happens asks it rather than what kind of event there is.
type Subject struct {
	Guild         memory.GuildID
	Channel       memory.ChannelID   // 0 if it is about all of the guild
	message       memory.MessageID   // that was said or edited
	Deleted       []memory.MessageID // of the channel
	filtered      bool               // it is logged only where that is remembered
	fromHark      bool               // Hark said it
	Told          bool               // it tells all of the guild
	Ended         bool               // the channel or the guild isn't there any more
	affectsPolicy bool               // it may change what is remembered
	affectsAccess bool               // it may change who may read there
	person        memory.UserID      // whose roles it tells
}

func subjectOf(e memory.Event) Subject {
	switch e := e.(type) {
	case memory.Posted:
		return Subject{Guild: e.Message.Guild, Channel: e.Message.Channel, message: e.Message.ID, filtered: true,
			fromHark: e.Message.Kind == memory.FromHark}
	case memory.Edited:
		return Subject{Guild: e.Guild, Channel: e.Channel, message: e.ID, filtered: true}
	case memory.Answered:
		return Subject{Guild: e.Trace.Guild, Channel: e.Trace.Channel, filtered: true}
	case memory.Called:
		return Subject{Guild: e.Record.Guild, Channel: e.Record.Channel, filtered: true}
	case memory.Deleted:
		return Subject{Guild: e.Guild, Channel: e.Channel, Deleted: e.IDs}
	case memory.ChannelSeen:
		return Subject{Guild: e.Channel.Guild, Channel: e.Channel.ID,
			affectsPolicy: e.Channel.Guild != memory.DirectGuild, affectsAccess: true}
	case memory.ChannelGone:
		return Subject{Guild: e.Guild, Channel: e.Channel, affectsPolicy: true}
	case memory.ChannelDeleted:
		return Subject{Guild: e.Guild, Channel: e.Channel, affectsPolicy: true, Ended: true}
	case memory.GuildSeen:
		return Subject{Guild: e.Guild.ID, Told: true, affectsPolicy: true, affectsAccess: true}
	case memory.GuildLeft:
		return Subject{Guild: e.Guild, affectsPolicy: true, Ended: true}
	case memory.RoleSeen:
		return Subject{Guild: e.Guild, affectsPolicy: true, affectsAccess: true}
	case memory.RoleGone:
		return Subject{Guild: e.Guild, affectsPolicy: true, affectsAccess: true}
	case memory.PersonSeen:
		return Subject{Guild: e.Person.Guild, person: e.Person.ID}
	case memory.Chose:
		return Subject{Guild: e.Guild, affectsPolicy: true}
	}
	return Subject{}
}

func subjectsOf(events []memory.Event) []Subject {
	all := make([]Subject, len(events))
	for i, e := range events {
		all[i] = subjectOf(e)
	}
	return all
}

// Ends reports whether a channel, which may be a thread of parent, is there no longer.
func (s Subject) Ends(guild memory.GuildID, channel, parent memory.ChannelID) bool {
	if s.Channel == 0 {
		return s.Ended && s.Guild == guild
	}
	return s.Ended && (s.Channel == channel || s.Channel == parent)
}
