// Package ttl is a bounded cache whose entries expire. Begin with Cache.
package ttl

import (
	"sync"
	"time"
)

// Cache keeps values by key until they expire. The caller gives the time of each call. A full cache drops its oldest
// entry. Before its own time, as after a clock was set back, an entry doesn't exist.
type Cache[K, V comparable] struct {
	most int
	mu   sync.Mutex
	of   map[K]note[V]
}

type note[V comparable] struct {
	value    V
	at, over time.Time
}

// New returns a cache of at most most entries.
func New[K, V comparable](most int) *Cache[K, V] {
	return &Cache[K, V]{most: most, of: map[K]note[V]{}}
}

// Get returns the value of key at a time, if there is one.
func (n *Cache[K, V]) Get(key K, at time.Time) (value V, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	is, known := n.of[key]
	if !known || !is.holds(at) {
		return value, false
	}
	return is.value, true
}

// IsNews reports whether key doesn't have value at a time. If so it puts it there until over.
func (n *Cache[K, V]) IsNews(key K, value V, at, over time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	is, known := n.of[key]
	news := !known || is.value != value || !is.holds(at)
	if news {
		n.set(key, note[V]{value, at, over})
	}
	return news
}

// Put stores a value from at until over.
func (n *Cache[K, V]) Put(key K, value V, at, over time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.set(key, note[V]{value, at, over})
}

// set is Put with mu held.
func (n *Cache[K, V]) set(key K, is note[V]) {
	delete(n.of, key)
	if len(n.of) >= n.most {
		n.makeRoom(is.at)
	}
	n.of[key] = is
}

// Drop removes an entry.
func (n *Cache[K, V]) Drop(key K) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.of, key)
}

// makeRoom removes expired entries, or the oldest if none is expired; mu is held.
func (n *Cache[K, V]) makeRoom(at time.Time) {
	var oldest K
	for key, is := range n.of {
		if !is.holds(at) {
			delete(n.of, key)
		} else if was, known := n.of[oldest]; !known || is.at.Before(was.at) {
			oldest = key
		}
	}
	if len(n.of) >= n.most {
		delete(n.of, oldest)
	}
}

func (is note[V]) holds(at time.Time) bool { return !at.Before(is.at) && at.Before(is.over) }
