package bot

import (
	"strings"
	"testing"

	"hark/internal/discordtest"
	"hark/internal/embed"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/memory/sqlite/sqlitetest"
	"hark/search"
)

// A post is found from another channel by its title and its tags, as they are now.
func TestAForumPostIsFoundByItsTitle(t *testing.T) {
	t.Parallel()
	s := set(t)
	store := sqlitetest.Open(t, sqlite.Options{Space: embed.Builtin{}.Space()})
	t.Cleanup(func() { store.Close() })
	s.log = &notebook{Store: store, poke: s.discord.Poke}
	s.engine = answering(t, s.log, search.New(s.log, s.log, embed.Builtin{}), nil, memory.Policy{})
	tag := discordtest.ForumTag{ID: 81, Name: "networking"}
	forum := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "help", Type: discordtest.Forum,
		AvailableTags: []discordtest.ForumTag{tag}})
	post := s.discord.AddChannel(s.guild.ID, discordtest.Channel{Name: "Kiln purchase", Type: discordtest.PublicThread,
		ParentID: &forum.ID, OwnerID: s.bo.ID, AppliedTags: []discordtest.ID{81}})
	s.with(t, Config{Token: s.discord.Token, EditAnswers: true}).run(t).ready(t)
	s.discord.Say(post.ID, s.bo.ID, "the cheap one is 400 euros")
	finds := func(question string) {
		t.Helper()
		asked := s.ask(question)
		s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool {
			return m.Reference != nil && m.Reference.MessageID == asked.ID &&
				strings.Contains(m.Content, "400 euros") && strings.Contains(m.Content, "in #help › ")
		})
	}
	finds("how much is the kiln?")
	finds("networking?")
	s.discord.UpdateChannel(post.ID, func(c *discordtest.Channel) { c.Name = "Oven purchase" })
	s.discord.WaitFor("the rename", func() bool {
		g, err := store.Guild(t.Context(), s.guildID)
		return err == nil && g.Channel(memory.ChannelID(post.ID)).Name == "Oven purchase"
	})
	finds("how much is the oven?")
}
