package bot

import (
	"testing"

	"hark/internal/discordtest"
	"hark/memory"
)

// waitText waits until a message has a text in the log.
func (n *notebook) waitText(t *testing.T, m discordtest.Message, want string) {
	t.Helper()
	text := func() string {
		ids := []memory.MessageID{memory.MessageID(m.ID)}
		found, err := n.Around(t.Context(), memory.ChannelID(m.ChannelID), ids, 0, 0)
		if err != nil || len(found) == 0 {
			return ""
		}
		return found[0].Text()
	}
	n.changed.Until(t, "the text "+want, func() bool { return text() == want }, text)
}

func TestForwardsAndCrosspostsGoWithTheirSource(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.bot.timing = quick()
	store := s.with(t, Config{Token: s.discord.Token, LogBots: true}).run(t).ready(t).log
	news := s.addChannel("news").ID
	for name, c := range map[string]struct {
		copies func(discordtest.Message) discordtest.Message
		goes   func(source, copied discordtest.Message)
		was    string
	}{
		"forward, deleted": {
			copies: func(m discordtest.Message) discordtest.Message {
				return s.discord.Say(s.channel, s.bo.ID, "", discordtest.Forward(news, m.ID))
			},
			goes: func(source, _ discordtest.Message) { s.discord.Delete(news, source.ID) },
			was:  "[forwarded] the fair is on",
		},
		"forward, edited": {
			copies: func(m discordtest.Message) discordtest.Message {
				return s.discord.Say(s.channel, s.bo.ID, "", discordtest.Forward(news, m.ID))
			},
			goes: func(source, _ discordtest.Message) { s.discord.Edit(news, source.ID, "there is no fair") },
			was:  "[forwarded] the fair is on",
		},
		"crosspost, deleted": {
			copies: func(m discordtest.Message) discordtest.Message {
				return s.discord.Say(s.channel, s.bo.ID, "", discordtest.ViaWebhook("Garden #news"),
					discordtest.CrosspostOf(news, m.ID))
			},
			goes: func(source, _ discordtest.Message) { s.discord.Delete(news, source.ID) },
			was:  "the fair is on",
		},
		"crosspost of another server, deleted there": {
			copies: func(m discordtest.Message) discordtest.Message {
				return s.discord.Say(s.channel, s.bo.ID, "", discordtest.ViaWebhook("Garden #news"),
					discordtest.CrosspostOf(news, m.ID))
			},
			goes: func(_, copied discordtest.Message) { s.discord.LoseSource(s.channel, copied.ID) },
			was:  "the fair is on",
		},
	} {
		t.Run(name, func(t *testing.T) {
			source := s.discord.Say(news, s.ana.ID, "the fair is on")
			copied := c.copies(source)
			store.waitText(t, copied, c.was)
			c.goes(source, copied)
			store.waitText(t, copied, "")
		})
	}
}

// A copy goes with a message that isn't logged itself.
func TestForwardsGoWithASourceThatIsNotLogged(t *testing.T) {
	t.Parallel()
	s := set(t)
	store := s.run(t).ready(t).log
	news := s.addChannel("news").ID
	for name, goes := range map[string]func(discordtest.Message){
		"edited":  func(m discordtest.Message) { s.discord.Edit(m.ChannelID, m.ID, "there is no fair") },
		"deleted": func(m discordtest.Message) { s.discord.Delete(m.ChannelID, m.ID) },
	} {
		t.Run(name, func(t *testing.T) {
			source := s.discord.Say(news, s.bo.ID, "the fair is on", discordtest.ViaWebhook("Fairs"))
			copied := s.discord.Say(s.channel, s.ana.ID, "", discordtest.Forward(news, source.ID))
			store.waitText(t, copied, "[forwarded] the fair is on")
			goes(source)
			store.waitText(t, copied, "")
		})
	}
}
