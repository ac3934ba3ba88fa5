package command

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/builder"
	"hark/internal/answer"
	"hark/memory"
)

// Whatever holds, what is shown fits, in every language.
func TestPanelsFit(t *testing.T) {
	t.Parallel()
	names := []string{strings.Repeat("m", 100)}
	for n := range 40 {
		names = append(names, fmt.Sprintf("model-%d", n))
	}
	c := &Commands{Options: offline(ingest.Options{Now: time.Now}, answer.Choices{Models: names,
		Default: answer.Settings{Model: names[0]}})}
	for _, language := range builder.Languages() {
		for _, key := range panelKeys {
			g := &memory.Guild{ID: 5, Settings: map[memory.Setting]string{
				memory.SettingPersona: strings.Repeat("p",
					answer.MaxPersona), memory.SettingTimezone: "America/Argentina/ComodRivadavia",
				memory.SettingTemperature: "0.123456789",
				memory.SettingModel:       names[7], memory.SettingPaused: answer.SettingOn, memory.SettingAnswers: answersOff},
				Channels: []memory.Channel{{ID: 1<<62 + 1, Choice: memory.Remember,
					Settings: map[memory.Setting]string{memory.SettingRetention: "90d"}}}}
			p := &panel{interaction: &interaction{Locale: locale.Of(language), server: g,
				Interaction: discord.Interaction{Channel: 1<<62 + 1}}, at: 1<<62 + 1, key: key,
				note: locale.Of(language).Text(lostChannel)}
			s := c.show(p)
			if markdown.Units(s.Content) > markdown.MessageLimit || len(s.Components) > 5 {
				t.Errorf("%s, %s: %d units, %d rows", language, key, markdown.Units(s.Content), len(s.Components))
			}
			for _, r := range s.Components {
				for _, b := range r.Components {
					if markdown.Units(b.CustomID) > 100 || markdown.Units(b.Label) > 80 ||
						markdown.Units(b.Placeholder) > 150 ||
						len(b.Options) > discord.MenuLimit || b.Type == discord.ComponentMenu && len(b.Options) == 0 {
						t.Errorf("%s, %s: %+v", language, key, b)
					}
					for _, o := range b.Options {
						if o.Label == "" || markdown.Units(o.Label) > longestLabel ||
							markdown.Units(o.Value) > longestLabel {
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
	for text, want := range map[string]int{
		"": memory.AsConfigured, "0": 0, "10": 10, " 7 ": 7, "1,000": 1000, "1.000": 1000, "1 000": 1000,
		"1,000,000": 1000000, "12'345": 12345, "1000000000": mostOfLimit,
		"1.5": -2, "2,5": -2, "1,0000": -2, ",100": -2, "1.000.00": -2, "-1": -2, "ten": -2,
		"1000000001": -2, "99999999999999999999": -2,
	} {
		if got, ok := limitIn(text); ok != (want != -2) || ok && got != want {
			t.Errorf("%q is %d, %v", text, got, ok)
		}
	}
}
