package bot

import (
	"context"
	"errors"
	"slices"
	"sync"

	"hark/memory"
)

const (
	// waitingQuestions is how many questions wait in a channel behind the one being answered.
	waitingQuestions = 5
	// guildQuestions is how many wait in all channels of a guild.
	guildQuestions = 20
	// parallelAnswers is how many channels are answered at the same time.
	parallelAnswers = 16
	// guildAnswers is how many of them are one guild's, so that there are seats for others.
	guildAnswers = 8
	// rememberedQuestions is of how many questions, at least, it is known that they were asked already.
	rememberedQuestions = 4096
)

// desk has questions answered: one at a time in a channel, several channels at a time. Guilds take turns, and in a guild
// its channels.
type desk struct {
	answer func(a *ask)
	busy   func(a *ask, b burst) // tells that there are too many
	missed func(a *ask)          // tells that it isn't answered, since Hark stops
	// progress is called whenever something that was begun is done.
	progress func()

	mu     sync.Mutex
	asked  [2]map[memory.MessageID]bool // the newer questions first
	queues map[party]*queued
	turns  []*queued     // those in which questions wait, whose turn comes first
	free   int           // seats
	active int           // goroutines
	ended  chan struct{} // closed and made anew when one ends
	closed bool          // answers nothing more
	over   bool          // tells nobody any more
}

// party is who share a queue: a guild, or those of a direct message.
type party struct {
	guild  memory.GuildID
	direct memory.ChannelID
}

// queued is what waits in a guild, and how much is being answered there.
type queued struct {
	party
	lines   []*line // by turn
	waiting int
	busy    int
}

// line is what waits in a channel behind the question being answered.
type line struct {
	channel memory.ChannelID
	waiting []*ask
	busy    bool
	refused map[memory.UserID]bool // to whom it was said that there are too many
}

// burst is how many questions wait when there are too many.
type burst struct {
	waiting int
	guild   bool // in all of the guild, rather than in the channel
}

// newDesk is a desk that doesn't know yet how to answer.
func newDesk() *desk {
	return &desk{
		asked: [2]map[memory.MessageID]bool{{}, {}}, queues: map[party]*queued{},
		free: parallelAnswers, ended: make(chan struct{}), progress: func() {},
	}
}

// isNew reports whether it is asked for the first time about a question: the gateway may tell of a message twice.
func (d *desk) isNew(id memory.MessageID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.asked[0][id] || d.asked[1][id] {
		return false
	}
	if len(d.asked[0]) >= rememberedQuestions {
		d.asked = [2]map[memory.MessageID]bool{{}, d.asked[0]}
	}
	d.asked[0][id] = true
	return true
}

// errFull says that too many questions wait.
var errFull = errors.New("too many questions wait")

// put takes a question, unless that is errFull, or errStopped. It doesn't wait. Each member is told once in a burst, and
// those whose question is quiet aren't.
func (d *desk) put(a *ask) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.over || d.closed && a.quiet:
		return errStopped
	case d.closed:
		d.do(func() { d.missed(a) })
		return errStopped
	}
	q := d.queue(a)
	l := q.line(a.channel)
	full, crowded := len(l.waiting) >= waitingQuestions, q.waiting >= guildQuestions
	switch {
	case !full && !crowded:
		l.waiting = append(l.waiting, a)
	default:
		b := burst{len(l.waiting), false}
		if !full {
			b = burst{q.waiting, true}
		}
		if !a.quiet && !l.refused[a.asker] {
			l.refuse(a.asker)
			d.do(func() { d.busy(a, b) })
		}
		return errFull
	}
	if q.waiting++; q.waiting == 1 {
		d.turns = append(d.turns, q)
	}
	d.seat()
	return nil
}

func (d *desk) queue(a *ask) *queued {
	p := party{guild: a.guild}
	if a.guild == memory.DirectGuild {
		p.direct = a.channel
	}
	if d.queues[p] == nil {
		d.queues[p] = &queued{party: p}
	}
	return d.queues[p]
}

