package ingest

import (
	"hark/bot/discord"
	"hark/internal/body"
	"hark/memory"
)

// botsOf returns what becomes of a message of a bot or a webhook.
func (c *converter) botsOf(guild memory.GuildID, channel memory.ChannelID) memory.Bots {
	otherwise := memory.BotsForgotten
	if c.logBots {
		otherwise = memory.BotsRemembered
	}
	if c.bots == nil || guild == memory.DirectGuild {
		return otherwise
	}
	return c.bots(guild, channel, otherwise)
}

// isLogged reports whether a message from the gateway is logged, as far as its kind decides that.
func (c *converter) isLogged(w *discord.Message) bool {
	return c.isKindLogged(c.kindOf(w), memory.GuildID(w.Guild), memory.ChannelID(w.Channel))
}

func (c *converter) isKindLogged(kind memory.Kind, guild memory.GuildID, channel memory.ChannelID) bool {
	switch kind {
	case memory.FromHark:
		return false
	case memory.FromBot, memory.FromWebhook:
		return c.botsOf(guild, channel) != memory.BotsForgotten
	}
	return true
}

// mayAsk reports whether the author of a message may ask Hark: a member, or a webhook that speaks for a person. What an
// application answers to a command isn't from a person.
func (c *converter) mayAsk(w *discord.Message) bool {
	switch c.kindOf(w) {
	case memory.FromMember:
		return true
	case memory.FromWebhook:
		isSpeaking := w.Interaction == nil && w.Guild != 0
		return isSpeaking && c.botsOf(memory.GuildID(w.Guild), memory.ChannelID(w.Channel)) == memory.BotsHeard
	}
	return false
}

// authorOf returns the author of a message of a kind. A webhook's name is a person of its channel.
func authorOf(w *discord.Message, kind memory.Kind) memory.UserID {
	if kind == memory.FromWebhook {
		return memory.WebhookPerson(memory.ChannelID(w.Channel), memory.Clean(w.Author.Username))
	}
	return memory.UserID(w.Author.ID)
}

// speakerOf returns the author of a message under another id.
func speakerOf(w *discord.Message, id memory.UserID) *discord.User {
	u := *w.Author
	u.ID = discord.Snowflake(id)
	return &u
}

func (c *converter) kindOf(w *discord.Message) memory.Kind {
	switch {
	case w.Author != nil && memory.UserID(w.Author.ID) == c.self:
		return memory.FromHark
	case w.Webhook != 0:
		return memory.FromWebhook
	case w.Author != nil && w.Author.Bot:
		return memory.FromBot
	case !body.IsSaid(typeOf(w)):
		return memory.FromSystem
	}
	return memory.FromMember
}

func typeOf(w *discord.Message) int {
	if w.Type == nil {
		return body.Default
	}
	return *w.Type
}
