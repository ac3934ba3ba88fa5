package embed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hark/memory"
)

const (
	// QuestionTimeout is how long somebody who asks waits for a question's vector. Without it full text finds alone.
	QuestionTimeout = 4 * time.Second

	tolerated = 3 // failures in a row; then it isn't asked for a while
	firstRest = 15 * time.Second
	longRest  = 5 * time.Minute
)

// Breaker leaves an embedder that fails alone for a while, so that nobody waits for it in vain: after three failures in
// a row, or for as long as the server itself says, every call is refused at once. Then one call tries; if it fails, the
// next rest is twice as long. Questions wait for QuestionTimeout at most.
type Breaker struct {
	memory.Embedder

	mu       sync.Mutex
	failures int // in a row
	rest     time.Duration
	until    time.Time // when the next call is let through
	trying   bool      // whether one is under way after a rest
}

// NewBreaker returns a Breaker of an embedder.
func NewBreaker(e memory.Embedder) *Breaker { return &Breaker{Embedder: e} }

// Embed implements memory.Embedder. While the embedder is left alone, the error has a method RetryAfter that tells for
// how long.
func (b *Breaker) Embed(ctx context.Context, purpose memory.Purpose, texts []string) ([][]float32, error) {
	trial, err := b.enter()
	if err != nil {
		return nil, err
	}
	inner := ctx
	if purpose == memory.ForSearch {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, QuestionTimeout)
		defer cancel()
	}
	vectors, err := b.Embedder.Embed(inner, purpose, texts)
	if err != nil && ctx.Err() != nil {
		b.giveUp(trial) // who asked is gone, which tells nothing of the embedder
		return nil, err
	}
	b.leave(err, trial)
	return vectors, err
}

// enter returns an error unless the embedder may be asked, and whether this is the one call after a rest.
func (b *Breaker) enter() (trial bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return false, nil
	}
	if left := time.Until(b.until); left > 0 || b.trying {
		return false, &resting{left: max(left, time.Second)}
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
	var refused *refusal
	isRefusal := errors.As(err, &refused)
	if err == nil || errors.Is(err, errTooLong) || isRefusal && refused.ofText() {
		b.failures, b.rest, b.until = 0, 0, time.Time{}
		return
	}
	b.failures++
	wait := time.Duration(0)
	if trial || b.failures == tolerated { // others that were under way say nothing new
		b.rest = min(max(2*b.rest, firstRest), longRest)
		wait = b.rest
	}
	if isRefusal {
		wait = max(wait, refused.after)
	}
	if until := time.Now().Add(wait); wait > 0 && until.After(b.until) {
		b.until = until
	}
}

// resting says that the embedder is left alone.
type resting struct{ left time.Duration }

func (r *resting) Error() string {
	return fmt.Sprintf("the embedder failed and isn't asked again before %v have passed", r.left.Round(time.Second))
}

// RetryAfter is for how long the embedder is left alone.
func (r *resting) RetryAfter() time.Duration { return r.left }
