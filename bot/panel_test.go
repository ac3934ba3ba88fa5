package bot

import (
	"encoding/json"
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

// rowsOf are the rows of a message's buttons and menus.
func rowsOf(t *testing.T, m discordtest.Sent) (rows []component) {
	t.Helper()
	for _, raw := range m.Components {
		var r component
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

// by is the id of the button or menu of a message whose name that is.
func by(t *testing.T, m discordtest.Sent, name string) string {
	t.Helper()
	for _, r := range rowsOf(t, m) {
		for _, c := range r.Components {
			if is, _, _ := strings.Cut(c.CustomID, ":"); is == name {
				return c.CustomID
			}
		}
	}
	t.Fatalf("there is no %s in %s", name, componentsOf(m))
	return ""
}

// valuesOf are the values of a menu, and which of them is chosen already.
func valuesOf(t *testing.T, m discordtest.Sent, name string) (values []string, chosen string) {
	t.Helper()
	id := by(t, m, name)
	for _, r := range rowsOf(t, m) {
		if r.Components[0].CustomID == id {
			for _, o := range r.Components[0].Options {
				values = append(values, o.Value)
				if o.Default {
					chosen = o.Value
				}
			}
		}
	}
	return values, chosen
}

func TestSettingsAreChangedInPlace(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	other := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "ideas"})
	click := func(m discordtest.Sent, name, want string, values ...string) discordtest.Sent {
		t.Helper()
		now := s.turns(s.discord.Click(m.Message, s.ana.ID, by(t, m, name), values...), want)
		if now.ID != m.ID || now.Flags&discordtest.Ephemeral == 0 || len(now.Components) > 5 || units(now.Content) > messageLimit {
			t.Errorf("after %s: %+v", name, now)
		}
		return now
	}
	m := s.use(t, s.ana, "hark settings")
	s.says(t, m, fmt.Sprintf("**What is set for <#%d>**", s.channel), "- **Model**: small (by default)", "- **Persona**: my usual one (by default)", "- **Temperature**: 0.7 (by default)",
		"- **Tools**: I may look things up by myself (by default)", "- **Mode**: told by each question (auto) (by default)", "- **Language**: English (by default)",
		fmt.Sprintf("- I remember what is said in <#%d>.\n- What is said in <#%[1]d> is remembered without end, as I was set up.\n- In <#%[1]d> I answer who mentions me.\n", s.channel),
		"- **Time zone**: UTC, where it is ", "- **Paused**: no", "- **Limits**: each member ∞ questions a minute and ∞ tokens a day, all together ∞ and ∞")
	if strings.Contains(string(componentsOf(m)), panelSet) || strings.Contains(string(componentsOf(m)), panelOwn) {
		t.Errorf("values are offered of nothing: %s", componentsOf(m))
	}
	for _, tt := range []struct {
		key           memory.Setting
		some          []string
		value, chosen string
		says          string
	}{
		{memory.SettingModel, []string{"small", "large", "default"}, "large", "small", "**Model**: large (for this channel)"},
		{memory.SettingMode, []string{"auto", "search", "default"}, "search", "auto", "**Mode**: finding what was said (search) (for this channel)"},
		{memory.SettingLanguage, []string{"en", "de", "zh-TW"}, "zh-TW", "en", "**Language**: 繁體中文 (for this channel)"},
		{memory.SettingTools, []string{"on", "off"}, "off", "on", "**Tools**: I may not look things up by myself (for this channel)"},
		{memory.SettingTemperature, []string{"0", "0.7", "2"}, "1.3", "0.7", "**Temperature**: 1.3 (for this channel)"},
		{memory.SettingTimezone, []string{"UTC", "Europe/Berlin"}, "Asia/Tokyo", "UTC", "**Time zone**: Asia/Tokyo"},
	} {
		m = click(m, panelKey, fmt.Sprintf(`%s:%d:%s"`, panelSet, s.channel, tt.key), string(tt.key))
		if _, chosen := valuesOf(t, m, panelKey); chosen != string(tt.key) {
			t.Errorf("%s is chosen rather than %s", chosen, tt.key)
		}
		values, chosen := valuesOf(t, m, panelSet)
		if chosen != tt.chosen || slices.ContainsFunc(tt.some, func(v string) bool { return !slices.Contains(values, v) }) {
			t.Errorf("%s: offered %q, of which %q is chosen", tt.key, values, chosen)
		}
		m = click(m, panelSet, tt.says, tt.value)
		s.says(t, m, "✓ Done.")
		at := memory.ChannelID(s.channel)
		if tt.key.OfGuild() {
			at = 0
		}
		if e := s.lastSetting(); e.Key != tt.key || e.Value != tt.value || e.Channel != at || e.Guild != memory.GuildID(s.guild.ID) {
			t.Errorf("logged %+v", e)
		}
		if _, chosen := valuesOf(t, m, panelSet); chosen != tt.value {
			t.Errorf("%s: %q is chosen then", tt.key, chosen)
		}
	}
	m = click(m, panelKey, fmt.Sprintf(`%s:%d:mode"`, panelSet, s.channel), "mode")
	m = click(m, panelSet, "told by each question (auto) (by default)", "default")
	m = click(m, panelServer, "**What is set for the whole server**")
	s.says(t, m, "**Model**: small (by default)", "I remember what is said in the channels that everybody here can read.\n- What is said in this server is remembered without end", "In this server I answer who mentions me, where nothing else")
	m = click(m, panelSet, "changing what is there (modification) (for the whole server)", "modification")
	m = click(m, panelServer, fmt.Sprintf("<#%d>", s.channel)) // the same button leads back
	s.restart(t)                                               // buttons outlive a restart
	m = click(m, panelChannel, fmt.Sprintf("**What is set for <#%d>**", other.ID), other.ID.String())
	s.says(t, m, "(modification) (for the whole server)")
	m = click(m, panelSet, "talk, with brief answers (general) (for this channel)", "general")
	if e := s.lastSetting(); e.Channel != memory.ChannelID(other.ID) || e.Value != "general" {
		t.Errorf("logged %+v", e)
	}
	i := s.discord.Click(m.Message, s.ana.ID, by(t, m, panelMemory))
	s.says(t, i.WaitMessage(), "I remember what is said in the channels that everybody here can read")
	m = click(m, panelPause, "**Paused**: yes, until <t:")
	m = click(m, panelGoOn, "**Paused**: no")
	s.says(t, m, "✓ Done.")
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
		return s.discord.Click(m.Message, s.ana.ID, by(t, m, name))
	}
	i := open(panelPersona)
	if got := i.Wait().Form(); len(got) != 1 || got["text"] != "" {
		t.Errorf("the form holds %q", got)
	}
	long := "You are the *archivist*.\n" + strings.Repeat("You answer in verse. ", 150)
	m = s.turns(i.Submit(map[string]string{"text": long}), "✓ Done.")
	s.says(t, m, "**Persona**: “You are the \\*archivist\\*. You answer", "(for the whole server)")
	if e := s.lastSetting(); e.Channel != 0 || e.Key != memory.SettingPersona || e.Value != strings.TrimSpace(long) {
		t.Errorf("logged %+v", e)
	}
	if i = open(panelPersona); i.Wait().Form()["text"] != strings.TrimSpace(long) {
		t.Errorf("the form holds %q", i.Wait().Form())
	}
	m = s.turns(i.Submit(map[string]string{"text": " \n "}), "There is nothing in it")
	m = s.turns(open(panelOwn), "**Persona**: my usual one (by default)")

	i = open(panelLimits)
	if got := i.Wait().Form(); len(got) != 4 || got["each-messages"] != "" {
		t.Errorf("the form holds %q", got)
	}
	m = s.turns(i.Submit(map[string]string{"each-messages": "many", "all-tokens": "5"}), "“many” is no limit")
	if _, chosen := find(s.log, func(memory.LimitChosen) bool { return true }); chosen {
		t.Error("half of it was decided")
	}
	m = s.turns(awaited(open(panelLimits)).Submit(map[string]string{"each-messages": "5", "each-tokens": "0", "all-tokens": "1 000 000"}), "each member 5 questions a minute and ∞ tokens a day, all together ∞ and 1,000,000")
	g, err := s.log.Guild(t.Context(), memory.GuildID(s.guild.ID))
	if err != nil || g.LimitOf(0) != (memory.Limit{Messages: memory.AsConfigured, Tokens: 1_000_000}) || g.LimitOf(memory.RoleID(g.ID)) != (memory.Limit{Messages: 5, Tokens: memory.Unlimited}) {
		t.Errorf("decided %+v, %v", g.Limits, err)
	}
	i = open(panelLimits)
	if got := i.Wait().Form(); got["each-messages"] != "5" || got["each-tokens"] != "0" || got["all-messages"] != "" || got["all-tokens"] != "1000000" {
		t.Errorf("the form holds %q", got)
	}
	s.log.fail(errDown)
	if got := whispered(t, s, i.Submit(map[string]string{})); !strings.HasPrefix(got, "Something went wrong") {
		t.Errorf("told %q", got)
	}
	if got := whispered(t, s, open(panelPause)); !strings.HasPrefix(got, "Something went wrong") {
		t.Errorf("told %q", got)
	}
	s.log.fail(nil)
}

