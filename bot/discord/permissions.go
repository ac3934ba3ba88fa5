package discord

import "hark/memory"

// The permissions that Hark needs beyond those for reading, and those that show who may
// change settings. https://discord.com/developers/docs/topics/permissions
const (
	ManageGuild    memory.Permissions = 1 << 5
	SendMessages   memory.Permissions = 1 << 11
	ManageMessages memory.Permissions = 1 << 13
	AttachFiles    memory.Permissions = 1 << 15
	SendInThreads  memory.Permissions = 1 << 38
)
