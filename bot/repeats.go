package bot

import (
	"maps"
	"sync"
	"time"

	"hark/memory"
)

// repeats knows what was said to whom, so that it isn't said again too soon.
type repeats struct {
	mu sync.Mutex
	to map[repeatTo]repeat
}

// repeatTo is whom something is said to: somebody in a guild, or those in a channel.
type repeatTo struct {
	membership
	channel memory.ChannelID
	of      string
}

// repeat is what was said, and from when until when the same needn't be said again.
type repeat struct {
	words       string
	from, until time.Time
}

func newRepeats() *repeats { return &repeats{to: map[repeatTo]repeat{}} }

// isFirst reports whether something is to be said at a time, and notes that it is, until another time.
func (s *repeats) isFirst(to repeatTo, words string, at, until time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.to, func(other repeatTo, l repeat) bool { return other.of == to.of && !at.Before(l.until) })
	if was, is := s.to[to]; is && was.words == words && !at.Before(was.from) {
		return false
	}
	s.to[to] = repeat{words, at, until}
	return true
}
