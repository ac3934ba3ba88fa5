package memory

import "time"

// OpenQuestion is a message that asks Hark something and isn't answered yet. A store keeps its ids only.
type OpenQuestion struct {
	Guild   GuildID
	Channel ChannelID
	ID      MessageID
}

// SweptFirst is how far back messages are compared with Discord first, after a time in which Hark wasn't told
// of changes.
const SweptFirst = 7 * 24 * time.Hour

// Gap is a stretch of a channel, After < id <= Until, that Hark is to fetch: it hasn't heard what was said
// there, or, if Sweep, it has the messages, and some may have been edited or deleted since without its being
// told. Channel, Until and Sweep name it; After moves on as it is filled.
type Gap struct {
	Guild   GuildID
	Channel ChannelID
	After   MessageID
	Until   MessageID
	Past    bool // asked for, rather than missed
	Sweep   bool // to be compared, rather than logged
	Fetched int  // messages fetched so far
}
