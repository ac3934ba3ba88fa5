package bot

import (
	"context"
	"slices"
	"sync"

	"hark/memory"
)

const (
	// waitingQuestions is how many jobs wait in a channel behind the one that runs.
	waitingQuestions = 5
	// guildQuestions is how many wait in all channels of a tenant.
	guildQuestions = 20
	// parallelAnswers is how many channels have a job that runs.
	parallelAnswers = 16
	// guildAnswers is how many of them are one tenant's, so that others have a turn.
	guildAnswers = 8
)

// scheduler runs jobs: one at a time in a channel, several channels at a time. Tenants take turns, and in a tenant its
// channels. It doesn't know what a job is.
type scheduler[J any] struct {
	run  func(J)
	done func() // is called after each job, and whatever else was started

	mu      sync.Mutex
	changed *sync.Cond   // when active is another
	tenants []*tenant[J] // by turn
	free    int          // how many more jobs may run
	active  int          // goroutines
	closed  bool         // runs no more jobs
	over    bool         // starts nothing any more
}

// tenantID is who share a turn: a guild, or those of a direct message.
type tenantID struct {
	guild  memory.GuildID
	direct memory.ChannelID
}

type tenant[J any] struct {
	id            tenantID
	queues        []*channelQueue[J] // by turn
	waiting, busy int
}

// channelQueue is what waits in a channel behind the job that runs.
type channelQueue[J any] struct {
	channel memory.ChannelID
	waiting []J
	busy    bool
	told    map[memory.UserID]bool // that there are too many
}

// fullError is that too many jobs wait.
type fullError struct {
	waiting int
	guild   bool // in all of the tenant, rather than in the channel
	first   bool // whether whoever asked is to be told: once in a burst
}

func (*fullError) Error() string { return "too many questions wait" }

func newScheduler[J any](run func(J), done func()) *scheduler[J] {
	s := &scheduler[J]{run: run, done: done, free: parallelAnswers}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// put has a job run when it is its turn, unless there is a *fullError or errStopped. It doesn't wait. who is 0 for
// somebody who isn't to be told that there are too many.
func (s *scheduler[J]) put(guild memory.GuildID, channel memory.ChannelID, who memory.UserID, job J) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errStopped
	}
	t, q := s.place(guild, channel)
	if full := len(q.waiting) >= waitingQuestions; full || t.waiting >= guildQuestions {
		err := &fullError{waiting: len(q.waiting), first: who != 0 && !q.told[who]}
		if !full {
			err.waiting, err.guild = t.waiting, true
		}
		if err.first {
			q.told[who] = true
		}
		return err
	}
	q.waiting = append(q.waiting, job)
	if t.waiting++; t.waiting == 1 {
		s.tenants = toEnd(s.tenants, t)
	}
	s.dispatch()
	return nil
}

// place is where a job of a channel waits.
func (s *scheduler[J]) place(guild memory.GuildID, channel memory.ChannelID) (*tenant[J], *channelQueue[J]) {
	id := tenantID{guild: guild}
	if guild == memory.DirectGuild {
		id.direct = channel
	}
	i := slices.IndexFunc(s.tenants, func(t *tenant[J]) bool { return t.id == id })
	if i < 0 {
		i, s.tenants = len(s.tenants), append(s.tenants, &tenant[J]{id: id})
	}
	t := s.tenants[i]
	i = slices.IndexFunc(t.queues, func(q *channelQueue[J]) bool { return q.channel == channel })
	if i < 0 {
		i, t.queues = len(t.queues), append(t.queues, &channelQueue[J]{channel: channel, told: map[memory.UserID]bool{}})
	}
	return t, t.queues[i]
}

// dispatch runs as many jobs as may run.
func (s *scheduler[J]) dispatch() {
	for s.free > 0 {
		t, q := s.next()
		if t == nil {
			return
		}
		job := q.waiting[0]
		q.waiting, q.busy = q.waiting[1:], true
		t.waiting--
		t.busy++
		s.free--
		s.tenants, t.queues = toEnd(s.tenants, t), toEnd(t.queues, q)
		s.begin(func() {
			s.run(job)
			s.release(t, q)
		})
	}
}

// next is whose turn it is; nil if it is nobody's.
func (s *scheduler[J]) next() (*tenant[J], *channelQueue[J]) {
	for _, t := range s.tenants {
		if t.waiting == 0 || t.busy >= guildAnswers {
			continue
		}
		for _, q := range t.queues {
			if !q.busy && len(q.waiting) > 0 {
				return t, q
			}
		}
	}
	return nil, nil
}

func toEnd[T comparable](list []T, item T) []T {
	return append(slices.DeleteFunc(list, func(other T) bool { return other == item }), item)
}

// release ends a job's turn, and drops what has nothing in it.
func (s *scheduler[J]) release(t *tenant[J], q *channelQueue[J]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	t.busy--
	q.busy = false
	s.dispatch()
	t.queues = slices.DeleteFunc(t.queues, func(q *channelQueue[J]) bool {
		if len(q.waiting) == 0 && t.waiting <= guildQuestions/2 { // a burst ends where there is room again, and some to spare
			clear(q.told)
		}
		return len(q.waiting) == 0 && !q.busy && len(q.told) == 0
	})
	s.tenants = slices.DeleteFunc(s.tenants, func(t *tenant[J]) bool { return len(t.queues) == 0 })
}

// begin does something in a goroutine that wait waits for. It is called with mu held.
func (s *scheduler[J]) begin(do func()) {
	s.active++
	go func() {
		do()
		defer s.done()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.active--
		s.changed.Broadcast()
	}()
}

// start does something that isn't a job and needn't wait for its turn, unless wait has returned.
func (s *scheduler[J]) start(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.begin(do)
	}
}

// close runs no more jobs, and returns those that wait.
func (s *scheduler[J]) close() (left []J) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, t := range s.tenants {
		for _, q := range t.queues {
			left = append(left, q.waiting...)
			q.waiting = nil
		}
		t.waiting = 0
	}
	return left
}

// wait returns when all that was begun is done, or ctx has ended. After close and that, nothing is begun any more.
func (s *scheduler[J]) wait(ctx context.Context) {
	defer context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	})()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.active > 0 && ctx.Err() == nil {
		s.changed.Wait()
	}
	s.over = s.closed
}

// counts is how many jobs wait, how many run, and how many goroutines there are.
func (s *scheduler[J]) counts() (waiting, busy, active int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tenants {
		waiting += t.waiting
		busy += t.busy
	}
	return waiting, busy, s.active
}
