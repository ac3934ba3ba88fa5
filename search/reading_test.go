package search

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"hark/memory"
)

// slowLog is a log in which reading takes until it is released.
type slowLog struct {
	Log
	reading, most atomic.Int64
	release       chan struct{}
}

func (l *slowLog) Windows(context.Context, map[memory.MessageRef]int) ([][]memory.Message, error) {
	n := l.reading.Add(1)
	for most := l.most.Load(); n > most && !l.most.CompareAndSwap(most, n); most = l.most.Load() {
	}
	<-l.release
	l.reading.Add(-1)
	return nil, nil
}

// All searches together read no more parts at a time than one, and who gives up waits no longer.
func TestConcurrentSearchesShareWhatIsRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &slowLog{release: make(chan struct{})}
		e := New(log, nil)
		surround := func(ctx context.Context) chan error {
			p := newPool(Query{})
			for c := range memory.ChannelID(cap(e.reading) + 1) {
				p.want(c+1, memory.MessageID(c+1), neighbours)
			}
			done := make(chan error, 1)
			go func() { done <- e.surround(ctx, question{}, p) }()
			return done
		}
		ctx, giveUp := context.WithCancel(t.Context())
		first := surround(t.Context())
		synctest.Wait()
		given, last := surround(ctx), surround(t.Context())
		synctest.Wait()
		giveUp()
		if err := <-given; !errors.Is(err, context.Canceled) {
			t.Errorf("who gave up got %v", err)
		}
		close(log.release)
		if err := errors.Join(<-first, <-last); err != nil || int(log.most.Load()) != cap(e.reading) {
			t.Errorf("%d parts were read at a time, %v", log.most.Load(), err)
		}
	})
}
