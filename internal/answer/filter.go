package answer

import (
	"slices"
	"time"

	"hark/memory"
	"hark/search"
)

// Filter narrows what is recalled down by time, author and place. It never widens what may be read.
type Filter struct {
	Since, Until time.Time            // from Since on, and before Until; zero: without a bound
	From         []memory.UserID      // only what they said; empty: what anybody said
	In           []memory.ChannelID   // only there and in the threads there; empty: everywhere
	Summaries    search.SummaryFilter // of earlier sessions only those; messages are recalled all the same
}

// narrow filters scope; channels are those of its guilds.
func (f Filter) narrow(scope memory.Scope, channels map[memory.ChannelID]memory.Channel) memory.Scope {
	scope.Since, scope.Until, scope.Authors = f.Since, f.Until, f.From
	scope.Channels = f.channels(scope.Channels, channels)
	return scope
}

// channels filters ids.
func (f Filter) channels(ids []memory.ChannelID, channels map[memory.ChannelID]memory.Channel) []memory.ChannelID {
	if len(f.In) == 0 {
		return ids
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id memory.ChannelID) bool {
		c := channels[id]
		return !slices.Contains(f.In, id) && (!c.Kind.IsThread() || !slices.Contains(f.In, c.Parent))
	})
}
