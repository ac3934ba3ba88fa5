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
	s.apply(t, memory.Chose{Guild: s.guildID, Choice: memory.RememberPublic})
	s.run(t).ready(t)
	return s
}

// sets uses /hark set as ana, without a value if that is empty.
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

// chose fails unless that is the setting chosen last, in a channel or, at 0, the server.
func (s *scene) chose(t *testing.T, at discordtest.ID, key memory.Setting, value string) {
	t.Helper()
	if e := s.lastSetting(); e.Channel != memory.ChannelID(at) || e.Key != key || e.Value != value ||
		key != "" && (e.Guild != s.guildID || e.At.IsZero()) {
		t.Errorf("chose %+v, want %s %.60q in %d", e, key, value, at)
	}
}

// Unknown settings and removed models are shown as they are.
func TestSettingsOfANewerHark(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	for key, value := range map[memory.Setting]string{memory.SettingMode: "divination", memory.SettingModel: "gone"} {
		s.apply(t, memory.SettingChosen{Guild: s.guildID,
			Channel: s.channelID, Key: key, Value: value, At: s.discord.Now()})
	}
	s.says(t, s.sets(t, "mode", ""))
	s.says(t, s.use(t, s.ana, "model"))
}

// With more models than Discord shows, each can be chosen, and the default is always offered.
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

// valuesOf are a menu's values, and the chosen one.
func valuesOf(m discordtest.Sent, name string) (values []string, chosen string) {
	for _, c := range partsOf(m.Message) {
		if is, _, _ := strings.Cut(c.CustomID, ":"); is != name {
			continue
		}
		for _, o := range c.Options {
			values = append(values, o.Value)
			if o.Default {
				chosen = o.Value
			}
		}
	}
	return values, chosen
}

// An outdated panel says what changed, and sets nothing by mistake.
func TestStaleSettings(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	other := s.addChannel("ideas")
	m := s.use(t, s.ana, "hark settings", opt("channel", other.ID))
	m = s.turns(t, s.discord.Click(m.Message, s.ana.ID, buttonOf(t, m.Message, panelKey), "model"))
	cfg := s.bot.cfg
	cfg.Choices.Models = []string{"small"}
	s.restartWith(t, cfg)
	m = s.turns(t, s.discord.Click(m.Message, s.ana.ID, buttonOf(t, m.Message, panelSet), "large"))
	if values, _ := valuesOf(m, panelSet); slices.Contains(values, "large") {
		t.Errorf("still offered: %q", values)
	}
	s.discord.RemoveChannel(other.ID)
	s.log.wait(t, "the channel's end", func() bool {
		_, gone := find(s.log, func(memory.ChannelDeleted) bool { return true })
		return gone
	})
	s.apply(t, memory.ChannelSeen{Channel: memory.Channel{ID: memory.ChannelID(other.ID),
		Guild: s.guildID, Unplaced: true}})
	s.turns(t, s.discord.Click(m.Message, s.ana.ID, buttonOf(t, m.Message, panelSet), "small"))
	s.chose(t, 0, "", "")
	s.apply(t, memory.SettingChosen{Guild: s.guildID, Key: memory.SettingModel,
		Value: "large", At: s.discord.Now()})
	s.says(t, s.use(t, s.ana, "hark settings", opt("server", true)))
}
