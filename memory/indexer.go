package memory

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Indexer gives segments their vectors: it takes them from a queue, has them embedded, and puts the vectors
// back. While the embedder is down they wait in the queue, and recall goes on by full text.
type Indexer struct {
	Queue    Queue
	Embedder Embedder
	// Failed, if not nil, is told of each failure and of how long the next try waits; 0 if there is none, since
	// the embedder refuses a segment while it takes other texts.
	Failed func(err error, wait time.Duration)
}

const (
	indexBatch = 256 // segments embedded at a time
	firstWait  = time.Second
	longWait   = 5 * time.Minute
)

// Run indexes what is pending, and what becomes so, until ctx is done; then it returns nil.
func (x *Indexer) Run(ctx context.Context) error {
	for wait := firstWait; ctx.Err() == nil; {
		n, err := x.step(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			if x.Failed != nil {
				x.Failed(err, wait)
			}
			if !sleep(ctx, wait) {
				return nil
			}
			wait = min(2*wait, longWait)
		case n > 0:
			wait = firstWait
		default:
			select {
			case <-x.Queue.Wake():
			case <-ctx.Done():
			}
		}
	}
	return nil
}

// Drain indexes what is pending, tells progress how many segments it has done, and returns when nothing is
// left or at the first error.
func (x *Indexer) Drain(ctx context.Context, progress func(done int)) error {
	for done := 0; ; {
		n, err := x.step(ctx)
		if err != nil || n == 0 {
			return err
		}
		if done += n; progress != nil {
			progress(done)
		}
	}
}

// step indexes one batch and tells how many segments it held.
func (x *Indexer) step(ctx context.Context) (int, error) {
	segments, err := x.Queue.Pending(ctx, indexBatch)
	if err != nil || len(segments) == 0 {
		return 0, err
	}
	if err := x.index(ctx, segments); err != nil {
		return 0, err
	}
	return len(segments), nil
}

// index gives segments their vectors. Those that the embedder refuses together it halves until the culprit is
// alone, which then goes without: one text mustn't keep all others from being found.
func (x *Indexer) index(ctx context.Context, segments []Segment) error {
	vectors, err := x.embed(ctx, segments)
	if err != nil && len(segments) == 1 && x.answers(ctx) {
		vectors, err = x.embed(ctx, segments) // it may have been passing
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

// harmless is a text that no embedder refuses.
const harmless = "hello"

// answers reports whether the embedder works, whatever else it refuses.
func (x *Indexer) answers(ctx context.Context) bool {
	_, err := x.Embedder.Embed(ctx, ForStorage, []string{harmless})
	return err == nil && ctx.Err() == nil
}

// Text is what of a segment is embedded: the text of its messages, a line each.
func (s Segment) Text() string {
	var b strings.Builder
	for _, m := range s.Messages {
		b.WriteString(m.Text())
		b.WriteByte('\n')
	}
	return b.String()
}

// sleep waits for d and reports whether ctx was still alive at the end.
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
