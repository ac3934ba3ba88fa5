package main

import (
	"sync"

	"hark/internal/web"
	"hark/search"
)

// reasons is why Hark isn't ready, as whoever runs at the time tells.
type reasons struct {
	mu  sync.Mutex
	ask func() error
}

func (r *reasons) set(ask func() error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ask = ask
}

// list are the reasons, none if it is ready.
func (r *reasons) list() []string {
	r.mu.Lock()
	ask := r.ask
	r.mu.Unlock()
	if ask == nil {
		return []string{"starting"}
	}
	if err := ask(); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// counts is what there is to count, of the engine that runs at the time. A new engine counts from 0.
type counts struct {
	mu     sync.Mutex
	engine *search.Engine
}

func (c *counts) set(engine *search.Engine) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.engine = engine
}

func (c *counts) list() []web.Counter {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.engine == nil {
		return nil
	}
	hits, misses := c.engine.CacheUse()
	return []web.Counter{
		{Name: "hark_search_cache_hits_total", Help: "Searches answered from the cache.", Value: hits},
		{Name: "hark_search_cache_misses_total", Help: "Searches that had to be carried out.", Value: misses},
	}
}
