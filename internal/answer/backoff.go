package answer

import (
	"sync"
	"time"

	"hark/memory"
)

const (
	everywhere   = memory.ChannelID(0) // a model that can't be asked at all
	backoffFirst = 5 * time.Minute
	backoffMost  = 6 * time.Hour
)

// backoff says when a model may be asked again about a channel whose sessions it failed at: after five minutes, and after
// twice as long with each failure, up to six hours. It is in memory only: after a restart the model is asked once more.
type backoff struct {
	mu sync.Mutex
	of map[memory.ChannelID]failures
}

type failures struct {
	count int
	until time.Time
}

// waits reports whether it is too early to ask.
func (b *backoff) waits(channel memory.ChannelID, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return now.Before(b.of[channel].until)
}

// failed notes that the model failed, and returns how often it has since it last worked. Six hours after it could have been
// asked again, what was before is forgotten.
func (b *backoff) failed(channel memory.ChannelID, now time.Time) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = map[memory.ChannelID]failures{}
	}
	f := b.of[channel]
	if now.Sub(f.until) > backoffMost {
		f.count = 0
	}
	f.until = now.Add(min(backoffFirst<<min(f.count, 16), backoffMost))
	f.count++
	b.of[channel] = f
	return f.count
}

// worked notes that the model didn't fail.
func (b *backoff) worked(channel memory.ChannelID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.of, channel)
}