// What has changed since a panel was shown is said, and nothing is set by mistake.
func TestStaleSettings(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	other := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "ideas"})
	m := s.use(t, s.ana, "hark settings", opt("channel", other.ID))
	m = s.turns(s.discord.Click(m.Message, s.ana.ID, by(t, m, panelKey), "model"), panelSet)
	cfg := s.configured()
	cfg.Choices.Models = []string{"small"}
	s.restartWith(t, cfg)
	m = s.turns(s.discord.Click(m.Message, s.ana.ID, by(t, m, panelSet), "large"), staleChoice)
	if values, _ := valuesOf(t, m, panelSet); slices.Contains(values, "large") {
		t.Errorf("still offered: %q", values)
	}
	s.discord.RemoveChannel(other.ID)
	s.log.wait(t, "the channel's end", func() bool { _, gone := find(s.log, func(memory.ChannelDeleted) bool { return true }); return gone })
	if err := s.log.Apply(t.Context(), memory.ChannelSeen{Channel: memory.Channel{ID: memory.ChannelID(other.ID), Guild: memory.GuildID(s.guild.ID), Unplaced: true}}); err != nil {
		t.Fatal(err)
	}
	m = s.turns(s.discord.Click(m.Message, s.ana.ID, by(t, m, panelSet), "small"), lostChannel)
	s.says(t, m, "**What is set for the whole server**")
	if e := s.lastSetting(); e != (memory.SettingChosen{}) {
		t.Errorf("logged %+v", e)
	}
	if err := s.log.Apply(t.Context(), memory.SettingChosen{Guild: memory.GuildID(s.guild.ID), Key: memory.SettingModel, Value: "large", At: s.discord.Now()}); err != nil {
		t.Fatal(err)
	}
	s.says(t, s.use(t, s.ana, "hark settings", opt("server", true)), "**Model**: large, which I don't have any more, so small answers")
}

