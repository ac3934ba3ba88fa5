// Package lease shares jobs among processes: each job is done by one process at a time.
//
// A process renews all its leases at once, so it loses all or none. It loses them by standing still for Life: because
// it was stopped, or because it can't reach the table. Then others take over its jobs, and nothing that it began with
// its leases may go on. Hold ends it and begins anew.
package lease

import (
	"context"
	"errors"
	"time"
)

const (
	// Life is how long a lease lasts after its last renewal.
	Life = 9 * time.Second
	// Renewal is the time between renewals, and between tries to claim a job that another process does.
	Renewal = 3 * time.Second
)

// ErrLost is the cause with which contexts end once this process has lost its leases. Whatever is to be sent or written
// after that is refused with it: don't try again.
var ErrLost = errors.New("this process lost its leases, so another may do its work: nothing more is sent or written")

// Lease is the right to do a job until it is lost or released.
type Lease struct {
	Job   string // "shard 3/8", "janitor"
	Epoch int64  // counts the owners
	Note  string // what the last owner left for the next one: a shard's session, as JSON
}

// Table is where leases are kept. memory/postgres has one for many processes; Alone is one for a single process. It is
// safe for concurrent use.
type Table interface {
	// Claim takes up to most of the jobs that nobody holds, the first ones first. It takes their notes away. After a loss
	// it fails with ErrLost until Reset.
	Claim(ctx context.Context, jobs []string, most int) ([]Lease, error)
	// Release gives a lease back, with a note for the next owner. Nothing may be sent or written for the job any more.
	// After an error the table tries again until it succeeds, or this process claims the job or loses its leases.
	Release(ctx context.Context, l Lease, note string) error
	// Lost is closed once this process has lost its leases. After Reset it is another channel.
	Lost() <-chan struct{}
	// Valid reports whether the leases surely still hold, by the local clock. Ask it right before each request that only
	// the owner of a job may send. It is true before the first Claim.
	Valid() bool
	// Reset forgets a loss, so that the process may claim again. Call it once nothing that relied on a lease runs.
	Reset()
	// Processes returns how many living processes share the jobs, at least 1.
	Processes() int
	// Jobs returns the jobs that living processes do.
	Jobs(ctx context.Context) ([]string, error)
	// Slot reserves the next moment at which a bucket may identify, at least every after the one before. It returns how
	// long to wait for it.
	Slot(ctx context.Context, bucket int, every time.Duration) (time.Duration, error)
}

// Hold runs f. When this process loses its leases, f's context ends with the cause ErrLost, and after f has returned,
// Hold runs it again. Otherwise Hold returns what f returns.
func Hold(ctx context.Context, t Table, f func(context.Context) error) error {
	for {
		err := hold(ctx, t.Lost(), f)
		select {
		case <-t.Lost():
			if ctx.Err() != nil {
				return err
			}
			t.Reset()
		default:
			return err
		}
	}
}

func hold(ctx context.Context, lost <-chan struct{}, f func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil) // ends the goroutine
	go func() {
		select {
		case <-lost:
			cancel(ErrLost)
		case <-ctx.Done():
		}
	}()
	return f(ctx)
}

// While does a job of which each process is able, but only one may do it at a time: it claims the job once it is free,
// and releases it when do returns. Its context must end when the leases are lost, as Hold's does. It returns what do
// returns, or nil if ctx ends before.
func While(ctx context.Context, t Table, job string, do func(context.Context) error) error {
	for {
		leases, err := t.Claim(ctx, []string{job}, 1) // an error may pass
		if err == nil && len(leases) == 1 {
			err := do(ctx)
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Renewal)
			defer cancel()
			_ = t.Release(ctx, leases[0], "") // if it fails, the table tries again
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(Renewal):
		}
	}
}
