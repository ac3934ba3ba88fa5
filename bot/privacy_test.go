package bot

import (
	"strings"
	"testing"
	"time"

	"hark/bot/command"
	"hark/internal/discordtest"
	"hark/memory"
)

func TestPrivacyTellsWhatIsSo(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.waitIDs()
	hidden := s.hiddenChannel(t)
	never := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "attic"})
	adults := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "adults", NSFW: true})
	waitLogged(t, s.log, "the channels", func(e memory.ChannelSeen) bool {
		return e.Channel.ID == memory.ChannelID(adults.ID)
	})
	guild := memory.GuildID(s.guild.ID)
	s.apply(t, memory.Chose{Guild: guild, Channel: memory.ChannelID(never.ID), Choice: memory.Ignore},
		memory.SettingChosen{Guild: guild, Channel: memory.ChannelID(never.ID), Key: memory.SettingRetention,
			Value: "1d"})
	bare := s.everyPage(t, s.discord.Slash(s.channel, s.bo.ID, "privacy"))
	for _, text := range []string{hidden.ID.String(), "`/catchup`", "`/memory learn`"} {
		if strings.Contains(bare, text) {
			t.Errorf("%q is in %q", text, bare)
		}
	}
	at := func(channel discordtest.ID) string {
		t.Helper()
		return s.everyPage(t, s.discord.Slash(channel, s.bo.ID, "privacy"))
	}
	at(never.ID)
	at(adults.ID)
	privacy := command.Privacy{Operator: "Ann, <https://ann.example>", Prompts: 90 * time.Minute,
		Records: 72 * time.Hour, Summaries: true,
		Models: []string{"llm.example",
			"big.example:8080"}, Embedder: "vectors.example", Reranker: "order.example", Vision: true}
	cfg := s.bot.cfg
	cfg.Privacy, cfg.Retention = privacy, 48*time.Hour
	s.restartWith(t, cfg)
	s.apply(t, memory.Learn{Guild: guild, On: true, At: s.discord.Now()})
	at(s.channel)
	s.apply(t, memory.Learn{Guild: guild, At: s.discord.Now().Add(time.Second)})
	if got := at(s.channel); strings.Contains(got, "`/memory learn`") {
		t.Errorf("where nothing is learned: %q", got)
	}
	dm := s.discord.DM(s.bo.ID, "hello")
	at(dm.ChannelID)
}
