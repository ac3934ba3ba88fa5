package bot

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"hark/builder"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/internal/golden"
	"hark/memory"
)

// choosing is a remembering scene whose bot has two models.
func choosing(t *testing.T) *scene {
	t.Helper()
	s := asking(t)
	warm := 0.7
	s.with(t, Config{Token: s.discord.Token, Policy: memory.Policy{Ask: true}, Choices: answer.Choices{
		Models: []string{"small", "large"}, Default: answer.Settings{Model: "small", Tools: true, Language: "en", Temperature: &warm},
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
	if e := s.lastSetting(); e.Channel != memory.ChannelID(at) || e.Key != key || e.Value != value || key != "" && (e.Guild != memory.GuildID(s.guild.ID) || e.At.IsZero()) {
		t.Errorf("chose %+v, want %s %.60q in %d", e, key, value, at)
	}
}

func TestSettingsAreChosenForChannelsAndTheServer(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	other := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "ideas"})
	thread := s.discord.AddChannel(s.guild.ID, discordtest.Channel{ParentID: &other.ID, Type: discordtest.PublicThread, Name: "more of them"})
	s.discord.Say(thread.ID, s.bo.ID, "hello")
	s.hides(t, s.bo, "model")
	s.hides(t, s.bo, "hark")
	s.chose(t, 0, "", "")
	s.says(t, s.use(t, s.ana, "model"))
	s.says(t, s.use(t, s.ana, "model", opt("model", "large")))
	for _, tt := range []struct {
		key         memory.Setting
		value, kept string
	}{
		{memory.SettingModel, "SMALL", "small"}, {memory.SettingTemperature, "1,25", "1.25"}, {memory.SettingTools, "off", "off"},
		{memory.SettingLanguage, "ja", "ja"}, {memory.SettingMode, "automatic", "auto"}, {memory.SettingPersona, "You *rhyme*.", "You *rhyme*."},
	} {
		if tt.key != memory.SettingPersona { // which has a form
			s.says(t, s.sets(t, string(tt.key), ""))
		}
		s.says(t, s.sets(t, string(tt.key), tt.value))
		s.chose(t, s.channel, tt.key, tt.kept)
	}
	for _, m := range builder.Modes() {
		s.says(t, s.sets(t, "mode", string(m)))
	}
	s.says(t, s.sets(t, "mode", "creation", opt("channel", other.ID)))
	s.chose(t, other.ID, memory.SettingMode, "creation")
	s.says(t, s.sets(t, "mode", "", opt("channel", thread.ID)))
	s.says(t, s.sets(t, "language", "de", opt("server", true)))
	s.chose(t, 0, memory.SettingLanguage, "de")
	s.says(t, s.sets(t, "language", "", opt("channel", other.ID)))
	s.says(t, s.sets(t, "language", "default"))
	s.chose(t, s.channel, memory.SettingLanguage, "")
}

func TestSettingsThatCantBe(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	other := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "ideas"})
	s.says(t, s.use(t, s.ana, "model", opt("model", "huge")))
	s.says(t, s.sets(t, "temperature", "hot"))
	s.says(t, s.sets(t, "mode", "divination"))
	s.says(t, s.sets(t, "timezone", "Mars/*Olympus*"))
	s.says(t, s.sets(t, "timezone", "UTC", opt("channel", other.ID)))
	s.says(t, s.sets(t, "tools", "on", opt("server", true), opt("channel", other.ID)))
	s.says(t, s.sets(t, "persona", "", opt("server", true), opt("channel", other.ID)))
	s.chose(t, 0, "", "")
	// What a newer Hark knew, and a model that was taken away.
	for key, value := range map[memory.Setting]string{memory.SettingMode: "divination", memory.SettingModel: "gone"} {
		s.apply(t, memory.SettingChosen{Guild: memory.GuildID(s.guild.ID), Channel: memory.ChannelID(s.channel), Key: key, Value: value, At: s.discord.Now()})
	}
	s.says(t, s.sets(t, "mode", ""))
	s.says(t, s.use(t, s.ana, "model"))
	s.log.fail(errDown)
	s.says(t, s.sets(t, "tools", "on"))
	s.log.fail(nil)
}