// All that holds at a channel is in one view, also that nothing of it is remembered.
func TestPanelsSayWhatIsRemembered(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	e := memory.SettingChosen{Guild: memory.GuildID(s.guild.ID), Channel: memory.ChannelID(s.channel), Key: memory.SettingRetention, Value: "90d", At: s.discord.Now()}
	if err := s.log.Apply(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	s.use(t, s.ana, "hark channel answer", opt("answer", "off"))
	s.says(t, s.use(t, s.ana, "hark settings"), "is remembered for 90 days, as was decided for <#", "I answer nobody who mentions me")
	s.use(t, s.ana, "hark channel ignore")
	m := s.use(t, s.ana, "hark settings")
	s.says(t, m, fmt.Sprintf("I remember nothing of what is said in <#%d>.", s.channel))
	if strings.Contains(m.Content, "90 days") {
		t.Errorf("what isn't remembered is kept: %s", m.Content)
	}
}

// Ids that no button of today's has do no harm.
func TestPanelsThatNobodyMade(t *testing.T) {
	t.Parallel()
	s := choosing(t)
	for id, do := range map[string]func(*exchange) (sheet, error){
		"persona:here": func(x *exchange) (sheet, error) {
			_, err := s.bot.commands.askPanelPersona(t.Context(), x)
			return sheet{Content: fmt.Sprint(err)}, nil
		},
		"panel-set:0:colour": func(x *exchange) (sheet, error) {
			return s.bot.commands.tools["component "+panelSet].do(t.Context(), x)
		},
		"panel-set:0": func(x *exchange) (sheet, error) {
			return s.bot.commands.tools["component "+panelSet].do(t.Context(), x)
		},
		"panel-key:0": func(x *exchange) (sheet, error) {
			return s.bot.commands.tools["component "+panelKey].do(t.Context(), x)
		},
		"panel-pause:0:always": func(x *exchange) (sheet, error) {
			return s.bot.commands.tools["component "+panelPause].do(t.Context(), x)
		},
	} {
		x := &exchange{}
		x.Type, x.Guild, x.Data.CustomID = interactionComponent, snowflake(s.guild.ID), id
		got, err := do(x)
		if want := map[bool]string{true: errUnknownChannel.Error(), false: staleChoice}[id == "persona:here"]; err != nil || !strings.HasPrefix(got.Content, want) {
			t.Errorf("%s: %q, %v", id, got.Content, err)
		}
	}
	if e := s.lastSetting(); e != (memory.SettingChosen{}) {
		t.Errorf("logged %+v", e)
	}
}

// Whatever holds, what is shown fits, in every language.
func TestPanelsFit(t *testing.T) {
	t.Parallel()
	names := []string{strings.Repeat("m", 100)}
	for n := range 40 {
		names = append(names, fmt.Sprintf("model-%d", n))
	}
	b := &Bot{now: time.Now}
	b.Renew(Terms{Choices: answer.Choices{Models: names, Default: answer.Settings{Model: names[0]}}})
	c := &commands{bot: b}
	for _, language := range builder.Languages() {
		for _, key := range panelKeys {
			g := &memory.Guild{ID: 5, Settings: map[memory.Setting]string{
				memory.SettingPersona: strings.Repeat("p", answer.MaxPersona), memory.SettingTimezone: "America/Argentina/ComodRivadavia", memory.SettingTemperature: "0.123456789",
				memory.SettingModel: names[7], memory.SettingPaused: answer.SettingOn, memory.SettingAnswers: answersOff},
				Channels: []memory.Channel{{ID: 1<<62 + 1, Choice: memory.Remember, Settings: map[memory.Setting]string{memory.SettingRetention: "90d"}}}}
			p := &panel{locale: localeOf(language), guild: g, here: 1<<62 + 1, at: 1<<62 + 1, key: key, note: localeOf(language).text(lostChannel)}
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
		x := &exchange{locale: localeOf(language)}
		for _, text := range []string{x.text("Each member: questions a minute"), x.text("Each member: tokens a day"), x.text("All together: questions a minute"), x.text("All together: tokens a day"), x.text("0: no limit; empty: as I was set up")} {
			if units(text) > 45 {
				t.Errorf("%s: %q is too long for a form", language, text)
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
