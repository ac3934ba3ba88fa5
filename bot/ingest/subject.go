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
	var s Subject
	s.Guild, s.Channel = e.Place()
	switch e := e.(type) {
	case memory.Posted:
		s.message = e.Message.ID
		s.filtered = true
		s.fromHark = e.Message.Kind == memory.FromHark
	case memory.Edited:
		s.message = e.ID
		s.filtered = !e.Unlogged
	case memory.Answered, memory.Recorded:
		s.filtered = true
	case memory.Deleted:
		s.Deleted = e.IDs
	case memory.ChannelSeen:
		s.affectsPolicy = e.Channel.Guild != memory.DirectGuild
		s.affectsAccess = true
	case memory.ChannelGone, memory.Chose:
		s.affectsPolicy = true
	case memory.ChannelDeleted, memory.GuildLeft:
		s.affectsPolicy = true
		s.Ended = true
	case memory.GuildSeen:
		s.Told = true
		s.affectsPolicy = true
		s.affectsAccess = true
	case memory.RoleSeen, memory.RoleGone:
		s.affectsPolicy = true
		s.affectsAccess = true
	case memory.PersonSeen:
		s.person = e.Person.ID
	case memory.SettingChosen:
		s.Stated = e.Key.States()
	default:
		return Subject{}
	}
	return s
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
