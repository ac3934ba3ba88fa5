package main

import (
	"sync"
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
