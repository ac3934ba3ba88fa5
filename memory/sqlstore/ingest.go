package sqlstore

import (
	"maps"
	"slices"
	"time"

	"hark/memory"
)

// maxCommit bounds the events of a shared transaction, to free the lock soon.
const maxCommit = 2000

// withdraw takes b back; false if it is being committed.
func (w *ingest) withdraw(b *batch) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.waiting, b)
	if i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
	}
	return i >= 0
}

// take returns the next batches to commit together.
func (w *ingest) take() []*batch {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	events := 0
	for n < len(w.waiting) && (n == 0 || events+len(w.waiting[n].events) <= maxCommit) {
		events += len(w.waiting[n].events)
		n++
	}
	taken := w.waiting[:n:n]
	w.waiting = w.waiting[n:]
	return taken
}

// stepTime is about how long a transaction of a long write takes, so others wait briefly.
const stepTime = 20 * time.Millisecond

// forget drops the caches.
func (w *ingest) forget() {
	clear(w.channels)
	clear(w.guildNos)
	clear(w.guildIDs)
	clear(w.segments)
	w.decisions = nil
	w.dropped = dropped{}
}

func (w *ingest) isIdle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting) == 0
}

// guilds returns whose cached state changed.
func (c changes) guilds() []memory.GuildID {
	all := maps.Clone(c.structure)
	maps.Copy(all, c.people)
	return slices.Sorted(maps.Keys(all))
}

func (s *Store) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
