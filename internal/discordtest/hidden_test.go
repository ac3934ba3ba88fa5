package discordtest_test

import (
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"hark/internal/discordtest"
)

// Of a channel that a bot may not view Discord tells where it is and no more; what happens in it, and its end, not at all. Once it
// may be viewed it is told as a whole, with its threads.
func TestHiddenChannels(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	g, c, ana := place(discord)
	discord.AddChannel(g.ID, discordtest.Channel{Name: "thread", Type: discordtest.PublicThread, ParentID: &c.ID})
	role := discord.AddRole(g.ID, "readers", 0)
	b := newBot(t, discord)
	b.Identify.Intents = discordgo.IntentsGuilds | discordgo.IntentsGuildMessages // being told of itself takes no intent
	hidden := func(e *discordgo.Event) bool { return strings.Contains(string(e.RawData), "___hidden___") }
	b.AddHandler(func(_ *discordgo.Session, e *discordgo.Event) {
		if e.Type == "" || e.Type == "READY" || e.Type == "GUILD_CREATE" {
			return
		}
		if line := e.Type; hidden(e) {
			b.hear("%s hidden", line)
		} else {
			b.hear("%s", line)
		}
	})
	b.open(t)
	discord.SetOverwrite(c.ID, discordtest.ForRole(g.ID, 0, discordtest.ViewChannel))
	discord.SetOverwrite(c.ID, discordtest.ForRole(role.ID, discordtest.ViewChannel, 0))
	discord.Delete(c.ID, discord.Say(c.ID, ana.ID, "secret").ID)
	discord.UpdateMember(g.ID, discord.Bot.ID, func(m *discordtest.Member) { m.Roles = append(m.Roles, role.ID) })
	discord.UpdateMember(g.ID, discord.Bot.ID, func(m *discordtest.Member) { m.Roles = m.Roles[:1] })
	discord.RemoveChannel(c.ID)
	discord.AddRole(g.ID, "end", 0)
	want := "ready, guild Garden, CHANNEL_UPDATE hidden, CHANNEL_UPDATE hidden, GUILD_MEMBER_UPDATE, CHANNEL_UPDATE, THREAD_LIST_SYNC, GUILD_MEMBER_UPDATE, GUILD_ROLE_CREATE"
	if got := strings.Join(b.waitHeard(t, 9), ", "); got != want {
		t.Errorf("told of %s", got)
	}
}
