package memory

import (
	"time"
)

// Setting is the key of what admins can set for a guild or a channel.
type Setting string

// Settings for answers. A store keeps any key and value; internal/answer checks them.
const (
	SettingModel       Setting = "model"
	SettingPersona     Setting = "persona"
	SettingTemperature Setting = "temperature"
	SettingTools       Setting = "tools"
	SettingMode        Setting = "mode"
	SettingLanguage    Setting = "language"
)

const (
	// of a channel, else of the guild: which files a model may tell of, as in Guild.Tells
	SettingMedia    Setting = "media"
	SettingBots     Setting = "bots"     // of a channel, else of the guild: one of Bots
	SettingTimezone Setting = "timezone" // of a guild: an IANA time zone name
	SettingPrograms Setting = "programs" // of a guild: "on" where members may connect programs of their own
	// of a guild: "on", or the time, in RFC 3339, until which Hark answers nobody
	SettingPaused Setting = "paused"
	// of a channel, else of the guild: "off" where Hark answers nobody
	SettingAnswers Setting = "answers"
	// of a channel, else of the guild: for ParseRetention
	SettingRetention Setting = "retention"
	// of a channel: the newest unfetched message of its past when fetching stopped; see StopPast
	SettingPast     Setting = "past"
	SettingExpiring Setting = "expiring" // of a guild: expired messages that wait; see Expiring
	SettingHeard    Setting = "heard"    // of a channel: the newest message whose files were told of
	// of a guild: place and text of the bot's notice about what is remembered
	SettingNotice Setting = "notice"
)

// AnswerSettings returns the keys about how answers are made, in display order.
func AnswerSettings() []Setting {
	return []Setting{SettingModel, SettingPersona, SettingTemperature, SettingTools, SettingMode, SettingLanguage}
}

// Settings returns all keys that admins set, in display order.
func Settings() []Setting {
	return append(AnswerSettings(), SettingMedia, SettingBots, SettingTimezone, SettingPrograms, SettingPaused,
		SettingAnswers, SettingRetention)
}

// OfGuild reports whether a key is for guilds only. A channel's value has no effect.
func (s Setting) OfGuild() bool {
	return s == SettingTimezone || s == SettingPrograms || s == SettingPaused
}

// StaysWithChannel reports whether a channel's value stays when the channel is forgotten, unless it was
// deleted: whether Hark speaks there, how long it remembers and whether it hears bots, which is nobody's text.
func (s Setting) StaysWithChannel() bool {
	return s == SettingAnswers || s == SettingRetention || s == SettingBots
}

// SettingChosen sets a key for a channel and its threads, or, with Channel 0, for the guild. A channel's own
// value overrides the guild's. An empty Value removes it. The last by At holds. Forgetting a whole channel or
// guild takes it like a message written in Channel at At, except as StaysWithChannel says; the retention, or
// forgetting a person, doesn't.
type SettingChosen struct {
	Guild   GuildID
	Channel ChannelID
	Key     Setting
	Value   string
	By      UserID // 0: unknown, also once they opt out or are forgotten as a whole
	At      time.Time
}

// Place implements Event.
func (e SettingChosen) Place() (GuildID, ChannelID) { return e.Guild, e.Channel }

func (SettingChosen) decides() {}

// Checked returns e ready to store: its texts clean.
func (e SettingChosen) Checked() (Event, error) {
	e.Key = Setting(Clean(string(e.Key)))
	e.Value = Clean(e.Value)
	return e, nil
}

// The values of SettingMedia besides MediaOff: which files models may tell of.
const (
	MediaOff      = "off"
	MediaVoice    = "voice"
	MediaPictures = "pictures"
	MediaAll      = "all"
)

// Setting returns the value that applies in a channel and where it was set: in that channel, in a thread's
// parent, or, with channel 0, in the guild. It is empty if none was set.
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
