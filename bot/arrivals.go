package bot

import (
	"context"
	"sync"
	"time"

	"hark/memory"
)

// arrivals knows of which guilds Discord has told since the connection began. What was logged before of who may read
// what there may be long out of date, and nothing may be answered from it.
type arrivals struct {
	mu      sync.Mutex
	begun   bool                    // whether it is known which guilds are to come
	coming  map[memory.GuildID]bool // named, and not told of yet
	arrived map[memory.GuildID]bool // told of since the connection began
	changed chan struct{}           // closed at the next change
}

func newArrivals() *arrivals {
	return &arrivals{coming: map[memory.GuildID]bool{}, arrived: map[memory.GuildID]bool{}, changed: make(chan struct{})}
}

// begin begins a connection: guilds are to come. If they are nil it isn't known which.
func (a *arrivals) begin(guilds []memory.GuildID) {
	a.change(func() {
		a.begun = guilds != nil
		clear(a.coming)
		clear(a.arrived)
		for _, g := range guilds {
			a.coming[g] = true
		}
	})
}

// leave says that Discord can't tell of a guild for a while.
func (a *arrivals) leave(guild memory.GuildID) {
	a.change(func() {
		a.coming[guild] = true
		delete(a.arrived, guild)
	})
}

// arrive says that the log has what Discord told of guilds.
func (a *arrivals) arrive(guilds []memory.GuildID) {
	a.change(func() {
		for _, g := range guilds {
			delete(a.coming, g)
			a.arrived[g] = true
		}
	})
}

func (a *arrivals) change(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
	close(a.changed)
	a.changed = make(chan struct{})
}

// wait returns once the log knows who may read what in a guild, or errNotBack after limit. Of a guild that Hark isn't in
// there is nothing to wait for, nor of direct messages.
func (a *arrivals) wait(ctx context.Context, guild memory.GuildID, limit time.Duration) error {
	late := time.NewTimer(limit)
	defer late.Stop()
	for guild != memory.DirectGuild {
		a.mu.Lock()
		told, changed := a.arrived[guild] || a.begun && !a.coming[guild], a.changed
		a.mu.Unlock()
		if told {
			return nil
		}
		select {
		case <-changed:
		case <-late.C:
			return errNotBack
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// errNotBack has a sentence for whoever asked.
var errNotBack error = notBack{}

type notBack struct{}

func (notBack) Error() string { return "Discord hasn't told of the guild since the connection began" }
func (notBack) Sentence() string {
	return "I've only just come back, and don't know yet who may read what here. Please ask me again in a moment."
}
