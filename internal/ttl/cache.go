// Package ttl caches what is known for a time. Begin with Cache.
package ttl

import (
	"sync"
	"time"
)

// Cache is what is known for a time, by key, as of the time that whoever asks gives. If there is too much the oldest
// goes. An entry isn't known before it was noted either, as after a clock was set back.
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

// Get is what is known at a time.
func (n *Cache[K, V]) Get(key K, at time.Time) (value V, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	is, known := n.of[key]
	if !known || !is.holds(at) {
		return value, false
	}
	return is.value, true
}

// IsNews reports whether a value isn't known at a time, and then notes it until another.
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

// Put notes a value at a time until another.
func (n *Cache[K, V]) Put(key K, value V, at, over time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.set(key, note[V]{value, at, over})
}

// set is put, called with mu held.
func (n *Cache[K, V]) set(key K, is note[V]) {
	delete(n.of, key)
	if len(n.of) >= n.most {
		n.makeRoom(is.at)
	}
	n.of[key] = is
}

// Drop forgets an entry.
func (n *Cache[K, V]) Drop(key K) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.of, key)
}

// evict forgets what is over, and the oldest entry if nothing is; called with mu held.
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
