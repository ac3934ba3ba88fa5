package discord

import (
	"fmt"

	"hark/bot/locale"
	"hark/memory"
)

// invitePermissions are what the invitation asks for, most important first: all that Hark needs except
// Connect, which only private voice channels need.
var invitePermissions = []memory.Permissions{memory.ViewChannel, SendMessages, AttachFiles, memory.ReadMessageHistory,
	SendInThreads}

// missingPermissions returns the English names of the invitePermissions that have lacks.
func missingPermissions(have memory.Permissions) []string {
	var missing []string
	for _, p := range invitePermissions {
		if !have.Has(p) && !have.Has(memory.Administrator) {
			missing = append(missing, PermissionNames(locale.Locale{}, p))
		}
	}
	return missing
}

// InviteURL returns the address that invites the bot with exactly the permissions it needs; guild 0 lets the
// user choose. In a guild with the bot it grants them.
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
