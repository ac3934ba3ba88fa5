package bot

import (
	"testing"

	"hark/internal/discordtest"
)

// TestGuestsAreToldNothing lets a guest ask, and use commands.
func TestGuestsAreToldNothing(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	gil := s.discord.AddGuest(s.guild.ID, discordtest.User{Username: "gil"})
	s.discord.Say(s.channel, gil.ID, s.discord.Bot.Mention()+" what is planned?")
	s.says(t, s.use(t, gil, "lore list"))
	s.says(t, s.use(t, gil, "catchup"))
	s.says(t, s.use(t, gil, "memory optout"))
	asked := s.discord.Say(s.channel, s.ana.ID, s.discord.Bot.Mention()+" what is planned?")
	s.discord.WaitSent(s.channel, func(m discordtest.Sent) bool {
		return m.Reference != nil && m.Reference.MessageID == asked.ID
	})
	for _, m := range s.discord.Sent(s.channel) {
		if m.Reference != nil && m.Reference.MessageID != asked.ID {
			t.Errorf("the guest was told %q", m.Content)
		}
	}
}
