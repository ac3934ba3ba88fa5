package memory_test

import (
	"testing"

	. "hark/memory"
)

func TestSettingsOfThreadsChannelsAndTheGuild(t *testing.T) {
	t.Parallel()
	mode := func(value string) map[Setting]string { return map[Setting]string{SettingMode: value} }
	g := Guild{Settings: map[Setting]string{SettingModel: "large"}, Channels: []Channel{
		{ID: garden, Kind: CategoryChannel, Settings: mode("creation")},
		{ID: general, Parent: garden, Settings: mode("search")},
		{ID: chat, Parent: general, Kind: PublicThread},
		{ID: secret, Parent: general, Kind: PrivateThread, Settings: mode("analysis")},
		{ID: staff, Parent: garden},
		{ID: orphan, Parent: unknown, Kind: PublicThread},
	}}
	type where struct {
		value string
		at    ChannelID
	}
	for id, want := range map[ChannelID]where{
		general: {"search", general}, chat: {"search", general}, secret: {"analysis", secret},
		staff: {}, orphan: {}, unknown: {},
	} {
		if value, at := g.Setting(id, SettingMode); (where{value, at}) != want {
			t.Errorf("of channel %d: %q of %d, want %+v", id, value, at, want)
		}
		if value, at := g.Setting(id, SettingModel); value != "large" || at != 0 {
			t.Errorf("the guild's, in channel %d: %q of %d", id, value, at)
		}
	}
	g.Settings[SettingTimezone], g.Channels[1].Settings[SettingTimezone] = "Asia/Tokyo", "Europe/Berlin"
	if value, at := g.Setting(general, SettingTimezone); value != "Asia/Tokyo" || at != 0 {
		t.Errorf("of a channel holds the time zone %q of %d", value, at)
	}
	g.Settings[SettingMode] = "general"
	for id, want := range map[ChannelID]where{chat: {"search", general}, staff: {"general", 0},
		unknown: {"general", 0}} {
		if value, at := g.Setting(id, SettingMode); (where{value, at}) != want {
			t.Errorf("with one of the guild's, of channel %d: %q of %d, want %+v", id, value, at, want)
		}
	}
}

func TestWhatIsDecidedOfAChannelStays(t *testing.T) {
	t.Parallel()
	for key, stays := range map[Setting]bool{SettingAnswers: true, SettingRetention: true,
		SettingPersona: false, SettingModel: false, SettingPast: false} {
		if key.StaysWithChannel() != stays {
			t.Errorf("%s stays: %t", key, !stays)
		}
	}
}

func TestSettingsAreKnownByTheirKeys(t *testing.T) {
	t.Parallel()
	known := map[Setting]bool{}
	for _, key := range Settings() {
		known[key] = true
	}
	if len(known) != 13 || len(known) != len(Settings()) || !known[SettingRetention] || !known[SettingModel] {
		t.Errorf("the settings are %v", Settings())
	}
}
