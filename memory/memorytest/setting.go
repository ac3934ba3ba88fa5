package memorytest

import (
	"time"

	"hark/memory"
)

var settingPromises = []promise{
	{"the last setting by time holds, whatever is seen of the channel", func(t *trial) {
		t.apply(sets(thread, memory.SettingMode, "creation", 1), memory.GuildSeen{Guild: town(), At: began})
		t.isSet("of what was known later", thread, memory.SettingMode, "creation")
		t.apply(sets(general, memory.SettingMode, "search", 2), sets(general, memory.SettingMode, "analysis", 1),
			sets(general, memory.SettingPersona, "Calm.", 1), sets(staff, memory.SettingMode, "search", 1), sets(staff, memory.SettingMode, "", 2),
			sets(0, memory.SettingModel, "large", 2), sets(0, memory.SettingModel, "small", 1),
			memory.SettingChosen{Guild: memory.LocalGuild, Channel: general, Key: memory.SettingMode, Value: "creation", At: later})
		seen := town()
		seen.Settings = map[memory.Setting]string{memory.SettingModel: "tiny"}
		seen.Channels[0].Settings = map[memory.Setting]string{memory.SettingMode: "modification"}
		t.apply(memory.GuildSeen{Guild: seen, At: later}, memory.ChannelSeen{Channel: seen.Channels[0]})
		t.isSet("the last", general, memory.SettingMode, "search")
		t.isSet("another key", general, memory.SettingPersona, "Calm.")
		t.isSet("taken back", staff, memory.SettingMode, "")
		t.isSet("the guild's", 0, memory.SettingModel, "large")
	}},
	{"settings go with all of their channel or guild, and with nothing less", func(t *trial) {
		t.apply(memory.GuildSeen{Guild: town(), At: began}, sets(general, memory.SettingPersona, "Calm.", 1), sets(thread, memory.SettingMode, "search", 1),
			sets(staff, memory.SettingMode, "search", 1), sets(0, memory.SettingPersona, "Kind.", 1), sets(general, memory.SettingMode, "search", 600),
			sets(general, memory.SettingAnswers, "off", 1), sets(thread, memory.SettingRetention, "7d", 1), sets(staff, memory.SettingAnswers, "off", 1), sets(0, memory.SettingRetention, "90d", 1))
		at := began.Add(time.Hour)
		t.forget(memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: at})
		t.forget(memory.Forgetting{Guild: memory.Everywhere, Before: at, Why: memory.WhyAge, At: at})
		t.isSet("after a person and what is old", general, memory.SettingPersona, "Calm.")
		t.forget(memory.Forgetting{Guild: guild, Channel: general, Why: memory.WhyPurge, At: at})
		t.isSet("of the channel", general, memory.SettingPersona, "")
		t.isSet("of its thread", thread, memory.SettingMode, "")
		t.isSet("whether the channel is answered", general, memory.SettingAnswers, "off")
		t.isSet("how long what is said in its thread is remembered", thread, memory.SettingRetention, "7d")
		t.isSet("set later", general, memory.SettingMode, "search")
		t.isSet("of another", staff, memory.SettingMode, "search")
		t.isSet("of the guild", 0, memory.SettingPersona, "Kind.")
		t.apply(sets(general, memory.SettingPersona, "Loud.", 2))
		t.isSet("told again, late", general, memory.SettingPersona, "")
		t.apply(sets(general, memory.SettingRetention, "5d", 2))
		t.isSet("how long, told late", general, memory.SettingRetention, "5d")
		t.apply(sets(general, memory.SettingPersona, "Quiet.", 90))
		t.isSet("chosen anew", general, memory.SettingPersona, "Quiet.")
		t.apply(memory.ChannelDeleted{Guild: guild, Channel: staff, At: later}, sets(staff, memory.SettingMode, "analysis", 900))
		t.isSet("of a channel that was deleted", staff, memory.SettingMode, "")
		t.isSet("whether that is answered", staff, memory.SettingAnswers, "")
		t.apply(memory.GuildLeft{Guild: guild, At: later})
		t.forget(memory.Forgetting{Guild: guild, Why: memory.WhyLeft, At: later})
		t.apply(memory.GuildSeen{Guild: town(), At: later})
		t.isSet("of the guild, after all of it was forgotten", 0, memory.SettingPersona, "")
		t.isSet("how long, after that", 0, memory.SettingRetention, "")
		t.isSet("of the channel, after that", general, memory.SettingPersona, "")
	}},
}

// sets is a setting of the guild's, or of a channel, minutes after the beginning.
func sets(channel memory.ChannelID, key memory.Setting, value string, minutes int) memory.SettingChosen {
	return memory.SettingChosen{Guild: guild, Channel: channel, Key: key, Value: value, At: began.Add(time.Duration(minutes) * time.Minute)}
}

// isSet fails the test unless a channel, or with the channel 0 the guild, has that value of its own.
func (t *trial) isSet(what string, channel memory.ChannelID, key memory.Setting, want string) {
	t.Helper()
	got := t.guild(guild).Settings
	if channel != 0 {
		got = t.channel(guild, channel).Settings
	}
	if value, there := got[key]; value != want || there != (want != "") {
		t.Fatalf("%s: the %s is %q, want %q", what, key, value, want)
	}
}
