package answer

import (
	"context"
	"sync"

	"hark/memory"
)

const (
	queueSize  = 256 // sessions that wait to be condensed. One for which there is no room is noticed again with its next answer
	condensers = 4   // sessions that are condensed at once
)

// queue holds the channels whose sessions have grown long, each once. A channel is condensed by one at a time.
type queue struct {
	mu      sync.Mutex
	waiting map[memory.ChannelID]Question // what is known of where to look, of those that wait or are at work
	next    chan memory.ChannelID
}

func newQueue() queue {
	return queue{waiting: map[memory.ChannelID]Question{}, next: make(chan memory.ChannelID, queueSize)}
}

// put queues the session that a question was asked in. Of the question it keeps nothing that anybody wrote.
func (w *queue) put(q Question) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, there := w.waiting[q.Channel]
	w.waiting[q.Channel] = Question{ID: q.ID, Guild: q.Guild, Channel: q.Channel, Now: q.Now, Settled: q.Settled, Attended: q.Attended}
	if !there {
		w.queue(q.Channel)
	}
}

// queue has a channel wait its turn, if there is room. The lock is held.
func (w *queue) queue(channel memory.ChannelID) {
	select {
	case w.next <- channel:
	default:
		delete(w.waiting, channel)
	}
}

// work has do look at each session that is queued, until ctx is done.
func (w *queue) work(ctx context.Context, do func(context.Context, Question)) {
	for {
		select {
		case <-ctx.Done():
			return
		case channel := <-w.next:
			w.mu.Lock()
			q := w.waiting[channel]
			w.mu.Unlock()
			do(ctx, q)
			w.mu.Lock()
			if w.waiting[channel].Now.After(q.Now) { // something was answered there meanwhile
				w.queue(channel)
			} else {
				delete(w.waiting, channel)
			}
			w.mu.Unlock()
		}
	}
}
