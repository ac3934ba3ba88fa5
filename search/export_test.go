package search

import (
	"testing"
	"time"

	"hark/internal/metrics/metricstest"
)

// CacheSize is how many results are cached.
const CacheSize = cacheSize

// SetClock has the cache go by another clock.
func (e *Engine) SetClock(now func() time.Time) { e.cache.now = now }

// CacheUse is how many searches were answered from the cache so far, and how many weren't.
func CacheUse(tb testing.TB, e *Engine) (hits, misses int) {
	tb.Helper()
	all := metricstest.Counted(tb, e.cache.metrics)
	return all["hark_search_cache_hits_total"], all["hark_search_cache_misses_total"]
}
