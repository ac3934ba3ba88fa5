package memory

import "time"

// GapFound adds a stretch of a channel to fetch.
type GapFound struct{ Gap Gap }

// Place implements Event.
func (e GapFound) Place() (GuildID, ChannelID) { return e.Gap.Guild, e.Gap.Channel }

// GapFilled means that a gap was fetched, or compared, up to and including Through; at its Until it is
// complete.
type GapFilled struct {
	Gap     Gap
	Through MessageID
}

// Place implements Event.
func (e GapFilled) Place() (GuildID, ChannelID) { return e.Gap.Guild, e.Gap.Channel }

// Absent means that Hark may have missed edits and deletions until At in a guild, or in a channel with
// its threads or channels. Messages remembered from before must be compared with Discord; see Store.Gaps.
type Absent struct {
	Guild   GuildID
	Channel ChannelID
	At      time.Time
}

// Place implements Event.
func (e Absent) Place() (GuildID, ChannelID) { return e.Guild, e.Channel }

// ShutOut means that Hark can no longer read a channel. It is Shut until all of it is compared after an
// Absent. Apply that when Hark can read it again.
type ShutOut struct {
	Guild   GuildID
	Channel ChannelID
}

// Place implements Event.
func (e ShutOut) Place() (GuildID, ChannelID) { return e.Guild, e.Channel }
