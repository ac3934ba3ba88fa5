package search

import "time"

// CacheSize is how many results are cached.
const CacheSize = cacheSize

// SetClock has the cache go by another clock.
func (e *Engine) SetClock(now func() time.Time) { e.cache.now = now }
