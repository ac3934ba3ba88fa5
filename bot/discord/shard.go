package discord

import (
	"fmt"
	"time"

	"hark/memory"
)

// IdentifyEvery is the time between two sessions that begin in a bucket. Discord's is five seconds; the rest is for
// the network's whims.
const IdentifyEvery = 5200 * time.Millisecond

// Shard is a part of the guilds: those whose events one gateway session gets. The zero value is the only one.
type Shard struct {
	No int // from 0
	Of int // how many shards there are; 0: 1
}

// Count returns how many shards there are.
func (s Shard) Count() int { return max(s.Of, 1) }

// Has reports whether a guild's events come to the shard. Those of direct messages come to shard 0.
// https://discord.com/developers/docs/events/gateway#sharding-sharding-formula
func (s Shard) Has(guild memory.GuildID) bool { return int(int64(guild)>>22%int64(s.Count())) == s.No }

// IsFirst reports whether the shard does what is done once for all shards.
func (s Shard) IsFirst() bool { return s.No == 0 }

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.No, s.Count()) }
