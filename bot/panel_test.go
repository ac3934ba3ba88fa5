package bot

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
)

// valuesOf are the values of a menu, and which of them is chosen already.
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

func TestSettingsAreChangedInPlace(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	other := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "ideas"})
	click := func(m discordtest.Sent, name string, values ...string) discordtest.Sent {
		t.Helper()
		now := s.turns(t, s.discord.Click(m.Message, s.ana.ID, buttonOf(t, m.Message, name), values...))
		if now.ID != m.ID || now.Flags&discordtest.Ephemeral == 0 || len(now.Components) > 5 || units(now.Content) > messageLimit {
			t.Errorf("after %s: %+v", name, now)
		}
		return now
	}
	m := s.use(t, s.ana, "hark settings")
	s.says(t, m)
	if values, _ := valuesOf(m, panelSet); len(values) > 0 || strings.Contains(fmt.Sprintf("%s", m.Components), panelOwn) {
		t.Errorf("values are offered of nothing: %s", m.Components)
	}
	for _, tt := range []struct {
		key           memory.Setting
		some          []string
		value, chosen string
	}{
		{memory.SettingModel, []string{"small", "large", "default"}, "large", "small"},
		{memory.SettingMode, []string{"auto", "search", "default"}, "search", "auto"},
		{memory.SettingLanguage, []string{"en", "de", "zh-TW"}, "zh-TW", "en"},
		{memory.SettingTools, []string{"on", "off"}, "off", "on"},
		{memory.SettingTemperature, []string{"0", "0.7", "2"}, "1.3", "0.7"},
		{memory.SettingTimezone, []string{"UTC", "Europe/Berlin"}, "Asia/Tokyo", "UTC"},
	} {
		m = click(m, panelKey, string(tt.key))
		if _, chosen := valuesOf(m, panelKey); chosen != string(tt.key) {
			t.Errorf("%s is chosen rather than %s", chosen, tt.key)
		}
		values, chosen := valuesOf(m, panelSet)
		if chosen != tt.chosen || slices.ContainsFunc(tt.some, func(v string) bool { return !slices.Contains(values, v) }) {
			t.Errorf("%s: offered %q, of which %q is chosen", tt.key, values, chosen)
		}
		m = click(m, panelSet, tt.value)
		at := s.channel
		if tt.key.OfGuild() {
			at = 0
		}
		s.chose(t, at, tt.key, tt.value)
		if _, chosen := valuesOf(m, panelSet); chosen != tt.value {
			t.Errorf("%s: %q is chosen then", tt.key, chosen)
		}
	}
	m = click(m, panelKey, "mode")
	m = click(m, panelSet, "default")
	m = click(m, panelServer)
	m = click(m, panelSet, "modification")
	m = click(m, panelServer) // the same button leads back
	s.restart(t)              // buttons outlive a restart
	m = click(m, panelChannel, other.ID.String())
	m = click(m, panelSet, "general")
	s.chose(t, other.ID, memory.SettingMode, "general")
	i := s.discord.Click(m.Message, s.ana.ID, buttonOf(t, m.Message, panelMemory))
	s.says(t, i.WaitMessage())
	m = click(m, panelPause)
	click(m, panelGoOn)
}

// awaited is an interaction once it was answered.
func awaited(i *discordtest.Interaction) *discordtest.Interaction {
	i.Wait()
	return i
}

func TestPersonasAndLimitsAreWrittenInForms(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	m := s.use(t, s.ana, "hark settings", opt("server", true))
	open := func(name string) *discordtest.Interaction {
		t.Helper()
		return s.discord.Click(m.Message, s.ana.ID, buttonOf(t, m.Message, name))
	}
	i := open(panelPersona)
	if got := i.Wait().Form(); len(got) != 1 || got["text"] != "" {
		t.Errorf("the form holds %q", got)
	}
	long := "You are the *archivist*.\n" + strings.Repeat("You answer in verse. ", 150)
	m = s.turns(t, i.Submit(map[string]string{"text": long}))
	s.chose(t, 0, memory.SettingPersona, strings.TrimSpace(long))
	if i = open(panelPersona); i.Wait().Form()["text"] != strings.TrimSpace(long) {
		t.Errorf("the form holds %q", i.Wait().Form())
	}
	m = s.turns(t, i.Submit(map[string]string{"text": " \n "}))
	m = s.turns(t, open(panelOwn))

	i = open(panelLimits)
	if got := i.Wait().Form(); len(got) != 4 || got["each-messages"] != "" {
		t.Errorf("the form holds %q", got)
	}
	m = s.turns(t, i.Submit(map[string]string{"each-messages": "many", "all-tokens": "5"}))
	if _, chosen := find(s.log, func(memory.LimitChosen) bool { return true }); chosen {
		t.Error("half of it was decided")
	}
	m = s.turns(t, awaited(open(panelLimits)).Submit(map[string]string{"each-messages": "5", "each-tokens": "0", "all-tokens": "1 000 000"}))
	g, err := s.log.Guild(t.Context(), memory.GuildID(s.guild.ID))
	if err != nil || g.LimitOf(0) != (memory.Limit{Messages: memory.AsConfigured, Tokens: 1_000_000}) || g.LimitOf(memory.RoleID(g.ID)) != (memory.Limit{Messages: 5, Tokens: memory.Unlimited}) {
		t.Errorf("decided %+v, %v", g.Limits, err)
	}
	i = open(panelLimits)
	if got := i.Wait().Form(); got["each-messages"] != "5" || got["each-tokens"] != "0" || got["all-messages"] != "" || got["all-tokens"] != "1000000" {
		t.Errorf("the form holds %q", got)
	}
	s.log.fail(errDown)
	s.hears(t, i.Submit(map[string]string{}))
	s.hears(t, open(panelPause))
	s.log.fail(nil)
}

