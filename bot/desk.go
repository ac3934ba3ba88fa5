package bot

import (
	"context"
	"sync"

	"hark/memory"
)

const (
	// waitingQuestions is how many questions wait in a channel behind the one being answered.
	waitingQuestions = 5
	// parallelAnswers is how many channels are answered at the same time.
	parallelAnswers = 8
	// rememberedQuestions is of how many questions it is known that they were asked already.
	rememberedQuestions = 4096
)

// desk has questions answered: one at a time in a channel, several channels at a time.
type desk struct {
	answer func(*ask)
	busy   func(*ask) // tells that there are too many

	mu     sync.Mutex
	lines  map[memory.ChannelID]*line
	asked  map[memory.MessageID]bool
	closed bool
	seats  chan struct{}
	work   sync.WaitGroup
}

// line is what waits in a channel behind the question being answered.
type line struct {
	waiting []*ask
	refused bool // that there are too many was said
}

func newDesk(answer, busy func(*ask)) *desk {
	return &desk{
		answer: answer,
		busy:   busy,
		lines:  map[memory.ChannelID]*line{},
		asked:  map[memory.MessageID]bool{},
		seats:  make(chan struct{}, parallelAnswers),
	}
}

// put takes a question, unless it was put before: the gateway may tell of a message twice. It doesn't wait.
func (d *desk) put(a *ask) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.asked[a.id] {
		return
	}
	if len(d.asked) >= rememberedQuestions {
		clear(d.asked)
	}
	d.asked[a.id] = true
	l := d.lines[a.channel]
	switch {
	case l == nil:
		l = &line{}
		d.lines[a.channel] = l
		d.work.Go(func() { d.serve(a, l) })
	case len(l.waiting) < waitingQuestions:
		l.waiting = append(l.waiting, a)
	case !l.refused:
		l.refused = true
		d.work.Go(func() { d.busy(a) })
	}
}

// serve answers a and then the questions that have come meanwhile, until none is left.
func (d *desk) serve(a *ask, l *line) {
	for channel := a.channel; a != nil; a = d.next(channel, l) {
		d.seats <- struct{}{}
		d.answer(a)
		<-d.seats
	}
}

func (d *desk) next(channel memory.ChannelID, l *line) *ask {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(l.waiting) == 0 {
		delete(d.lines, channel)
		return nil
	}
	a := l.waiting[0]
	l.waiting = l.waiting[1:]
	if len(l.waiting) == 0 {
		l.refused = false
	}
	return a
}

// close takes no more questions and forgets those that wait. It returns how many there were.
func (d *desk) close() (dropped int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, l := range d.lines {
		dropped += len(l.waiting)
		l.waiting = nil
	}
	return dropped
}

// wait returns when all that was begun is done, or ctx has ended.
func (d *desk) wait(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		d.work.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}
