package endpoint

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	tolerated = 3 // failures in a row; then it isn't asked for a while
	firstRest = 15 * time.Second
	longRest  = 5 * time.Minute
)

// Breaker leaves a failing server alone for a while: after three failures in a row, or for as long as the server
// says, every call is refused at once. Then one call tries; if it fails, the next rest is twice as long. An error
// whose method OfText returns true is no failure of the server. One with a method RetryAfter says for how long the
// server wants no calls.
type Breaker struct {
	What string // is left alone, such as "embedder"

	mu       sync.Mutex
	failures int // in a row
	rest     time.Duration
	until    time.Time // when the next call is let through
	trying   bool      // whether one is under way after a rest
	last     Health
}

// Health is how a server did of late.
type Health struct {
	At     time.Time     // when the last call ended; zero: there was none
	Took   time.Duration // that call
	Failed error         // nil if it didn't
	Rests  time.Duration // for how long the server is left alone from now on; 0: it isn't
}

// Health may be asked at any time.
func (b *Breaker) Health() Health {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.last
	if !b.until.IsZero() {
		h.Rests = max(0, time.Until(b.until))
	}
	return h
}

// Do calls ask, unless the server is left alone: then the error is a *Resting. ask gets a context that ends after
// limit, unless that is 0. If ctx itself ends, that says nothing of the server.
func (b *Breaker) Do(ctx context.Context, limit time.Duration, ask func(context.Context) error) error {
	trial, err := b.enter()
	if err != nil {
		return err
	}
	defer b.end(trial) // also if ask panics
	inner := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	begun := time.Now()
	err = ask(inner)
	if err == nil || ctx.Err() == nil {
		b.count(err, trial, time.Since(begun))
	}
	return err
}

// Resting reports whether the server is left alone, or the one call that tries it after a rest is under way.
func (b *Breaker) Resting() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.trying || time.Now().Before(b.until)
}

// enter returns an error unless the server may be asked, and whether this is the one call after a rest.
func (b *Breaker) enter() (trial bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return false, nil
	}
	if left := time.Until(b.until); left > 0 || b.trying {
		return false, &Resting{Left: max(left, time.Second), what: b.What}
	}
	b.trying = true
	return true, nil
}

// end lets others try if this call was the trial.
func (b *Breaker) end(trial bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = b.trying && !trial
}

// count records how a call came out.
func (b *Breaker) count(err error, trial bool, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = Health{
		At:     time.Now(),
		Took:   took,
		Failed: err,
	}
	var text interface{ OfText() bool }
	if err == nil || errors.As(err, &text) && text.OfText() {
		b.failures = 0
		b.rest = 0
		b.until = time.Time{}
		return
	}
	b.failures++
	wait := time.Duration(0)
	if trial || b.failures == tolerated { // others that were under way say nothing new
		b.rest = min(max(2*b.rest, firstRest), longRest)
		wait = b.rest
	}
	var busy interface{ RetryAfter() time.Duration }
	if errors.As(err, &busy) {
		wait = max(wait, busy.RetryAfter())
	}
	if until := time.Now().Add(wait); wait > 0 && until.After(b.until) {
		b.until = until
	}
}

// Resting says that a server is left alone.
type Resting struct {
	Left time.Duration // until the next call is let through, at least a second

	what string
}

func (r *Resting) Error() string {
	return fmt.Sprintf("the %s failed and isn't asked again before %v have passed", r.what, r.Left.Round(time.Second))
}

// RetryAfter is for how long the server is left alone.
func (r *Resting) RetryAfter() time.Duration { return r.Left }
