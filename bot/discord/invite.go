package discord

import (
	"fmt"

	"hark/bot/locale"
	"hark/memory"
)

// needed are the permissions that the invitation asks for, those first without which nothing is of use: all
// that Hark ever needs but Connect, which voice channels that not everybody may join want.
var invitePermissions = []memory.Permissions{memory.ViewChannel, SendMessages, AttachFiles, memory.ReadMessageHistory,
	SendInThreads}

// missingPermissions are those of the needed that have hasn't, as Discord's settings name them in English.
func missingPermissions(have memory.Permissions) []string {
	var missing []string
	for _, p := range invitePermissions {
		if !have.Has(p) && !have.Has(memory.Administrator) {
			missing = append(missing, PermissionNames(locale.Locale{}, p))
		}
	}
	return missing
}

// InviteURL is the address that invites the application's bot, with the permissions that Hark needs and no others, into
// guild, or into whichever is chosen if guild is 0. Where the bot is already, it is granted them.
func InviteURL(app string, guild memory.GuildID) string {
	return GrantURL(app, guild, 0)
}

// GrantURL is InviteURL with further permissions.
func GrantURL(app string, guild memory.GuildID, further memory.Permissions) string {
	sum := further
	for _, p := range invitePermissions {
		sum |= p
	}
	link := fmt.Sprintf("https://discord.com/oauth2/authorize?client_id=%s&scope=bot+applications.commands&permissions=%d", app, uint64(sum))
	if guild != 0 {
		link += "&guild_id=" + guild.String() + "&disable_guild_select=true"
	}
	return link
}
