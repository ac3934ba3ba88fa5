package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Setting is the key of what a guild's admins can set about answers, for the guild or for a channel of it.
type Setting string

// The settings there are. What their values mean, and which there may be, is known where answers are made: a
// store keeps any key and value.
const (
	SettingModel       Setting = "model"
	SettingPersona     Setting = "persona"
	SettingTemperature Setting = "temperature"
	SettingTools       Setting = "tools"
	SettingMode        Setting = "mode"
	SettingLanguage    Setting = "language"
)

// The settings that aren't about how answers are made.
const (
	SettingTimezone Setting = "timezone" // of a guild: the zone of the times that Hark speaks of, by its IANA name
	// of a guild: "on", or the time until which Hark answers nobody there, as RFC 3339 has it
	SettingPaused Setting = "paused"
	// of a channel, or of a guild for those without: "off" where Hark answers nobody
	SettingAnswers Setting = "answers"
	// of a channel, or of a guild for those without: how long messages are remembered, as ParseRetention
	// reads it; see Guild.Retention
	SettingRetention Setting = "retention"
	// of a channel: the last message of its past that was still to be fetched when that was stopped; see
	// StopPast
	SettingPast     Setting = "past"
	SettingExpiring Setting = "expiring" // of a guild: what waits to be forgotten because of its age; see Expiring
	// of a guild: where its notice about what is remembered is, and which words it has, as the bot that keeps
	// it wrote that
	SettingNotice Setting = "notice"
)

// AnswerSettings are the keys about how answers are made, in the order in which they are told.
func AnswerSettings() []Setting {
	return []Setting{SettingModel, SettingPersona, SettingTemperature, SettingTools, SettingMode, SettingLanguage}
}

// Settings are all keys that admins set, in the order in which they are told.
func Settings() []Setting {
	return append(AnswerSettings(), SettingTimezone, SettingPaused, SettingAnswers, SettingRetention)
}

// OfGuild reports whether a key is set for whole guilds only. What is set of it for a channel counts nowhere.
func (s Setting) OfGuild() bool { return s == SettingTimezone || s == SettingPaused }

// StaysWithChannel reports whether a key that was set for a channel stays when all that was said there is
// forgotten, unless the channel was deleted: what says whether Hark speaks and how long it remembers there,
// and is nobody's words.
func (s Setting) StaysWithChannel() bool { return s == SettingAnswers || s == SettingRetention }

// SettingChosen is what a setting is from now on, in a channel and its threads, or, with Channel 0, in the
// whole guild: where a channel has a value of its own, that holds. An empty Value takes back what was set
// there. Of several the last by At holds. A setting is forgotten as a message would be that was written at At
// in Channel, when all of a channel or a guild is, but see StaysWithChannel; neither the retention nor the
// forgetting of a person takes it.
type SettingChosen struct {
	Guild   GuildID
	Channel ChannelID
	Key     Setting
	Value   string
	At      time.Time
}

func (SettingChosen) isEvent() {}

// Setting is the value that holds in a channel, and where that was set: there, in the channel that a thread
// belongs to, or, with the place 0, in the guild. It is empty where nothing was set.
func (g *Guild) Setting(id ChannelID, key Setting) (value string, at ChannelID) {
	if key.OfGuild() {
		return g.Settings[key], 0
	}
	c := g.Channel(id)
	if c != nil && c.Settings[key] == "" && c.Kind.IsThread() {
		c = g.Channel(c.Parent)
	}
	if c != nil && c.Settings[key] != "" {
		return c.Settings[key], c.ID
	}
	return g.Settings[key], 0
}

// Implied says that whoever has one role has another too: a guild's admins stated that.
type Implied struct{ Role, Also RoleID }

// impliedKey begins the keys of what was stated, one each, so that none takes the place of another.
const impliedKey = "implied "

// Setting is the key under which it is set, for a whole guild, with any value.
func (i Implied) Setting() Setting {
	return Setting(fmt.Sprintf("%s%d %d", impliedKey, i.Role, i.Also))
}

// Implied is what g's admins stated, of roles that there are and that people can have.
func (g *Guild) Implied() (all []Implied) {
	for key := range g.Settings {
		rest, is := strings.CutPrefix(string(key), impliedKey)
		if !is {
			continue
		}
		var i Implied
		if _, err := fmt.Sscanf(rest, "%d %d", &i.Role, &i.Also); err == nil && g.MayHave(i.Role) && g.MayHave(i.Also) {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b Implied) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Also, b.Also))
	})
	return all
}

// MayHave reports whether a role is one that some people have and others don't.
func (g *Guild) MayHave(role RoleID) bool {
	return role != RoleID(g.ID) && slices.ContainsFunc(g.Roles, func(r Role) bool { return r.ID == role && r.Bot == 0 })
}
