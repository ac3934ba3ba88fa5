package reply

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"hark/bot/ingest"
	"hark/memory"
)

const (
	maxWaiting      = 5  // jobs in a channel behind the running one
	maxGuildWaiting = 20 // jobs of a tenant
	maxRunning      = 16 // jobs
	maxGuildRunning = 8  // jobs of a tenant, so that others get a turn
)

// scheduler runs jobs: one at a time in a channel, several channels at a time. Tenants take turns, and within a
// tenant its channels.
type scheduler[J any] struct {
	run  func(J)
	done func() // called after each job and each started func

	mu      sync.Mutex
	changed *sync.Cond // when active changes
	queues  map[memory.ChannelID]*channelQueue[J]
	// returning are the jobs that wait for a slot again, in order.
	returning []returning
	turns     int  // given out so far
	busy      int  // slots taken
	active    int  // goroutines
	closed    bool // starts no more jobs
	stopped   bool // starts nothing
}

// tenant is what shares a turn: a guild, or a direct channel.
type tenant struct {
	guild         memory.GuildID
	direct        memory.ChannelID
	waiting, busy int
	turn          int // its last; the smallest is next
}

// channelQueue holds the jobs that wait in a channel.
type channelQueue[J any] struct {
	tenant   *tenant
	waiting  []waitingJob[J]
	running  *slot // of its running job; nil: none runs
	turn     int
	notified map[memory.UserID]bool // who know that it is full
}

// slot is what a job needs to run. It is given up while the job waits for somebody.
type slot struct {
	tenant *tenant
	taken  bool
	ended  bool // its job has
}

// returning is a job that waits for its slot again.
type returning struct {
	*slot
	again chan struct{} // closed when it has it, or has ended
}

type waitingJob[J any] struct {
	job     J
	resumed bool // accepted by an earlier process; doesn't count against the bounds
}

// fresh counts waiting jobs that aren't resumed.
func (q *channelQueue[J]) fresh() (n int) {
	for _, w := range q.waiting {
		if !w.resumed {
			n++
		}
	}
	return n
}

// fullError means that too many jobs wait.
type fullError struct {
	waiting int
	guild   bool // in the tenant rather than the channel
	first   bool // whether to tell the asker: once in a burst
}

func (*fullError) Error() string { return "too many questions wait" }

func newScheduler[J any](run func(J), done func()) *scheduler[J] {
	s := &scheduler[J]{
		run:    run,
		done:   done,
		queues: map[memory.ChannelID]*channelQueue[J]{},
	}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// put queues a job, or returns a *fullError or ErrStopped. It doesn't block. who is 0 for an asker who isn't told
// that the queue is full. Resumed jobs are always queued.
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
			err.waiting = inGuild
			err.guild = true
		}
		if err.first {
			q.notified[who] = true
		}
		return err
	}
	q.waiting = append(q.waiting, waitingJob[J]{job, resumed})
	q.tenant.waiting++
	if q.tenant.waiting == 1 {
		q.tenant.turn = s.turn()
	}
	s.dispatch()
	return nil
}

// queueOf returns a channel's queue, made if needed.
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
	s.queues[channel] = &channelQueue[J]{
		tenant:   t,
		turn:     s.turn(),
		notified: map[memory.UserID]bool{},
	}
	return s.queues[channel]
}

func (s *scheduler[J]) turn() int {
	s.turns++
	return s.turns
}

// dispatch gives slots to the jobs that return, and starts as many others as may run.
func (s *scheduler[J]) dispatch() {
	s.returning = slices.DeleteFunc(s.returning, func(r returning) bool {
		if !r.ended && !r.taken && (s.busy >= maxRunning || r.tenant.busy >= maxGuildRunning) {
			return false
		}
		s.take(r.slot)
		close(r.again)
		return true
	})
	for s.busy < maxRunning {
		q := s.next()
		if q == nil {
			return
		}
		job := q.waiting[0].job
		q.waiting = q.waiting[1:]
		q.running = &slot{tenant: q.tenant}
		q.turn = s.turn()
		q.tenant.waiting = q.tenant.waiting - 1
		q.tenant.turn = q.turn
		s.take(q.running)
		s.begin(func() {
			s.run(job)
			s.release(q)
		})
	}
}

// next returns the queue whose turn it is, or nil.
func (s *scheduler[J]) next() (first *channelQueue[J]) {
	for _, q := range s.queues {
		if q.running != nil || len(q.waiting) == 0 || q.tenant.busy >= maxGuildRunning {
			continue
		}
		if first == nil || cmp.Or(cmp.Compare(q.tenant.turn, first.tenant.turn), cmp.Compare(q.turn, first.turn)) < 0 {
			first = q
		}
	}
	return first
}

// release ends a job's turn and drops empty queues.
func (s *scheduler[J]) release(q *channelQueue[J]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.give(q.running)
	q.running.ended = true
	q.running = nil
	s.dispatch()
	maps.DeleteFunc(s.queues, func(_ memory.ChannelID, other *channelQueue[J]) bool {
		empty := other.tenant == q.tenant && len(other.waiting) == 0
		if empty && q.tenant.waiting <= maxGuildWaiting/2 { // the burst is over
			clear(other.notified)
		}
		return empty && other.running == nil && len(other.notified) == 0
	})
}

// take takes a slot, unless its job has ended.
func (s *scheduler[J]) take(r *slot) {
	if r.taken || r.ended {
		return
	}
	r.taken = true
	s.busy++
	r.tenant.busy++
}

// give gives a slot up.
func (s *scheduler[J]) give(r *slot) {
	if !r.taken {
		return
	}
	r.taken = false
	s.busy--
	r.tenant.busy--
}

// pause runs do within the channel's running job, which others may run beside: it keeps the channel, but not its slot.
// It returns when the job has a slot again, before others that wait, or when ctx ends.
func (s *scheduler[J]) pause(ctx context.Context, channel memory.ChannelID, do func()) {
	s.mu.Lock()
	var r *slot
	if q := s.queues[channel]; q != nil {
		r = q.running
	}
	if r == nil {
		s.mu.Unlock()
		do()
		return
	}
	s.give(r)
	s.dispatch()
	s.mu.Unlock()
	do()
	s.mu.Lock()
	back := returning{r, make(chan struct{})}
	s.returning = append(s.returning, back)
	s.dispatch()
	s.mu.Unlock()
	select {
	case <-back.again:
	case <-ctx.Done(): // it ends, so it takes one that there may not be
		s.mu.Lock()
		defer s.mu.Unlock()
		s.returning = slices.DeleteFunc(s.returning, func(other returning) bool { return other == back })
		s.take(r)
	}
}

// begin runs do in a goroutine that wait waits for. The caller holds mu.
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

// start runs something that isn't a job and needs no turn, unless wait has returned.
func (s *scheduler[J]) start(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopped {
		s.begin(do)
	}
}

// close starts no more jobs, and returns those that wait.
func (s *scheduler[J]) close() (left []J) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, q := range s.queues {
		for _, w := range q.waiting {
			left = append(left, w.job)
		}
		q.waiting = nil
		q.tenant.waiting = 0
	}
	return left
}

// wait returns when everything begun is done, or ctx has ended. After close and wait nothing begins.
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

// counts returns how many jobs wait, how many run, and how many goroutines there are.
func (s *scheduler[J]) counts() (waiting, busy, active int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.queues {
		waiting += len(q.waiting)
	}
	return waiting, s.busy, s.active
}