// What has changed since a panel was shown is said, and nothing is set by mistake.
func TestStaleSettings(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	other := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "ideas"})
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
	s.log.wait(t, "the channel's end", func() bool { _, gone := find(s.log, func(memory.ChannelDeleted) bool { return true }); return gone })
	s.apply(t, memory.ChannelSeen{Channel: memory.Channel{ID: memory.ChannelID(other.ID), Guild: memory.GuildID(s.guild.ID), Unplaced: true}})
	s.turns(t, s.discord.Click(m.Message, s.ana.ID, buttonOf(t, m.Message, panelSet), "small"))
	s.chose(t, 0, "", "")
	s.apply(t, memory.SettingChosen{Guild: memory.GuildID(s.guild.ID), Key: memory.SettingModel, Value: "large", At: s.discord.Now()})
	s.says(t, s.use(t, s.ana, "hark settings", opt("server", true)))
}

// All that holds at a channel is in one view, also that nothing of it is remembered.
func TestPanelsSayWhatIsRemembered(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	e := memory.SettingChosen{Guild: memory.GuildID(s.guild.ID), Channel: memory.ChannelID(s.channel), Key: memory.SettingRetention, Value: "90d", At: s.discord.Now()}
	s.apply(t, e)
	s.use(t, s.ana, "hark channel answer", opt("answer", "off"))
	s.says(t, s.use(t, s.ana, "hark settings"))
	s.use(t, s.ana, "hark channel ignore")
	m := s.use(t, s.ana, "hark settings")
	s.says(t, m)
	if strings.Contains(m.Content, "90 days") {
		t.Errorf("what isn't remembered is kept: %s", m.Content)
	}
}

// Whatever holds, what is shown fits, in every language.
func TestPanelsFit(t *testing.T) {
	t.Parallel()
	names := []string{strings.Repeat("m", 100)}
	for n := range 40 {
		names = append(names, fmt.Sprintf("model-%d", n))
	}
	b := &Bot{now: time.Now, cfg: Config{Choices: answer.Choices{Models: names, Default: answer.Settings{Model: names[0]}}}}
	c := &commands{bot: b}
	for _, language := range builder.Languages() {
		for _, key := range panelKeys {
			g := &memory.Guild{ID: 5, Settings: map[memory.Setting]string{
				memory.SettingPersona: strings.Repeat("p", answer.MaxPersona), memory.SettingTimezone: "America/Argentina/ComodRivadavia", memory.SettingTemperature: "0.123456789",
				memory.SettingModel: names[7], memory.SettingPaused: answer.SettingOn, memory.SettingAnswers: answersOff},
				Channels: []memory.Channel{{ID: 1<<62 + 1, Choice: memory.Remember, Settings: map[memory.Setting]string{memory.SettingRetention: "90d"}}}}
			p := &panel{exchange: &exchange{locale: localeOf(language), server: g, wireInteraction: wireInteraction{Channel: 1<<62 + 1}}, at: 1<<62 + 1, key: key, note: localeOf(language).text(lostChannel)}
			s := c.show(p)
			if units(s.Content) > messageLimit || len(s.Components) > 5 {
				t.Errorf("%s, %s: %d units, %d rows", language, key, units(s.Content), len(s.Components))
			}
			for _, r := range s.Components {
				for _, b := range r.Components {
					if units(b.CustomID) > idLimit || units(b.Label) > 80 || units(b.Placeholder) > 150 || len(b.Options) > menuLimit || b.Type == componentMenu && len(b.Options) == 0 {
						t.Errorf("%s, %s: %+v", language, key, b)
					}
					for _, o := range b.Options {
						if o.Label == "" || units(o.Label) > longestLabel || units(o.Value) > longestLabel {
							t.Errorf("%s, %s: %+v", language, key, o)
						}
					}
				}
			}
		}
	}
}

func TestLimitsThatArentNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": memory.AsConfigured, "0": 0, "10": 10, "1,000": 1000, "1.000": 1000, "1 000": 1000, "1,000,000": 1000000, "12'345": 12345, " 7 ": 7, "1.5": -2, "2,5": -2, "0.50": -2, "1,0000": -2, ",100": -2, "1.000.00": -2, "1000000000": mostOfLimit, "-1": -2, "1000000001": -2, "ten": -2, "99999999999999999999": -2} {
		if got, ok := limitIn(text); ok != (want != -2) || ok && got != want {
			t.Errorf("%q is %d, %v", text, got, ok)
		}
	}
}
