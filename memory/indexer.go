package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Indexer embeds the segments in a store's queue. While the embedder is down they stay there, and recall uses
// full text.
type Indexer struct {
	Queue    VectorQueue
	Embedder Embedder
	// Failed, if not nil, is called for each failure, with the time until the next try; 0 if there is none,
	// because the embedder refuses one segment only.
	Failed func(err error, wait time.Duration)
	// Progress, if not nil, reports a long fill: after its first batch, every half minute, and at the end,
	// when done is total. left is an estimate.
	Progress func(done, total int, left time.Duration)
}

const (
	indexBatch = 256 // segments embedded at a time
	// readAtOnce segments are read at a time: in a busy channel they overlap.
	readAtOnce = 4 * indexBatch
	// gatherFor is how long Run lets segments grow: each change embeds the whole segment again.
	gatherFor = 2 * time.Second
	firstWait = time.Second
	longWait  = 5 * time.Minute
	longFill  = 4000 // segments from which Progress is called
	tellEvery = 30 * time.Second
)

// Run indexes pending segments until ctx is done. Then it returns nil.
func (x *Indexer) Run(ctx context.Context) error {
	var fill fill
	for wait := firstWait; ctx.Err() == nil; {
		if fill.began.IsZero() {
			fill.began = time.Now()
		}
		n, err := x.step(ctx, func(n int) { x.tell(ctx, &fill, n) })
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			if n > 0 {
				wait = firstWait
			}
			atLeast := max(wait, retryAfter(err))
			if x.Failed != nil {
				x.Failed(err, atLeast)
			}
			if !sleep(ctx, atLeast) {
				return nil
			}
			fill.began = fill.began.Add(atLeast)
			wait = min(2*wait, longWait)
		case n > 0:
			wait = firstWait
		default:
			x.tell(ctx, &fill, 0)
			select {
			case <-x.Queue.Wake():
				x.gather(ctx)
			case <-ctx.Done():
			}
		}
	}
	return nil
}

// gather waits for gatherFor, or until so many segments wait that most won't grow.
func (x *Indexer) gather(ctx context.Context) {
	enough, cancel := context.WithTimeout(ctx, gatherFor)
	defer cancel()
	for {
		if n, err := x.Queue.Waiting(ctx, Everywhere); err != nil || n >= 2*readAtOnce {
			return
		}
		select {
		case <-x.Queue.Wake():
		case <-enough.Done():
			return
		}
	}
}

type fill struct {
	began, told time.Time // zero before the first batch, or the first report
	done        int       // segments
}

// tell counts n more segments as done, 0 if none are left, and calls Progress when due.
func (x *Indexer) tell(ctx context.Context, f *fill, n int) {
	f.done += n
	if x.Progress == nil || n > 0 && !f.told.IsZero() && time.Since(f.told) < tellEvery {
		return
	}
	if n == 0 {
		if !f.told.IsZero() {
			x.Progress(f.done, f.done, 0)
		}
		*f = fill{}
		return
	}
	waiting, err := x.Queue.Waiting(ctx, Everywhere)
	if err != nil || f.told.IsZero() && f.done+waiting < longFill {
		return // the next failure is reported
	}
	f.told = time.Now()
	left := time.Duration(float64(time.Since(f.began)) / float64(f.done) * float64(waiting))
	x.Progress(f.done, f.done+waiting, left)
}

// retryAfter returns the wait that the embedder asks for, or 0.
func retryAfter(err error) time.Duration {
	var e interface{ RetryAfter() time.Duration }
	if errors.As(err, &e) {
		return e.RetryAfter()
	}
	return 0
}

// Drain indexes pending segments until none are left or one fails. It calls progress, if not nil, with the
// number done.
func (x *Indexer) Drain(ctx context.Context, progress func(done int)) error {
	done := 0
	for {
		n, err := x.step(ctx, func(n int) {
			done += n
			if progress != nil {
				progress(done)
			}
		})
		if err != nil || n == 0 {
			return err
		}
	}
}

// step indexes some pending segments, calls did for each batch, and returns how many, also on error.
func (x *Indexer) step(ctx context.Context, did func(n int)) (done int, err error) {
	segments, err := x.Queue.Pending(ctx, readAtOnce)
	if err != nil {
		return 0, err
	}
	read := time.Now()
	for batch := range slices.Chunk(segments, indexBatch) {
		if err := x.index(ctx, batch); err != nil {
			return done, err
		}
		done += len(batch)
		did(len(batch))
		if time.Since(read) > gatherFor {
			break // the rest may have grown or been deleted since: read again
		}
	}
	return done, nil
}

// index embeds segments. If the embedder refuses a batch, index halves it until it finds the culprit, which
// gets no vector, so that others are still found.
func (x *Indexer) index(ctx context.Context, segments []Segment) error {
	vectors, err := x.embed(ctx, segments)
	if err != nil && len(segments) == 1 && x.answers(ctx) {
		vectors, err = x.embed(ctx, segments) // it may have been temporary
	}
	switch {
	case err == nil:
		return x.Queue.Embedded(ctx, segments, vectors)
	case !x.answers(ctx):
		return err
	case len(segments) == 1:
		if x.Failed != nil {
			x.Failed(fmt.Errorf("%w; it is found by its words only", err), 0)
		}
		return x.Queue.Embedded(ctx, segments, make([][]float32, 1))
	}
	half := len(segments) / 2
	if err := x.index(ctx, segments[:half]); err != nil {
		return err
	}
	return x.index(ctx, segments[half:])
}

func (x *Indexer) embed(ctx context.Context, segments []Segment) ([][]float32, error) {
	texts := make([]string, len(segments))
	for i, s := range segments {
		texts[i] = s.Text()
	}
	vectors, err := x.Embedder.Embed(ctx, ForStorage, texts)
	if err != nil {
		return nil, fmt.Errorf("embed %d segments from %d on: %w", len(segments), segments[0].ID, err)
	}
	return vectors, nil
}

const harmless = "hello"

func (x *Indexer) answers(ctx context.Context) bool {
	_, err := x.Embedder.Embed(ctx, ForStorage, []string{harmless})
	return err == nil && ctx.Err() == nil
}

// sleep returns false if ctx is done before d.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
