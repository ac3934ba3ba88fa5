package memory

// OpenQuestion is a message that asks Hark something and isn't answered yet. A store keeps its ids only.
type OpenQuestion struct {
	Guild   GuildID
	Channel ChannelID
	ID      MessageID
}

// Gap is a stretch of a channel whose messages Hark hasn't heard, and is to fetch: those with After < id <= Until.
// Channel and Until name it; After moves on as it is filled.
type Gap struct {
	Guild   GuildID
	Channel ChannelID
	After   MessageID
	Until   MessageID
	Past    bool // asked for, rather than missed
	Fetched int  // messages fetched so far
}
