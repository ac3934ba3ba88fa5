// Package meter counts what happens while Hark runs: how often, and how long it took. All of it may be used by several
// goroutines, and its zero values are ready. By what is counted there are few kinds, none of which is anybody's text or id.
package meter

import (
	"maps"
	"sync"
	"time"
)

// bounds are those by which times are counted, in seconds: from a commit to a long answer.
var bounds = [...]float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120}

// Counts are numbers that only grow, by kind.
type Counts[K comparable] struct {
	mu sync.Mutex
	of map[K]int64
}

// Add counts n more of a kind.
func (c *Counts[K]) Add(kind K, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[K]int64{}
	}
	c.of[kind] += n
}

// All are the counts of the kinds that there were, in a map of the caller's own.
func (c *Counts[K]) All() map[K]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.of)
}

// Times are how long things took, by kind.
type Times[K comparable] struct {
	mu sync.Mutex
	of map[K]Spread
}

// Spread is how long things took.
type Spread struct {
	Within [len(bounds)]int64 // how many took at most as many seconds as Bounds says at the same place
	Count  int64              // of all
	Sum    float64            // of all, in seconds
}

// Bounds are those of Spread.Within, in seconds, the least first.
func Bounds() []float64 { return bounds[:] }

// Add counts something that took so long.
func (t *Times[K]) Add(kind K, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[K]Spread{}
	}
	s := t.of[kind]
	seconds := max(0, took.Seconds()) // a clock may be set back
	for i, most := range bounds {
		if seconds <= most {
			s.Within[i]++
		}
	}
	s.Count++
	s.Sum += seconds
	t.of[kind] = s
}

// All are the times of the kinds that there were, in a map of the caller's own.
func (t *Times[K]) All() map[K]Spread {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.of)
}
