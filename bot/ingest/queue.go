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
	// batchItems bounds the items of one transaction: a large backlog writes shared rows once.
	batchItems = 5000
	// longestRetry bounds the pause between attempts to write the log.
	longestRetry = 10 * time.Second
)

// Item is something to commit, in order.
type Item struct {
	Raw    *rawEvent       // a gateway event, or
	Events []memory.Event  // Hark's own
	Logged chan<- struct{} // closed once it is committed; may be nil
}

// Queue holds what isn't committed yet. It is unbounded, so a store that is down loses nothing.
type Queue struct {
	mu            sync.Mutex
	items         []Item // not yet committed
	intakeStopped bool   // takes no gateway events
	closed        bool   // takes nothing; held items can still be taken
	wake          chan struct{}
}

// NewQueue returns an empty queue.
func NewQueue() *Queue { return &Queue{wake: make(chan struct{}, 1)} }

// Put appends an item. It reports whether the queue took it.
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

// Len returns how many items aren't committed.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}

// StopIntake refuses further gateway events.
func (q *Queue) StopIntake() {
	q.mu.Lock()
	q.intakeStopped = true
	q.mu.Unlock()
}

// Close refuses all further items; held items can still be taken.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	pace.Wake(q.wake)
	q.mu.Unlock()
}

// take returns up to batchItems items, which stay in the queue until done. It returns nil when the queue is closed
// and empty, or ctx has ended.
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

// after returns the items behind the first n, and whether the queue is closed.
func (q *Queue) after(n int) (items []Item, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	end := len(q.items)
	return q.items[n:end:end], q.closed
}

// done marks the first n items as committed.
func (q *Queue) done(n int) {
	q.mu.Lock()
	clear(q.items[:n])
	q.items = q.items[n:]
	q.mu.Unlock()
}

// Commit queues events and returns once they are committed, in order.
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

// ErrStopped means that Hark is stopping and takes nothing more.
var ErrStopped = errors.New("stopped")
