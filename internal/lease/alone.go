package lease

import (
	"context"
	"sync"
	"time"
)

// Alone is the table of a process that shares its jobs with no other. It never loses a lease. Make it with NewAlone.
type Alone struct {
	mu    sync.Mutex
	jobs  map[string]*aloneJob
	slots map[int]time.Time // when the bucket's last slot is
}

type aloneJob struct {
	held  bool
	epoch int64
	note  string
}

// NewAlone returns a table without leases.
func NewAlone() *Alone {
	return &Alone{jobs: map[string]*aloneJob{}, slots: map[int]time.Time{}}
}

// Claim implements Table.
func (a *Alone) Claim(_ context.Context, jobs []string, most int) (leases []Lease, _ error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, job := range jobs {
		j := a.jobs[job]
		if j == nil {
			j = &aloneJob{}
			a.jobs[job] = j
		}
		if j.held || len(leases) >= most {
			continue
		}
		leases = append(leases, Lease{
			Job:   job,
			Epoch: j.epoch + 1,
			Note:  j.note,
		})
		*j = aloneJob{held: true, epoch: j.epoch + 1}
	}
	return leases, nil
}

// Release implements Table.
func (a *Alone) Release(_ context.Context, l Lease, note string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if j := a.jobs[l.Job]; j != nil && j.epoch == l.Epoch && j.held {
		j.held = false
		j.note = note
	}
	return nil
}

// Lost implements Table: it is never closed.
func (a *Alone) Lost() <-chan struct{} { return nil }

// Valid implements Table.
func (a *Alone) Valid() bool { return true }

// Reset implements Table.
func (a *Alone) Reset() {}

// Processes implements Table.
func (a *Alone) Processes() int { return 1 }

// Jobs implements Table.
func (a *Alone) Jobs(context.Context) (held []string, _ error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, j := range a.jobs {
		if j.held {
			held = append(held, name)
		}
	}
	return held, nil
}

// Slot implements Table.
func (a *Alone) Slot(_ context.Context, bucket int, every time.Duration) (time.Duration, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	at := now
	if last, ok := a.slots[bucket]; ok && last.Add(every).After(now) {
		at = last.Add(every)
	}
	a.slots[bucket] = at
	return at.Sub(now), nil
}

var _ Table = (*Alone)(nil)
