package bot

import (
	"fmt"
	"strings"
	"testing"
	"time"

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
	s.log.wait(t, "the channels", func() bool {
		_, seen := find(s.log, func(e memory.ChannelSeen) bool { return e.Channel.ID == memory.ChannelID(adults.ID) })
		return seen
	})
	guild := memory.GuildID(s.guild.ID)
	if err := s.log.Apply(t.Context(), memory.Chose{Guild: guild, Channel: memory.ChannelID(never.ID), Choice: memory.Ignore},
		memory.SettingChosen{Guild: guild, Channel: memory.ChannelID(never.ID), Key: memory.SettingRetention, Value: "1d"}); err != nil {
		t.Fatal(err)
	}
	bare := s.everyPage(s.discord.Slash(s.channel, s.bo.ID, "privacy"), "out of Discord.")
	for _, text := range []string{
		fmt.Sprintf("I remember what is said in <#%d>: those who manage this server have chosen all channels that everybody here can read.", s.channel),
		"that I may tell you of here (2) I remember 1.", "I learn nothing about people by myself here", "no end is set", "What the model was sent for it: not at all",
		"Language model: none", "Finding by meaning: built in", "whoever runs this bot hasn't said", "</memory forget:",
	} {
		if !strings.Contains(bare, text) {
			t.Errorf("%q is missing in %q", text, bare)
		}
	}
	for _, text := range []string{"summary", hidden.ID.String(), "Sorting", "`/catchup`", "So does what members write"} {
		if strings.Contains(bare, text) {
			t.Errorf("%q is in %q", text, bare)
		}
	}
	at := func(channel discordtest.ID) string {
		return s.everyPage(s.discord.Slash(channel, s.bo.ID, "privacy"), "out of Discord.")
	}
	if got := at(never.ID); !strings.Contains(got, "have chosen that I never do") || !strings.Contains(got, fmt.Sprintf("have set for <#%d>: 1 day.", never.ID)) {
		t.Errorf("where nothing is remembered: %q", got)
	}
	if got := at(adults.ID); !strings.Contains(got, "age-restricted, and nobody has chosen it by name") {
		t.Errorf("where adults are: %q", got)
	}
	privacy := Privacy{Operator: "Ann, <https://ann.example>", Retention: 48 * time.Hour, Prompts: 90 * time.Minute, Records: 72 * time.Hour, Summaries: true,
		Models: []string{"llm.example", "big.example:8080"}, Embedder: "vectors.example", Reranker: "order.example", Vision: true}
	terms := *s.bot.terms.Load()
	terms.Privacy = privacy
	s.bot.Renew(terms)
	if err := s.log.Apply(t.Context(), memory.Learn{Guild: guild, On: true, At: s.discord.Now()}); err != nil {
		t.Fatal(err)
	}
	full := at(s.channel)
	if err := s.log.Apply(t.Context(), memory.Learn{Guild: guild, At: s.discord.Now().Add(time.Second)}); err != nil {
		t.Fatal(err)
	}
	if got := at(s.channel); strings.Contains(got, "So does what members write") || !strings.Contains(got, "`/catchup`") {
		t.Errorf("where nothing is learned: %q", got)
	}
	for _, text := range []string{
		"after 2 days", "What the model was sent for it: 1 hour. Which calls were made for it, in ids and numbers: 3 days.", "go to `llm.example`, `big.example:8080`.",
		"Images that you show me go there as well.", "conversations in which I was asked something", "goes to `vectors.example`", "go to `order.example`",
		"Who runs me: Ann, <https://ann.example>", "I keep a summary of it", "switched that on for themselves",
		"Whoever uses `/catchup` has the channel's latest messages sent there as well, 300 at most.", "So does what members write who have switched on `/memory learn`.",
	} {
		if !strings.Contains(full, text) {
			t.Errorf("%q is missing in %q", text, full)
		}
	}
	dm := s.discord.DM(s.bo.ID, "hello")
	if got := at(dm.ChannelID); !strings.Contains(got, "I keep nothing of direct messages") || strings.Contains(got, "that I may tell you of here (") {
		t.Errorf("in direct messages: %q", got)
	}
}

