package memory

import "time"

// GuildSeen is a guild's whole structure. Choices stay. A channel becomes unplaced if it isn't listed,
// unless it is a thread of a listed one; or if it is listed as unplaced, because Discord sent too little
// about it. Hark began to listen at the first one's At, and again at the first after the guild was left.
type GuildSeen struct {
	Guild Guild
	At    time.Time
}

// Place implements Event.
func (e GuildSeen) Place() (GuildID, ChannelID) { return e.Guild.ID, 0 }

// GuildNamed is a guild's name from an old file. A known name stays.
type GuildNamed struct {
	Guild GuildID
	Name  string
}

// Place implements Event.
func (e GuildNamed) Place() (GuildID, ChannelID) { return e.Guild, 0 }

// GuildLeft means that Hark was removed from a guild. All its channels become unplaced. A Janitor forgets
// it after LeftFor.
type GuildLeft struct {
	Guild GuildID
	At    time.Time
}

// Place implements Event.
func (e GuildLeft) Place() (GuildID, ChannelID) { return e.Guild, 0 }

// ChannelSeen is a channel that is new, has changed, or is about to get imported messages. If Unplaced,
// it comes from an old file, and only changes a channel known by its messages alone. An empty name
// changes nothing.
type ChannelSeen struct{ Channel Channel }

// Place implements Event.
func (e ChannelSeen) Place() (GuildID, ChannelID) { return e.Channel.Guild, e.Channel.ID }

// ChannelGone makes a channel unplaced. Its threads stay, but nobody counts as able to read them
// meanwhile.
type ChannelGone struct {
	Guild   GuildID
	Channel ChannelID
}

// Place implements Event.
func (e ChannelGone) Place() (GuildID, ChannelID) { return e.Guild, e.Channel }

// ChannelDeleted means that a channel was deleted in Discord. It and its threads become unplaced and lose
// their names. It begins a Forgetting of their messages; the caller or a Janitor must carry it out.
type ChannelDeleted struct {
	Guild   GuildID
	Channel ChannelID
	At      time.Time
}

// Place implements Event.
func (e ChannelDeleted) Place() (GuildID, ChannelID) { return e.Guild, e.Channel }

type RoleSeen struct {
	Guild GuildID
	Role  Role
}

// Place implements Event.
func (e RoleSeen) Place() (GuildID, ChannelID) { return e.Guild, 0 }

// RoleGone removes a role and the overwrites that name it.
type RoleGone struct {
	Guild GuildID
	Role  RoleID
}

// Place implements Event.
func (e RoleGone) Place() (GuildID, ChannelID) { return e.Guild, 0 }

// Chose decides whether to remember a guild, or, with Channel set, a channel or a category. The last by
// At holds. If it allows more than before, messages until At don't count as missing, and those remembered
// from before are compared, as after an Absent.
type Chose struct {
	Guild   GuildID
	Channel ChannelID
	Choice  Choice
	By      UserID // as in SettingChosen
	At      time.Time
}

// Place implements Event.
func (e Chose) Place() (GuildID, ChannelID) { return e.Guild, e.Channel }

func (Chose) decides() {}

// Asked means that Message asked a guild's admins what to remember.
type Asked struct {
	Guild   GuildID
	Channel ChannelID
	Message MessageID
}

// Place implements Event.
func (e Asked) Place() (GuildID, ChannelID) { return e.Guild, e.Channel }
