package memory

// SweptFirst is the age of messages that are compared first, after Hark couldn't hear of changes.
const SweptFirst = 7 * day

// Gap is a stretch of a channel, After < id <= Until, to fetch because Hark hasn't heard its messages; or, if
// Sweep, to compare with Discord, because some may have been edited or deleted since. Channel, Until and
// Sweep identify it. After moves on as it is filled.
type Gap struct {
	Guild   GuildID
	Channel ChannelID
	After   MessageID
	Until   MessageID
	Past    bool // requested, not missed
	Sweep   bool // to compare, not to log
	Fetched int  // messages fetched so far
}
