package discord

import "hark/memory"

// The permissions that Hark needs besides those that decide who reads what, and those by which it is known who may
// decide. https://discord.com/developers/docs/topics/permissions
const (
	ManageGuild    memory.Permissions = 1 << 5
	SendMessages   memory.Permissions = 1 << 11
	ManageMessages memory.Permissions = 1 << 13
	AttachFiles    memory.Permissions = 1 << 15
	SendInThreads  memory.Permissions = 1 << 38
)
