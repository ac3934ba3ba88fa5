package builder

import (
	"hash/maphash"
	"sync"
	"time"

	"hark/internal/metrics"
)

// DefaultCacheTTL is how long what was measured is remembered.
const DefaultCacheTTL = 5 * time.Minute

// cacheSize bounds the texts that are remembered.
const cacheSize = 1 << 14

// cache remembers what texts were measured to be: people's data, lore, summaries, turns and history. It keeps
// numbers under a keyed hash of the text, never the text: a change makes another key, and forgetting needs not reach here.
type cache struct {
	ttl  int64 // in seconds
	seed maphash.Seed

	hits, misses [sectionKinds]metrics.Counter

	mu    sync.Mutex
	known map[uint64]measured
	swept int64
}

// measured is a piece without its text.
type measured struct {
	safe         bool
	chars, cut   int
	short, whole size
	at           int64 // when that was, in seconds since 1970
}

func newCache(ttl time.Duration, m *metrics.Metrics) *cache {
	c := &cache{ttl: int64(max(1, ttl.Seconds())), seed: maphash.MakeSeed(), known: map[uint64]measured{}}
	for k := range c.hits {
		section := string(sectionTypes[k])
		c.hits[k], c.misses[k] = m.PromptCacheHits.WithLabelValues(section), m.PromptCacheMisses.WithLabelValues(section)
	}
	return c
}

// key is for a text and all else that measuring it depends on, but for the builder itself.
func (c *cache) key(text string, parts ...int) uint64 {
	h := maphash.String(c.seed, text) ^ uint64(len(text))
	for _, part := range parts {
		h = (h ^ uint64(part)) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	return h
}

// get looks up what is known of a text. now is the builder's only clock: that of its input.
func (c *cache) get(k kind, key uint64, now int64) (measured, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.known[key]
	if ok = ok && now-m.at < c.ttl; ok {
		c.hits[k].Inc()
	} else {
		c.misses[k].Inc()
	}
	return m, ok
}

func (c *cache) put(key uint64, m measured, now int64) {
	m.at = now
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= cacheSize || now-c.swept >= c.ttl {
		c.sweep(now)
	}
	c.known[key] = m
}

// sweep takes out what is too old, or all if too little is.
func (c *cache) sweep(now int64) {
	for key, m := range c.known {
		if now-m.at >= c.ttl {
			delete(c.known, key)
		}
	}
	if len(c.known) >= cacheSize {
		clear(c.known)
	}
	c.swept = now
}