func TestPersonasAreWrittenInAForm(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	i := s.discord.Slash(s.channel, s.ana.ID, "hark set", opt("setting", "persona"))
	if got := i.Wait().Form(); len(got) != 1 || got["text"] != "" {
		t.Errorf("the form holds %q", got)
	}
	long := strings.Repeat("ä", answer.MaxPersona)
	m := i.Submit(map[string]string{"text": "You are the *archivist*.\nYou answer in verse."}).WaitMessage()
	s.says(t, m)
	s.chose(t, s.channel, memory.SettingPersona, "You are the *archivist*.\nYou answer in verse.")
	i = s.discord.Slash(s.channel, s.ana.ID, "hark set", opt("setting", "persona"))
	if got := i.Wait().Form()["text"]; got != "You are the *archivist*.\nYou answer in verse." {
		t.Errorf("the form holds %q", got)
	}
	i.Submit(map[string]string{"text": long}).WaitMessage()
	s.chose(t, s.channel, memory.SettingPersona, long)
	i = s.discord.Slash(s.channel, s.ana.ID, "hark set", opt("setting", "persona"), opt("server", true))
	if got := i.Wait().Form()["text"]; got != "" {
		t.Errorf("the server's form holds %d bytes", len(got))
	}
	s.says(t, i.Submit(map[string]string{"text": " default "}).WaitMessage())
	s.chose(t, 0, memory.SettingPersona, "default.")
	s.says(t, s.sets(t, "persona", "default"))
	s.chose(t, s.channel, memory.SettingPersona, "")
	// Whoever may no longer manage the server when the form comes back sets nothing.
	i = s.discord.Slash(s.channel, s.ana.ID, "hark set", opt("setting", "persona"))
	i.Wait()
	was := s.lastSetting()
	s.discord.UpdateMember(s.guild.ID, s.ana.ID, func(m *discordtest.Member) { m.Roles = nil })
	s.says(t, i.Submit(map[string]string{"text": "You are mine."}).WaitMessage())
	if e := s.lastSetting(); e != was {
		t.Errorf("logged %+v", e)
	}
}

func TestValuesAreOfferedWhileTyping(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	for _, tt := range []struct {
		key, typed string
		want       []string
	}{
		{"model", "", []string{"default", "large", "small"}}, {"model", "LA", []string{"large"}}, {"model", "huge", nil},
		{"mode", "FINDING", []string{"search"}}, {"language", "de", []string{"de", "default"}},
		{"tools", "", []string{"default", "off", "on"}}, {"temperature", "0.", []string{"0.2", "0.4", "0.7"}}, {"persona", "", []string{"default"}},
		{"timezone", "new york", []string{"America/New_York"}}, {"timezone", "EUROPE/BER", []string{"Europe/Berlin"}}, {"timezone", "nowhere at all", nil},
	} {
		names := slices.Sorted(maps.Values(s.discord.Complete(s.channel, s.ana.ID, "hark set", opt("setting", tt.key), opt("value", tt.typed)).Wait().Choices()))
		if !slices.Equal(names, tt.want) {
			t.Errorf("%s: %q offers %q, want %q", tt.key, tt.typed, names, tt.want)
		}
	}
	offered := s.discord.Complete(s.channel, s.ana.ID, "hark set", opt("setting", "timezone"), opt("value", "")).Wait().Choices()
	if len(offered) != mostCompletions || offered["UTC · "+s.discord.Now().UTC().Format("15:04")] != "UTC" || offered["default"] != "default" {
		t.Errorf("offered %v", offered)
	}
	if got := matching(answer.Zones(), func(zone string) string { return zone }, "ber"); got[0] != "Europe/Berlin" && got[0] != "Atlantic/Bermuda" {
		t.Errorf("“ber” offers %v", got) // what begins so comes first
	}
	s.hides(t, s.bo, "model")
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

// What Discord is told of commands changes only on purpose.
func TestCommandsThatAreRegistered(t *testing.T) {
	t.Parallel()
	got, err := json.MarshalIndent(inLanguages(registered()), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/commands.json", string(got)+"\n")
	c := newCommands(&Bot{})
	for _, command := range registered() {
		paths(command.Name, command.Options, func(path string, completed bool) {
			h, there := c.handlers[path]
			if !there || h.do == nil && h.opens == nil || (h.completes != nil) != completed {
				t.Errorf("%s is registered, and there is %+v", path, h)
			}
		})
	}
}

// paths tells of each command that can be used, and whether an option of it is completed.
func paths(path string, options []option, tell func(path string, completed bool)) {
	nested, completed := false, false
	for _, o := range options {
		if o.Type == optionSubcommand || o.Type == optionGroup {
			nested = true
			paths(path+" "+o.Name, o.Options, tell)
		}
		completed = completed || o.Autocomplete
	}
	if !nested {
		tell(path, completed)
	}
}
