package reply

import (
	"context"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/bot/locale"
	"hark/memory"
)

// logLack logs what can't be done in a channel, and which permissions are missing; once an hour
// for a channel.
func (r *Replier) logLack(ctx context.Context, guild memory.GuildID, channel memory.ChannelID, err error, what string) {
	if r.isMute(channel) {
		return
	}
	line := r.Log.Warn().Err(err).Int64("channel", int64(channel))
	if missing, failed := r.Grants.Missing(ctx, guild, channel, discord.ToAnswer); failed == nil && missing != 0 &&
		guild != memory.DirectGuild {
		line = line.Str("missing", discord.PermissionNames(locale.Locale{}, missing)).Str("grant",
			r.Grants.Link(guild, missing))
	}
	line.Msg(what + "; not said again for an hour")
}

// noFilesNote returns the line below an answer whose files Discord refused for lack of permission. It is said
// and logged once an hour for a channel.
func (r *Replier) noFilesNote(ctx context.Context, a *ingest.Question, err error) string {
	if a.Guild == memory.DirectGuild {
		return ""
	}
	missing, failed := r.Grants.Missing(ctx, a.Guild, a.Channel, discord.ToAnswer)
	if failed != nil || !missing.Has(discord.AttachFiles) || r.isMute(a.Channel) {
		return ""
	}
	r.Log.Warn().Err(err).Int64("channel", int64(a.Channel)).Str("missing",
		discord.PermissionNames(locale.Locale{}, missing)).Str("grant", r.Grants.Link(a.Guild, missing)).
		Msg("may not attach files where it was asked, so code stands in the answer; not said again for an hour")
	return "-# " + r.Grants.Lacking(r.LocaleIn(ctx, a.Guild, a.Channel), a.Guild, a.Channel, missing)
}
