package memorytest

import (
	"maps"

	"hark/memory"
)

// set is what was set where.
type set struct {
	chosen
	key memory.Setting
}

// chooseSetting keeps the last by time, unless it is forgotten.
func (m *model) chooseSetting(e memory.SettingChosen) {
	for _, g := range m.forgettings {
		if g.takesSetting(e.Key) && m.covers(g, settingAsMessage(e)) {
			return
		}
	}
	key := set{chosen{e.Guild, e.Channel}, e.Key}
	if was, ok := m.settings[key]; !ok || e.At.After(was.At) {
		m.settings[key] = e
	}
}

// settingAsMessage is e as the message that it is forgotten like.
func settingAsMessage(e memory.SettingChosen) memory.Message {
	return memory.Message{ID: memory.FirstMessageID(e.At), Guild: e.Guild, Channel: e.Channel}
}

// takesSetting reports whether it is about all of a channel or a guild, with which goes what was set with a key.
func (g *forgetting) takesSetting(key memory.Setting) bool {
	f := g.Forgetting
	return f.User == 0 && g.all && (f.Channel == 0 || f.Why == memory.WhyDeleted || !key.StaysWithChannel())
}

// forgetSettings forgets what was set for a channel or a guild of which everything is forgotten.
func (m *model) forgetSettings(g *forgetting) {
	maps.DeleteFunc(m.settings, func(_ set, e memory.SettingChosen) bool {
		return g.takesSetting(e.Key) && m.covers(g, settingAsMessage(e))
	})
}

// settingsOf are those of a channel, or with the channel 0 those of the guild.
func (m *model) settingsOf(guild memory.GuildID, channel memory.ChannelID) map[memory.Setting]string {
	var values map[memory.Setting]string
	for key, e := range m.settings {
		if key.chosen == (chosen{guild, channel}) && e.Value != "" {
			if values == nil {
				values = map[memory.Setting]string{}
			}
			values[key.key] = e.Value
		}
	}
	return values
}
