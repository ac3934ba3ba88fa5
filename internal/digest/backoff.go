package digest

import (
	"errors"
	"sync"
	"time"

	"hark/memory"
)

const (
	everywhere   = memory.ChannelID(0) // a model that can't be asked at all
	backoffFirst = 5 * time.Minute
	backoffMost  = 6 * time.Hour
)

// backoff says when a model may be asked again about a channel whose sessions it failed at: after five minutes, and
// after twice as long with each failure, up to six hours. It is in memory only: after a restart the model is asked
// once more.
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

// note notes how the model did, and returns how often it has failed at a channel since it last worked there. One that
// didn't answer at all isn't asked about other channels either: waiting for it again, for each of them, would hold up
// all. Six hours after it could have been asked again, what was before is forgotten.
func (b *backoff) note(channel memory.ChannelID, now time.Time, err error) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = map[memory.ChannelID]failures{}
	}
	for _, at := range []memory.ChannelID{channel, everywhere} {
		f := b.of[at]
		if err == nil || at == everywhere && errors.Is(err, ErrMalformed) {
			delete(b.of, at)
			continue
		}
		if now.Sub(f.until) > backoffMost {
			f.count = 0
		}
		f.until = now.Add(min(backoffFirst<<min(f.count, 16), backoffMost))
		f.count++
		b.of[at] = f
	}
	return b.of[channel].count
}
