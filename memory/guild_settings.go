package memory

import (
	"fmt"
	"maps"
	"slices"
)

// Tells reports whether the guild agrees that a model tells of files of a kind in a channel.
func (g *Guild) Tells(channel ChannelID, kind FileKind) bool {
	value, _ := g.Setting(channel, SettingMedia)
	return value == MediaAll || value == MediaVoice && kind == VoiceFile || value == MediaPictures && kind == ImageFile
}

// ChosenBy names what a person chose that holds, by setting, role and channel: "mode", "mode in 5", "memory",
// "limit of 3".
func (g *Guild) ChosenBy(user UserID) (all []string) {
	add := func(where string, choice Choice, by UserID, set map[Setting]UserID) {
		if by == user && choice != Undecided {
			all = append(all, "memory"+where)
		}
		for _, key := range slices.Sorted(maps.Keys(set)) {
			if set[key] == user {
				all = append(all, string(key)+where)
			}
		}
	}
	add("", g.Choice, g.By, g.SetBy)
	for _, c := range g.Channels {
		add(fmt.Sprintf(" in %d", c.ID), c.Choice, c.By, c.SetBy)
	}
	for _, l := range g.Limits {
		if l.By == user {
			all = append(all, fmt.Sprintf("limit of %d", l.Role))
		}
	}
	return all
}

// MayHave reports whether some people can have a role and others not.
func (g *Guild) MayHave(role RoleID) bool {
	return role != RoleID(g.ID) && slices.ContainsFunc(g.Roles, func(r Role) bool { return r.ID == role && r.Bot == 0 })
}
