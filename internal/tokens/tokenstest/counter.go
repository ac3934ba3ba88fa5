// Package tokenstest has token counters that cache, for tests that count the same texts again and again.
package tokenstest

import (
	"hash/maphash"
	"sync"

	"hark/internal/tokens"
)

// Counter counts as the counter of a model does, and each text once.
type Counter struct {
	*tokens.Counter
	seed maphash.Seed
	seen sync.Map // counts by the hash of the text
}

var counters sync.Map // by model

// For is the one counter of the tests for a model; without a name it is the counter of what is stored.
func For(model string) *Counter {
	c, _ := counters.LoadOrStore(model, &Counter{Counter: tokens.For(model), seed: maphash.MakeSeed()})
	return c.(*Counter)
}

// Count is how many tokens text has.
func (c *Counter) Count(text string) int {
	key := maphash.String(c.seed, text)
	if n, ok := c.seen.Load(key); ok {
		return n.(int)
	}
	n := c.Counter.Count(text)
	c.seen.Store(key, n)
	return n
}
