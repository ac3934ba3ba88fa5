package bot

import (
	"slices"
	"strings"
	"testing"

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
	s.log.wait(t, "the channel's end", func() bool {
		_, gone := find(s.log, func(memory.ChannelDeleted) bool { return true })
		return gone
	})
	s.apply(t, memory.ChannelSeen{Channel: memory.Channel{ID: memory.ChannelID(other.ID),
		Guild: memory.GuildID(s.guild.ID), Unplaced: true}})
	s.turns(t, s.discord.Click(m.Message, s.ana.ID, buttonOf(t, m.Message, panelSet), "small"))
	s.chose(t, 0, "", "")
	s.apply(t, memory.SettingChosen{Guild: memory.GuildID(s.guild.ID), Key: memory.SettingModel,
		Value: "large", At: s.discord.Now()})
	s.says(t, s.use(t, s.ana, "hark settings", opt("server", true)))
}
