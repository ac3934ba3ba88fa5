package bot

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/internal/golden"
	"hark/memory"
)

func TestPrivacyTellsWhatIsSo(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.waitIDs()
	hidden := s.hiddenChannel(t)
	never := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "attic"})
	adults := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "adults", NSFW: true})
	waitLogged(t, s.log, "the channels", func(e memory.ChannelSeen) bool { return e.Channel.ID == memory.ChannelID(adults.ID) })
	guild := memory.GuildID(s.guild.ID)
	s.apply(t, memory.Chose{Guild: guild, Channel: memory.ChannelID(never.ID), Choice: memory.Ignore},
		memory.SettingChosen{Guild: guild, Channel: memory.ChannelID(never.ID), Key: memory.SettingRetention, Value: "1d"})
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
	privacy := Privacy{Operator: "Ann, <https://ann.example>", Retention: 48 * time.Hour, Prompts: 90 * time.Minute, Records: 72 * time.Hour, Summaries: true,
		Models: []string{"llm.example", "big.example:8080"}, Embedder: "vectors.example", Reranker: "order.example", Vision: true}
	cfg := s.bot.cfg
	cfg.Privacy = privacy
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

// Why a channel is remembered is told as it is decided: memory.Policy decides, and this says why.
func TestWhyAChannelIsRemembered(t *testing.T) {
	t.Parallel()
	const channel, thread, category = 1, 2, 3
	var all []string
	for _, c := range []struct {
		name   string
		policy memory.Policy
		guild  memory.Choice
		chosen map[memory.ChannelID]memory.Choice
		adult  bool
		at     memory.ChannelID
	}{
		{name: "as set up", at: channel},
		{name: "undecided", policy: memory.Policy{Ask: true}, at: channel},
		{name: "all", guild: memory.Remember, at: thread},
		{name: "public", guild: memory.RememberPublic, at: channel},
		{name: "others", guild: memory.RememberChosen, at: channel},
		{name: "nothing", guild: memory.Ignore, at: channel},
		{name: "by name", guild: memory.Ignore, chosen: map[memory.ChannelID]memory.Choice{channel: memory.Remember}, at: thread},
		{name: "by category", guild: memory.Ignore, chosen: map[memory.ChannelID]memory.Choice{category: memory.Remember}, at: thread},
		{name: "never", guild: memory.Remember, chosen: map[memory.ChannelID]memory.Choice{category: memory.Ignore}, at: channel},
		{name: "adults", guild: memory.Remember, adult: true, at: thread},
		{name: "adults, allowed", policy: memory.Policy{AgeLimited: true}, guild: memory.Remember, adult: true, at: thread},
		{name: "adults, category", chosen: map[memory.ChannelID]memory.Choice{category: memory.Remember}, adult: true, at: channel},
		{name: "unknown", policy: memory.Policy{AgeLimited: false}, adult: true, at: 9},
	} {
		g := &memory.Guild{ID: 7, Choice: c.guild, Channels: []memory.Channel{
			{ID: channel, Guild: 7, Parent: category, AgeLimited: c.adult}, {ID: thread, Guild: 7, Parent: channel, Kind: memory.PublicThread},
			{ID: category, Guild: 7, Kind: memory.CategoryChannel}}}
		for i := range g.Channels {
			g.Channels[i].Choice = c.chosen[g.Channels[i].ID]
		}
		x := &exchange{policy: c.policy}
		x.Channel, x.Guild = snowflake(c.at), 7
		cmds := &commands{bot: &Bot{cfg: Config{Policy: c.policy}}}
		got := cmds.keptHere(x, member{guild: g})
		all = append(all, fmt.Sprintf("%s (remembered: %t)\n  %s", c.name, c.policy.Remembers(g, c.at), got))
	}
	x := &exchange{}
	cmds := &commands{bot: &Bot{cfg: Config{Policy: memory.Policy{Direct: true}}}}
	all = append(all, "direct messages\n  "+cmds.keptHere(x, member{guild: &memory.Guild{}}))
	golden.Seen(t, strings.Join(all, "\n"))
}

func TestSpansInWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{time.Minute: "1 hour", 23 * time.Hour: "23 hours", 24 * time.Hour: "1 day", 400 * 24 * time.Hour: "400 days"} {
		if got := (locale{}).span(d); got != want {
			t.Errorf("%v: %q", d, got)
		}
	}
}
