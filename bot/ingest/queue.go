package ingest

import (
	"context"
	"errors"
	"sync"
	"time"

	"hark/internal/pace"
	"hark/memory"
)

const (
	// batchItems is how many items at most go to the log in one transaction: where many wait, what they change together
	// is written once.
	batchItems = 5000
	// longestRetry bounds the pause between attempts to write a log that fails.
	longestRetry = 10 * time.Second
)

// Item is something for the log, in its order.
type Item struct {
	Raw    *rawEvent       // an event of the gateway, or
	Events []memory.Event  // what we did ourselves
	Logged chan<- struct{} // closed once it is committed; may be nil
}

// Queue holds what isn't logged yet. It has no bound: a store that is down for a while loses nothing as long
// as there is memory.
type Queue struct {
	mu            sync.Mutex
	items         []Item // those not yet committed
	intakeStopped bool   // takes no more from the gateway
	closed        bool   // takes nothing any more; what is held can still be taken
	wake          chan struct{}
}

// NewQueue returns an empty queue.
func NewQueue() *Queue { return &Queue{wake: make(chan struct{}, 1)} }

// Put appends an item, and reports whether the queue took it.
func (q *Queue) Put(it Item) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.intakeStopped && it.Raw != nil {
		return false
	}
	q.items = append(q.items, it)
	pace.Wake(q.wake)
	return true
}

// Len is how many items aren't committed.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}

// StopIntake refuses further events of the gateway.
func (q *Queue) StopIntake() {
	q.mu.Lock()
	q.intakeStopped = true
	q.mu.Unlock()
}

// Close refuses everything; what is held can still be taken.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	pace.Wake(q.wake)
	q.mu.Unlock()
}

// take returns the next items, at most batchItems of them, or nil when the queue is closed and empty or ctx
// has ended. They count as not committed until done.
func (q *Queue) take(ctx context.Context) []Item {
	for {
		q.mu.Lock()
		n := min(len(q.items), batchItems)
		batch := q.items[:n:n]
		closed := q.closed
		q.mu.Unlock()
		if n > 0 {
			return batch
		}
		if closed {
			return nil
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// done has so many items that were taken count as committed.
func (q *Queue) done(n int) {
	q.mu.Lock()
	clear(q.items[:n])
	q.items = q.items[n:]
	q.mu.Unlock()
}

// Commit has events logged after all that was taken in before, and returns once they are.
func (q *Queue) Commit(ctx context.Context, events []memory.Event) error {
	logged := make(chan struct{})
	if !q.Put(Item{Events: events, Logged: logged}) {
		return ErrStopped
	}
	select {
	case <-logged:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ErrStopped is that Hark stops, so that nothing more is taken.
var ErrStopped = errors.New("stopped")
