package bot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
)

// choosing is a remembering scene whose bot has two models.
func choosing(t *testing.T) *scene {
	t.Helper()
	s := asking(t)
	warm := 0.7
	s.with(t, Config{Token: s.discord.Token, Policy: memory.Policy{Ask: true}, Choices: answer.Choices{
		Models: []string{"small", "large"}, Default: answer.Settings{Model: "small", Tools: true,
			Language: "en", Temperature: &warm},
	}})
	s.apply(t, memory.Chose{Guild: memory.GuildID(s.guild.ID), Choice: memory.RememberPublic})
	s.run(t).ready(t)
	s.waitRegistered()
	return s
}

// sets uses /hark set as ana; without a value if it is empty.
func (s *scene) sets(t *testing.T, key, value string, more ...discordtest.Opt) discordtest.Sent {
	t.Helper()
	options := append([]discordtest.Opt{opt("setting", key)}, more...)
	if value != "" {
		options = append(options, opt("value", value))
	}
	return s.use(t, s.ana, "hark set", options...)
}

// lastSetting is the setting chosen last.
func (s *scene) lastSetting() memory.SettingChosen {
	e, _ := find(s.log, func(memory.SettingChosen) bool { return true })
	return e
}

// chose fails unless that is the setting chosen last, of a channel or the whole server.
func (s *scene) chose(t *testing.T, at discordtest.ID, key memory.Setting, value string) {
	t.Helper()
	if e := s.lastSetting(); e.Channel != memory.ChannelID(at) || e.Key != key || e.Value != value ||
		key != "" && (e.Guild != memory.GuildID(s.guild.ID) || e.At.IsZero()) {
		t.Errorf("chose %+v, want %s %.60q in %d", e, key, value, at)
	}
}

// What a newer Hark knew, and a model that was taken away, are shown as they are.
func TestSettingsOfANewerHark(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	for key, value := range map[memory.Setting]string{memory.SettingMode: "divination", memory.SettingModel: "gone"} {
		s.apply(t, memory.SettingChosen{Guild: memory.GuildID(s.guild.ID),
			Channel: memory.ChannelID(s.channel), Key: key, Value: value, At: s.discord.Now()})
	}
	s.says(t, s.sets(t, "mode", ""))
	s.says(t, s.use(t, s.ana, "model"))
}

// Of more models than Discord shows at once each can be chosen, and the way back is always offered.
func TestManyModels(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	cfg := s.bot.cfg
	long := "/models/" + strings.Repeat("very-long-", 12) + "name.gguf"
	cfg.Choices.Models = []string{long}
	for i := range 60 {
		cfg.Choices.Models = append(cfg.Choices.Models, fmt.Sprintf("vendor/model-%02d:free", i))
	}
	cfg.Choices.Models = append(cfg.Choices.Models, "model-05")
	cfg.Choices.Default.Model = long
	s.restartWith(t, cfg)
	offers := func(typed string) []string {
		var names []string
		for name := range s.discord.Complete(s.channel, s.ana.ID, "model", opt("model", typed)).Wait().Choices() {
			names = append(names, name)
		}
		return names
	}
	if got := offers(""); len(got) != mostCompletions || !slices.Contains(got, answer.SettingDefault) {
		t.Errorf("offered %q", got)
	}
	if got := offers("MODEL-0"); !slices.Contains(got, "model-05") || len(got) != 11 {
		t.Errorf("of some are offered %q", got)
	}
	if got := offers("model"); !slices.Contains(got, "model-05") { // the last, which begins so
		t.Errorf("of many are offered %q", got)
	}
	s.says(t, s.use(t, s.ana, "model"))
	s.says(t, s.use(t, s.ana, "model", opt("model", "vendor/model-57:free")))
	m := s.use(t, s.ana, "hark settings")
	m = s.turns(t, s.discord.Click(m.Message, s.ana.ID, buttonOf(t, m.Message, panelKey), string(memory.SettingModel)))
	if _, holds := valuesOf(m, panelSet); holds != "vendor/model-57:free" {
		t.Errorf("in the menu %q holds", holds)
	}
	s.says(t, s.use(t, s.ana, "model", opt("model", long)))
	s.says(t, s.use(t, s.ana, "model", opt("model", "vendor/model-5")))
	s.says(t, s.use(t, s.ana, "model", opt("model", "default")))
}
