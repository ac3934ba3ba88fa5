package reply

import (
	"cmp"
	"context"
	"maps"
	"sync"

	"hark/bot/ingest"
	"hark/memory"
)

const (
	// maxWaiting is how many jobs wait in a channel behind the one that runs.
	maxWaiting = 5
	// maxGuildWaiting is how many wait in all channels of a tenant.
	maxGuildWaiting = 20
	// maxRunning is how many channels have a job that runs.
	maxRunning = 16
	// maxGuildRunning is how many of them are one tenant's, so that others have a turn.
	maxGuildRunning = 8
)

// scheduler runs jobs: one at a time in a channel, several channels at a time. Tenants take turns, and in a tenant its
// channels. It doesn't know what a job is.
type scheduler[J any] struct {
	run  func(J)
	done func() // is called after each job, and whatever else was started

	mu      sync.Mutex
	changed *sync.Cond // when active is another
	queues  map[memory.ChannelID]*channelQueue[J]
	turns   int  // that there were
	busy    int  // jobs that run
	active  int  // goroutines
	closed  bool // runs no more jobs
	stopped bool // starts nothing any more
}

// tenant is who share a turn: a guild, or those of a direct message.
type tenant struct {
	guild         memory.GuildID
	direct        memory.ChannelID
	waiting, busy int
	turn          int // the last that it had; whose is the smallest is next
}

// channelQueue is what waits in a channel behind the job that runs.
type channelQueue[J any] struct {
	tenant   *tenant
	waiting  []waitingJob[J]
	busy     bool
	turn     int
	notified map[memory.UserID]bool // that there are too many
}

type waitingJob[J any] struct {
	job     J
	resumed bool // an earlier process accepted it, so that it takes no place from what is asked now
}

// fresh counts what waits and isn't resumed.
func (q *channelQueue[J]) fresh() (n int) {
	for _, w := range q.waiting {
		if !w.resumed {
			n++
		}
	}
	return n
}

// fullError is that too many jobs wait.
type fullError struct {
	waiting int
	guild   bool // in all of the tenant, rather than in the channel
	first   bool // whether whoever asked is to be told: once in a burst
}

func (*fullError) Error() string { return "too many questions wait" }

func newScheduler[J any](run func(J), done func()) *scheduler[J] {
	s := &scheduler[J]{run: run, done: done, queues: map[memory.ChannelID]*channelQueue[J]{}}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// put has a job run when it is its turn, unless there is a *fullError or errStopped. It doesn't wait. who is 0 for
// somebody who isn't to be told that there are too many. A job that an earlier process accepted is resumed
// however many wait.
func (s *scheduler[J]) put(guild memory.GuildID, channel memory.ChannelID, who memory.UserID, resumed bool,
	job J) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ingest.ErrStopped
	}
	q := s.queueOf(guild, channel)
	inGuild := 0
	for _, other := range s.queues {
		if other.tenant == q.tenant {
			inGuild += other.fresh()
		}
	}
	if n := q.fresh(); !resumed && (n >= maxWaiting || inGuild >= maxGuildWaiting) {
		err := &fullError{waiting: n, first: who != 0 && !q.notified[who]}
		if n < maxWaiting {
			err.waiting, err.guild = inGuild, true
		}
		if err.first {
			q.notified[who] = true
		}
		return err
	}
	q.waiting = append(q.waiting, waitingJob[J]{job, resumed})
	if q.tenant.waiting++; q.tenant.waiting == 1 {
		q.tenant.turn = s.turn()
	}
	s.dispatch()
	return nil
}

// place is where a job of a channel waits.
func (s *scheduler[J]) queueOf(guild memory.GuildID, channel memory.ChannelID) *channelQueue[J] {
	if q := s.queues[channel]; q != nil {
		return q
	}
	t := &tenant{guild: guild}
	if guild == memory.DirectGuild {
		t.direct = channel
	}
	for _, q := range s.queues {
		if q.tenant.guild == t.guild && q.tenant.direct == t.direct {
			t = q.tenant
		}
	}
	s.queues[channel] = &channelQueue[J]{tenant: t, turn: s.turn(), notified: map[memory.UserID]bool{}}
	return s.queues[channel]
}

func (s *scheduler[J]) turn() int {
	s.turns++
	return s.turns
}

// dispatch runs as many jobs as may run.
func (s *scheduler[J]) dispatch() {
	for s.busy < maxRunning {
		q := s.next()
		if q == nil {
			return
		}
		job := q.waiting[0].job
		q.waiting, q.busy = q.waiting[1:], true
		q.turn = s.turn()
		q.tenant.waiting, q.tenant.busy, q.tenant.turn = q.tenant.waiting-1, q.tenant.busy+1, q.turn
		s.busy++
		s.begin(func() {
			s.run(job)
			s.release(q)
		})
	}
}

// next is whose turn it is; nil if it is nobody's.
func (s *scheduler[J]) next() (first *channelQueue[J]) {
	for _, q := range s.queues {
		if q.busy || len(q.waiting) == 0 || q.tenant.busy >= maxGuildRunning {
			continue
		}
		if first == nil || cmp.Or(cmp.Compare(q.tenant.turn, first.tenant.turn), cmp.Compare(q.turn, first.turn)) < 0 {
			first = q
		}
	}
	return first
}

// release ends a job's turn, and drops what has nothing in it.
func (s *scheduler[J]) release(q *channelQueue[J]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	q.tenant.busy--
	q.busy = false
	s.dispatch()
	maps.DeleteFunc(s.queues, func(_ memory.ChannelID, other *channelQueue[J]) bool {
		empty := other.tenant == q.tenant && len(other.waiting) == 0
		if empty && q.tenant.waiting <= maxGuildWaiting/2 { // a burst ends where there is room again, and some to spare
			clear(other.notified)
		}
		return empty && !other.busy && len(other.notified) == 0
	})
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
	if !s.stopped {
		s.begin(do)
	}
}

// close runs no more jobs, and returns those that wait.
func (s *scheduler[J]) close() (left []J) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, q := range s.queues {
		for _, w := range q.waiting {
			left = append(left, w.job)
		}
		q.waiting, q.tenant.waiting = nil, 0
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
	s.stopped = s.closed
}

// counts is how many jobs wait, how many run, and how many goroutines there are.
func (s *scheduler[J]) counts() (waiting, busy, active int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.queues {
		waiting += len(q.waiting)
	}
	return waiting, s.busy, s.active
}
