package ingest

import (
	"context"
	"sync"
	"time"

	"hark/bot/locale"
	"hark/memory"
)

// Readiness knows of which guilds Discord has told since the connection began. What was logged before of who may read
// what there may be long out of date, and nothing may be answered from it.
type Readiness struct {
	mu       sync.Mutex
	ready    map[memory.GuildID]bool // whether it has; false for those that are to come
	complete bool                    // whether Hark is in no more guilds than these
	changed  chan struct{}           // closed at the next change
}

// NewReadiness returns a readiness that knows of no guild.
func NewReadiness() *Readiness {
	return &Readiness{ready: map[memory.GuildID]bool{}, changed: make(chan struct{})}
}

// begin begins a connection: guilds are to come. If they are nil it isn't known which.
func (r *Readiness) begin(guilds []memory.GuildID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.ready)
	r.complete = guilds != nil
	r.setLocked(false, guilds)
}

// tell says whether the log has what Discord told of guilds, or Discord can't tell of them for a while.
func (r *Readiness) set(told bool, guilds ...memory.GuildID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setLocked(told, guilds)
}

func (r *Readiness) setLocked(told bool, guilds []memory.GuildID) {
	for _, g := range guilds {
		r.ready[g] = told
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// Wait returns once the log knows who may read what in a guild, or errNotBack after limit. Of a guild that
// Hark isn't in there is nothing to wait for, nor of direct messages.
func (r *Readiness) Wait(ctx context.Context, guild memory.GuildID, limit time.Duration) error {
	late := time.NewTimer(limit)
	defer late.Stop()
	for guild != memory.DirectGuild {
		r.mu.Lock()
		told, named := r.ready[guild]
		told, changed := told || !named && r.complete, r.changed
		r.mu.Unlock()
		if told {
			return nil
		}
		select {
		case <-changed:
		case <-late.C:
			return ErrNotBack
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// ErrNotBack is that Discord hasn't told of a guild since the connection began.
const ErrNotBack locale.Phrase = "I've only just come back, and don't know yet who may read what here. Please ask me again in a moment."
