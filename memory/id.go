package memory

import (
	"math"
	"strconv"
	"time"
)

// Ids are Discord snowflakes: 42 bits of milliseconds since 2015, then 22 bits that distinguish ids of the
// same millisecond. Zero means "none".
type (
	GuildID   int64
	ChannelID int64
	RoleID    int64
	UserID    int64
	MessageID int64
	TagID     int64
)

// Membership is a member of a guild.
type Membership struct {
	Guild GuildID
	User  UserID
}

const (
	// DirectGuild is the guild of direct messages, which have none.
	DirectGuild GuildID = 0
	// LocalGuild is the guild of recall sets and the terminal's conversations.
	LocalGuild GuildID = 1
)

// discordEpoch is the start of 2015, from which snowflakes count.
const discordEpoch = 1420070400000

// Time returns when the message was sent, to the millisecond, in UTC.
func (id MessageID) Time() time.Time {
	return time.UnixMilli(int64(id)>>22 + discordEpoch).UTC()
}

// FirstMessageID returns the smallest id that a message sent at t can have. Before 2015 it is negative, in
// the same order. Ids reach from 1945 to 2084; earlier times give the smallest, later ones the largest.
func FirstMessageID(t time.Time) MessageID {
	ms := t.UnixMilli() - discordEpoch
	switch {
	case ms > math.MaxInt64>>22:
		return math.MaxInt64
	case ms < math.MinInt64>>22:
		return math.MinInt64
	}
	return MessageID(ms << 22)
}

func (id GuildID) String() string   { return strconv.FormatInt(int64(id), 10) }
func (id ChannelID) String() string { return strconv.FormatInt(int64(id), 10) }
func (id RoleID) String() string    { return strconv.FormatInt(int64(id), 10) }
func (id UserID) String() string    { return strconv.FormatInt(int64(id), 10) }
func (id MessageID) String() string { return strconv.FormatInt(int64(id), 10) }

const day = 24 * time.Hour
