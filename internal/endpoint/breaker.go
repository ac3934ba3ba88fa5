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

// Breaker leaves a server that fails alone for a while, so that nobody waits for it in vain: after three failures in
// a row, or for as long as the server itself says, every call is refused at once. Then one call tries; if it fails, the
// next rest is twice as long. An error that has a method OfText, and says true, is no failure of the server.
type Breaker struct {
	What string // is left alone, such as "embedder"

	mu       sync.Mutex
	failures int // in a row
	rest     time.Duration
	until    time.Time // when the next call is let through
	trying   bool      // whether one is under way after a rest
}

// Do calls ask, unless the server is left alone: then the error has a method RetryAfter that tells for how long. ask gets a
// context that ends after limit, unless that is 0. If ctx itself ends, that tells nothing of the server.
func (b *Breaker) Do(ctx context.Context, limit time.Duration, ask func(context.Context) error) error {
	trial, err := b.enter()
	if err != nil {
		return err
	}
	inner := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	err = ask(inner)
	if err != nil && ctx.Err() != nil {
		b.giveUp(trial)
		return err
	}
	b.leave(err, trial)
	return err
}

// enter returns an error unless the server may be asked, and whether this is the one call after a rest.
func (b *Breaker) enter() (trial bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return false, nil
	}
	if left := time.Until(b.until); left > 0 || b.trying {
		return false, &resting{what: b.What, left: max(left, time.Second)}
	}
	b.trying = true
	return true, nil
}

func (b *Breaker) giveUp(trial bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = b.trying && !trial
}

// leave notes how a call came out.
func (b *Breaker) leave(err error, trial bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = b.trying && !trial
	var text interface{ OfText() bool }
	if err == nil || errors.As(err, &text) && text.OfText() {
		b.failures, b.rest, b.until = 0, 0, time.Time{}
		return
	}
	b.failures++
	wait := time.Duration(0)
	if trial || b.failures == tolerated { // others that were under way say nothing new
		b.rest = min(max(2*b.rest, firstRest), longRest)
		wait = b.rest
	}
	var refused *Refusal
	if errors.As(err, &refused) {
		wait = max(wait, refused.After)
	}
	if until := time.Now().Add(wait); wait > 0 && until.After(b.until) {
		b.until = until
	}
}

// resting says that a server is left alone.
type resting struct {
	what string
	left time.Duration
}

func (r *resting) Error() string {
	return fmt.Sprintf("the %s failed and isn't asked again before %v have passed", r.what, r.left.Round(time.Second))
}

// RetryAfter is for how long the server is left alone.
func (r *resting) RetryAfter() time.Duration { return r.left }