// Why a channel is remembered is told as it is decided: memory.Policy decides, and this says why.
func TestWhyAChannelIsRemembered(t *testing.T) {
	t.Parallel()
	const channel, thread, category = 1, 2, 3
	for name, c := range map[string]struct {
		policy memory.Policy
		guild  memory.Choice
		chosen map[memory.ChannelID]memory.Choice
		adult  bool
		at     memory.ChannelID
		want   string
	}{
		"as set up":        {at: channel, want: "nobody here has decided otherwise"},
		"undecided":        {policy: memory.Policy{Ask: true}, at: channel, want: "nobody here has decided yet"},
		"all":              {guild: memory.Remember, at: thread, want: "all channels that I can read"},
		"public":           {guild: memory.RememberPublic, at: channel, want: "only channels that everybody here can read"},
		"others":           {guild: memory.RememberChosen, at: channel, want: "have chosen other channels"},
		"nothing":          {guild: memory.Ignore, at: channel, want: "that I remember nothing"},
		"by name":          {guild: memory.Ignore, chosen: map[memory.ChannelID]memory.Choice{channel: memory.Remember}, at: thread, want: "have chosen it."},
		"by category":      {guild: memory.Ignore, chosen: map[memory.ChannelID]memory.Choice{category: memory.Remember}, at: thread, want: "have chosen it."},
		"never":            {guild: memory.Remember, chosen: map[memory.ChannelID]memory.Choice{category: memory.Ignore}, at: channel, want: "that I never do"},
		"adults":           {guild: memory.Remember, adult: true, at: thread, want: "it is age-restricted"},
		"adults, allowed":  {policy: memory.Policy{AgeLimited: true}, guild: memory.Remember, adult: true, at: thread, want: "all channels that I can read"},
		"adults, category": {chosen: map[memory.ChannelID]memory.Choice{category: memory.Remember}, adult: true, at: channel, want: "it is age-restricted"},
		"unknown":          {policy: memory.Policy{AgeLimited: false}, adult: true, at: 9, want: "don't know this channel well enough"},
	} {
		g := &memory.Guild{ID: 7, Choice: c.guild, Channels: []memory.Channel{
			{ID: channel, Guild: 7, Parent: category, AgeLimited: c.adult}, {ID: thread, Guild: 7, Parent: channel, Kind: memory.PublicThread},
			{ID: category, Guild: 7, Kind: memory.CategoryChannel}}}
		for i := range g.Channels {
			g.Channels[i].Choice = c.chosen[g.Channels[i].ID]
		}
		x := &exchange{}
		x.Channel, x.Guild = snowflake(c.at), 7
		cmds := &commands{bot: &Bot{cfg: Config{Policy: c.policy}}}
		got := cmds.keptHere(x, member{guild: g})
		if !strings.Contains(got, c.want) || strings.HasPrefix(got, "I remember") != c.policy.Remembers(g, c.at) {
			t.Errorf("%s: %q", name, got)
		}
	}
	x := &exchange{}
	cmds := &commands{bot: &Bot{cfg: Config{Policy: memory.Policy{Direct: true}}}}
	if got := cmds.keptHere(x, member{guild: &memory.Guild{}}); !strings.HasPrefix(got, "I remember what we write in direct messages") {
		t.Errorf("direct: %q", got)
	}
}

func TestSpansInWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{time.Minute: "1 hour", 23 * time.Hour: "23 hours", 24 * time.Hour: "1 day", 400 * 24 * time.Hour: "400 days"} {
		if got := (locale{}).span(d); got != want {
			t.Errorf("%v: %q", d, got)
		}
	}
}
