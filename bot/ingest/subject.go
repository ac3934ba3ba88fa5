package ingest

import "hark/memory"

// Subject is what an event is about, whatever its kind.
type Subject struct {
	Guild         memory.GuildID
	Channel       memory.ChannelID   // 0: the whole guild
	message       memory.MessageID   // posted or edited
	Deleted       []memory.MessageID // of the channel
	filtered      bool               // logged only where messages are remembered
	fromHark      bool               // Hark said it
	Told          bool               // it carries the whole guild
	Stated        bool               // it decides what counts of what admins stated of roles
	Ended         bool               // the channel or guild is gone
	affectsPolicy bool               // it may change what is remembered where
	affectsAccess bool               // it may change who may read
	person        memory.UserID      // whose roles it carries
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
	case memory.SettingChosen:
		if e.Key.States() {
			return Subject{Guild: e.Guild, Stated: true}
		}
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

// Ends reports whether a channel, or the parent that it is a thread of, is gone.
func (s Subject) Ends(guild memory.GuildID, channel, parent memory.ChannelID) bool {
	if s.Channel == 0 {
		return s.Ended && s.Guild == guild
	}
	return s.Ended && (s.Channel == channel || s.Channel == parent)
}
