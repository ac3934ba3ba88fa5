package ingest

import (
	"context"
	"sync"
	"time"

	"hark/bot/locale"
	"hark/memory"
)

// Readiness knows which guilds Discord has described since the session began. Before that, logged permissions
// may be out of date, and nothing is answered from them.
type Readiness struct {
	mu       sync.Mutex
	ready    map[memory.GuildID]bool // false: announced, not yet described
	complete bool                    // whether ready has all guilds that Hark is in
	changed  chan struct{}           // closed at the next change
}

// NewReadiness returns a readiness without guilds.
func NewReadiness() *Readiness {
	return &Readiness{ready: map[memory.GuildID]bool{}, changed: make(chan struct{})}
}

// begin starts a connection that will describe guilds; nil: unknown which.
func (r *Readiness) begin(guilds []memory.GuildID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.ready)
	r.complete = guilds != nil
	r.setLocked(false, guilds)
}

// settled reports whether all guilds are known and described.
func (r *Readiness) settled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ready := range r.ready {
		if !ready {
			return false
		}
	}
	return r.complete
}

// Count returns how many guilds the log has Discord's description of.
func (r *Readiness) Count() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ready := range r.ready {
		if ready {
			n++
		}
	}
	return n
}

// set says whether the log has Discord's description of guilds. It is false during an outage.
func (r *Readiness) set(ready bool, guilds ...memory.GuildID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setLocked(ready, guilds)
}

func (r *Readiness) setLocked(ready bool, guilds []memory.GuildID) {
	for _, g := range guilds {
		r.ready[g] = ready
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// Wait returns once the log has the permissions of a guild, or ErrNotReady after limit. It doesn't wait for
// direct messages or guilds that Hark isn't in.
func (r *Readiness) Wait(ctx context.Context, guild memory.GuildID, limit time.Duration) error {
	late := time.NewTimer(limit)
	defer late.Stop()
	for guild != memory.DirectGuild {
		r.mu.Lock()
		ready, announced := r.ready[guild]
		changed := r.changed
		foreign := r.complete && !announced
		r.mu.Unlock()
		if ready || foreign {
			return nil
		}
		select {
		case <-changed:
		case <-late.C:
			return ErrNotReady
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// ErrNotReady means that Discord hasn't described a guild since the connection began.
const ErrNotReady locale.MessageKey = "I've only just come back, and don't know yet who may read what here. Please ask me again in a moment."
