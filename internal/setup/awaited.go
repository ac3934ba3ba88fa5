package setup

import (
	"context"
	"errors"
	"sync"
	"time"

	"hark/internal/embed"
	"hark/memory"
)

// An embedder that can't be used is tried again after firstTry, and then each time after twice as long, up to rarely.
const (
	firstTry = time.Second
	rarely   = time.Minute
)

// awaited is an embedder that couldn't be used at the start. Until it can, its space is the zero Space, which is no
// vectors', and another stands in for it.
type awaited struct {
	open    func(context.Context) (memory.Embedder, error)
	standIn memory.Embedder
	pause   time.Duration // before the first try

	mu    sync.Mutex
	found memory.Embedder // nil until it can be used
	told  error           // what to tell the operator meanwhile
	tried time.Time       // last
}

// now returns the embedder; nil until it can be used.
func (w *awaited) now() memory.Embedder {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.found
}

// missing returns what to tell the operator; nil once the embedder can be used.
func (w *awaited) missing() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.found != nil {
		return nil
	}
	return w.told
}

// await tries until the embedder can be used, or ctx ends.
func (w *awaited) await(ctx context.Context) {
	for wait := w.pause; ; {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		found, err := w.open(ctx)
		w.note(found, err)
		if err == nil {
			return
		}
		wait = min(2*wait, rarely)
		var busy interface{ RetryAfter() time.Duration }
		if errors.As(err, &busy) {
			wait = max(wait, busy.RetryAfter())
		}
	}
}

// note notes how a try came out.
func (w *awaited) note(found memory.Embedder, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tried = time.Now()
	if err == nil {
		w.found = found
	}
}

// Space implements memory.Embedder.
func (w *awaited) Space() memory.Space {
	if e := w.now(); e != nil {
		return e.Space()
	}
	return memory.Space{}
}

// Embed implements memory.Embedder.
func (w *awaited) Embed(ctx context.Context, purpose memory.Purpose, texts []string) ([][]float32, error) {
	if e := w.now(); e != nil {
		return e.Embed(ctx, purpose, texts)
	}
	return nil, w.missing()
}

// Resting reports whether the embedder is left alone after failures.
func (w *awaited) Resting() bool {
	e := w.now()
	asks, is := e.(interface{ Resting() bool })
	return e == nil || is && asks.Resting()
}

// Health returns how the embedder did of late.
func (w *awaited) Health() embed.Health {
	if asks, is := w.now().(interface{ Health() embed.Health }); is {
		return asks.Health()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.found != nil { // it asks no server
		return embed.Health{At: w.tried}
	}
	return embed.Health{At: w.tried, Failed: w.told}
}
