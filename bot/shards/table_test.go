package shards

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"hark/internal/lease"
	"hark/internal/wait"
)

// board is where the tables of several processes keep their leases.
type board struct {
	mu      sync.Mutex
	owners  map[string]*process // by job
	epochs  map[string]int64
	notes   map[string]string
	alive   map[*process]bool
	changed wait.Signal
}

func newBoard() *board {
	return &board{owners: map[string]*process{}, epochs: map[string]int64{}, notes: map[string]string{},
		alive: map[*process]bool{}}
}

// process is a process's table.
type process struct {
	b     *board
	valid bool // guarded by b.mu, as the rest
	slow  bool // can't claim yet
	lost  chan struct{}
}

func (b *board) process() *process { return &process{b: b, valid: true, lost: make(chan struct{})} }

// lose takes all leases away, as if the process had stood still. It can claim again after recovers.
func (p *process) lose() {
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	defer p.b.changed.Send()
	p.valid, p.slow = false, true
	close(p.lost)
	p.die()
}

func (p *process) recovers() {
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	p.slow = false
}

// die frees the leases. The lock is held.
func (p *process) die() {
	delete(p.b.alive, p)
	for job, owner := range p.b.owners {
		if owner == p {
			delete(p.b.owners, job)
		}
	}
}

func (p *process) Claim(_ context.Context, jobs []string, most int) (got []lease.Lease, _ error) {
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	defer p.b.changed.Send()
	select {
	case <-p.lost:
		return nil, lease.ErrLost
	default:
	}
	if p.slow {
		return nil, errors.New("the table can't be reached")
	}
	p.b.alive[p], p.valid = true, true
	for _, job := range jobs {
		if len(got) < most && p.b.owners[job] == nil {
			p.b.owners[job] = p
			p.b.epochs[job]++
			got = append(got, lease.Lease{Job: job, Epoch: p.b.epochs[job], Note: p.b.notes[job]})
			delete(p.b.notes, job)
		}
	}
	return got, nil
}

func (p *process) Release(_ context.Context, l lease.Lease, note string) error {
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	defer p.b.changed.Send()
	if p.b.owners[l.Job] == p && p.b.epochs[l.Job] == l.Epoch {
		delete(p.b.owners, l.Job)
		p.b.notes[l.Job] = note
	}
	return nil
}

func (p *process) Lost() <-chan struct{} {
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	return p.lost
}

func (p *process) Valid() bool {
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	return p.valid
}

func (p *process) Reset() {
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	p.lost = make(chan struct{})
}

func (p *process) Processes() int {
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	return max(1, len(p.b.alive))
}

func (p *process) Slot(context.Context, int, time.Duration) (time.Duration, error) { return 0, nil }

func (p *process) Jobs(context.Context) (jobs []string, _ error) {
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	for job := range p.b.owners {
		jobs = append(jobs, job)
	}
	slices.Sort(jobs)
	return jobs, nil
}
