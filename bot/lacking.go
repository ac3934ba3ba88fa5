package bot

import (
	"context"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/memory"
)

// missingFor is missing for whoever uses an exchange. Of the channel that it is used in the use itself tells.
func (c *commands) missingFor(ctx context.Context, x *exchange, at memory.Channel, n discord.Need) (memory.Permissions, error) {
	if at.Kind == memory.CategoryChannel {
		return 0, nil
	}
	if told := memory.Permissions(x.AppPermissions); told != 0 && at.ID == memory.ChannelID(x.Channel) {
		if told.Has(memory.Administrator) {
			return 0, nil
		}
		return n.Needed(at.Kind) &^ told, nil
	}
	return c.bot.grants.Missing(ctx, x.guild(), at.ID, n)
}

// logLack logs, once an hour for a channel, that something can't be done there, with what is missing and
// where it is given.
func (b *Bot) logLack(ctx context.Context, guild memory.GuildID, channel memory.ChannelID, err error, what string) {
	if b.isMute(channel) {
		return
	}
	line := b.log.Warn().Err(err).Int64("channel", int64(channel))
	if missing, failed := b.grants.Missing(ctx, guild, channel, discord.ToAnswer); failed == nil && missing != 0 &&
		guild != memory.DirectGuild {
		line = line.Str("missing", discord.PermissionNames(locale.Locale{}, missing)).Str("grant", b.grants.Link(guild, missing))
	}
	line.Msg(what + "; not said again for an hour")
}

// noFiles is what stands below an answer of which Discord didn't take the files, where Hark may send none:
// once an hour for a channel, as the log says it.
func (b *Bot) noFiles(ctx context.Context, a *ingest.Question, err error) string {
	if a.Guild == memory.DirectGuild {
		return ""
	}
	missing, failed := b.grants.Missing(ctx, a.Guild, a.Channel, discord.ToAnswer)
	if failed != nil || !missing.Has(discord.AttachFiles) || b.isMute(a.Channel) {
		return ""
	}
	b.log.Warn().Err(err).Int64("channel", int64(a.Channel)).Str("missing",
		discord.PermissionNames(locale.Locale{}, missing)).Str("grant", b.grants.Link(a.Guild, missing)).
		Msg("may not attach files where it was asked, so code stands in the answer; not said again for an hour")
	return "-# " + b.grants.Lacking(b.localeIn(ctx, a.Guild, a.Channel), a.Guild, a.Channel, missing)
}