func (q *queued) line(channel memory.ChannelID) *line {
	for _, l := range q.lines {
		if l.channel == channel {
			return l
		}
	}
	l := &line{channel: channel}
	q.lines = append(q.lines, l)
	return l
}

// refuse keeps that somebody was told that there are too many.
func (l *line) refuse(who memory.UserID) {
	if l.refused == nil {
		l.refused = map[memory.UserID]bool{}
	}
	l.refused[who] = true
}

// seat has as much answered as there are seats for.
func (d *desk) seat() {
	for d.free > 0 {
		q, l := d.next()
		if q == nil {
			return
		}
		a := l.waiting[0]
		l.waiting = l.waiting[1:]
		l.busy = true
		q.waiting--
		q.busy++
		d.free--
		if d.turns = slices.DeleteFunc(d.turns, func(o *queued) bool { return o == q }); q.waiting > 0 {
			d.turns = append(d.turns, q)
		}
		q.lines = append(slices.DeleteFunc(q.lines, func(o *line) bool { return o == l }), l)
		d.do(func() {
			d.answer(a)
			d.leave(q, l)
		})
	}
}

// next is whose turn it is; nil if it is nobody's.
func (d *desk) next() (*queued, *line) {
	for _, q := range d.turns {
		if q.busy >= guildAnswers {
			continue
		}
		for _, l := range q.lines {
			if !l.busy && len(l.waiting) > 0 {
				return q, l
			}
		}
	}
	return nil, nil
}

// leave gives back a seat.
func (d *desk) leave(q *queued, l *line) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.free++
	q.busy--
	l.busy = false
	d.seat()
	d.tidy(q)
}

// tidy forgets the lines in which there is nothing, and with them what was refused.
func (d *desk) tidy(q *queued) {
	q.lines = slices.DeleteFunc(q.lines, func(l *line) bool {
		if len(l.waiting) > 0 {
			return false
		}
		if q.waiting <= guildQuestions/2 { // a burst ends where there is room again, and some to spare
			l.refused = nil
		}
		return !l.busy && len(l.refused) == 0
	})
	if q.waiting == 0 {
		d.turns = slices.DeleteFunc(d.turns, func(o *queued) bool { return o == q })
	}
	if len(q.lines) == 0 {
		delete(d.queues, q.party)
	}
}

// do has something done in a goroutine that wait waits for. It is called with mu held.
func (d *desk) do(f func()) {
	d.active++
	go func() {
		f()
		defer d.progress()
		d.mu.Lock()
		defer d.mu.Unlock()
		d.active--
		close(d.ended)
		d.ended = make(chan struct{})
	}()
}

// tell has something said meanwhile, unless nothing is said any more.
func (d *desk) tell(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.over {
		d.do(f)
	}
}

// close answers no more questions, and has those that wait, or come still, told so. It returns how many wait.
func (d *desk) close() (waiting int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, q := range d.queues {
		for _, l := range q.lines {
			for _, a := range l.waiting {
				d.do(func() { d.missed(a) })
				waiting++
			}
			l.waiting = nil
		}
		q.waiting = 0
	}
	d.turns = nil
	return waiting
}

// wait returns when all that was begun is done, or ctx has ended. After that nothing is begun.
func (d *desk) wait(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.active > 0 && ctx.Err() == nil {
		ended := d.ended
		d.mu.Unlock()
		select {
		case <-ended:
		case <-ctx.Done():
		}
		d.mu.Lock()
	}
	d.over = d.closed
}

// idle reports whether nothing waits or is being done.
func (d *desk) idle() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.turns) == 0 && d.active == 0
}

// counts is how many questions wait, and how many are being answered.
func (d *desk) counts() (waiting, busy int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.queues {
		waiting += q.waiting
		busy += q.busy
	}
	return waiting, busy
}
