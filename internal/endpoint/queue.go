package endpoint

import (
	"context"
	"slices"
	"sync"
)

// Queue bounds how many calls a server gets at once. The rest wait: tenants take turns, and within a tenant who came
// first goes first. The zero Queue has no bound; it is safe for concurrent use.
type Queue struct {
	mu      sync.Mutex
	most    int // calls at once; 0: any number
	running int
	alone   bool     // the one that runs does so beside no other
	waiting []*place // in the order in which they came
	turns   []uint64 // tenants that had a turn, the latest last
}

// place is a call that waits.
type place struct {
	tenant uint64
	alone  bool          // it runs beside no other
	ready  chan struct{} // closed when it may begin
}

// NewQueue returns a queue for so many calls at once; 0: any number.
func NewQueue(most int) *Queue { return &Queue{most: most} }

// AtOnce returns how many calls may run at once; 0: any number.
func (q *Queue) AtOnce() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.most
}

// Lower allows one call fewer at once than ran when a server had too much to do, unless that was a single one.
func (q *Queue) Lower(ran int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if ran < 2 {
		return
	}
	lower := ran - 1
	if q.most == 0 || lower < q.most {
		q.most = lower
	}
}

// Running returns how many calls run.
func (q *Queue) Running() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running
}

// Enter waits for the tenant's turn. The call that may then begin ends with leave. If ctx ends first, the error is its
// cause.
func (q *Queue) Enter(ctx context.Context, tenant uint64) (leave func(), err error) {
	return q.enter(ctx, &place{tenant: tenant, ready: make(chan struct{})})
}

// EnterAlone is Enter for a call that runs beside no other.
func (q *Queue) EnterAlone(ctx context.Context, tenant uint64) (leave func(), err error) {
	return q.enter(ctx, &place{
		tenant: tenant,
		alone:  true,
		ready:  make(chan struct{}),
	})
}

func (q *Queue) enter(ctx context.Context, p *place) (leave func(), err error) {
	q.mu.Lock()
	q.waiting = append(q.waiting, p)
	q.letIn()
	q.mu.Unlock()
	select {
	case <-p.ready:
		return q.leaver(p), nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.Index(q.waiting, p)
	if at < 0 { // it was let in meanwhile
		q.end(p)
	} else {
		q.waiting = slices.Delete(q.waiting, at, at+1)
	}
	q.letIn()
	return nil, context.Cause(ctx)
}

func (q *Queue) leaver(p *place) func() {
	return sync.OnceFunc(func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.end(p)
		q.letIn()
	})
}

func (q *Queue) end(p *place) {
	q.running--
	if p.alone {
		q.alone = false
	}
}

// letIn lets in whom there is room for. One that runs alone waits for all others, who don't overtake it.
func (q *Queue) letIn() {
	for len(q.waiting) > 0 {
		at := q.next()
		p := q.waiting[at]
		full := q.most > 0 && q.running >= q.most
		if full || q.alone || p.alone && q.running > 0 {
			return
		}
		q.waiting = slices.Delete(q.waiting, at, at+1)
		q.running++
		q.alone = p.alone
		q.turns = slices.DeleteFunc(q.turns, func(t uint64) bool { return t == p.tenant })
		q.turns = append(q.turns, p.tenant)
		q.forget()
		close(p.ready)
	}
}

// next returns whose turn it is: one that runs alone, else the first of the tenant that waited longest for a turn.
func (q *Queue) next() int {
	best := 0
	for i, p := range q.waiting {
		if p.alone {
			return i
		}
		if q.turnOf(p.tenant) < q.turnOf(q.waiting[best].tenant) {
			best = i
		}
	}
	return best
}

// turnOf returns when a tenant had its last turn: the higher, the later.
func (q *Queue) turnOf(tenant uint64) int { return slices.Index(q.turns, tenant) }

// forget keeps the turns of those who wait, or had one just now.
func (q *Queue) forget() {
	const most = 1000
	q.turns = q.turns[max(0, len(q.turns)-most):]
}
