package ingest

import (
	"hark/bot/discord"
	"hark/memory"
)

// Lose records that the message was deleted.
func (m *Unlogged) Lose() { m.gone.Store(true) }

// IsGone reports whether the message was deleted.
func (m *Unlogged) IsGone() bool { return m.gone.Load() }

// unlogged returns the message that w replies to, if a bot or a webhook wrote it and it isn't logged; else nil.
func (c *converter) unlogged(replied, w *discord.Message) *Unlogged {
	if replied.Author == nil {
		return nil
	}
	kind := c.kindOf(replied)
	isOthers := kind == memory.FromBot || kind == memory.FromWebhook
	isLogged := c.isKindLogged(kind, memory.GuildID(w.Guild), memory.ChannelID(w.Channel))
	if !isOthers || isLogged || replied.Flags&sourceDeleted != 0 {
		return nil
	}
	m := messageOf(replied, kind)
	m.Content = memory.Clean(m.Content)
	m.Guild = memory.GuildID(w.Guild)
	m.Channel = memory.ChannelID(w.Channel)
	if m.Text() == "" {
		return nil
	}
	return &Unlogged{Message: m, Name: discord.DisplayName(replied.Author, replied.Member)}
}
