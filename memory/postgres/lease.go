package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hark/internal/lease"
)

// leases is a lease.Table: the tables process, lease and identify.
//
// A process that claims has a row in process, with a name that it never uses again after a loss. It renews that row
// only, so all its leases expire at once. Whoever takes over deletes the row, which frees the leases. Transactions of
// the process lock its row, so that it can't be deleted before they end, and are refused once it is gone: see transact.
type leases struct {
	pool          *pgxpool.Pool // its own, so that renewals never wait for answers
	life, renewal time.Duration
	now           func() time.Time
	onRenewal     func() // for tests
	onClaim       func() // the same, before the commit

	claiming chan struct{} // holds a token while somebody claims

	mu         sync.Mutex // guards what follows
	name       string     // in process; empty before the first Claim, and from a loss to the next Claim
	renewed    time.Time  // a moment before the row was renewed last
	held       map[string]int64
	unreleased []released // whose release failed: each renewal tries again
	processes  int
	lost       chan struct{}
	refused    bool // whether writes are refused: from a loss to the next Claim
	closed     bool
	stop       context.CancelFunc // ends the renewals
	renewals   sync.WaitGroup
}

// released is a lease that was given back, with a note.
type released struct {
	lease.Lease
	note string
}

func newLeases(config *pgxpool.Config) (*leases, error) {
	config.MinConns = 0
	config.MinIdleConns = 0
	config.MaxConns = 3 // one may hang in a dead network
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	return &leases{
		pool:      pool,
		life:      lease.Life,
		renewal:   lease.Renewal,
		now:       time.Now,
		onRenewal: func() {},
		onClaim:   func() {},
		claiming:  make(chan struct{}, 1),
		held:      map[string]int64{},
		processes: 1,
		lost:      make(chan struct{}),
	}, nil
}

// Statements on the tables of leases. Times are the database's.
const (
	joinSQL = `INSERT INTO process (name, expires) VALUES ($1, clock_timestamp() + $2)
		RETURNING 1 + (SELECT count(*) FROM process p WHERE p.expires > clock_timestamp())`
	// renewSQL returns no row if the process is lost.
	renewSQL = `UPDATE process SET expires = clock_timestamp() + $2 WHERE name = $1 AND expires > clock_timestamp()
		RETURNING (SELECT count(*) FROM process p WHERE p.expires > clock_timestamp())`
	// holdSQL returns no row if the process is lost. Else it isn't before the transaction ends. A process that stops in
	// the transaction ends it before its leases end; see takeTurn.
	holdSQL = `SELECT set_config('idle_in_transaction_session_timeout', $2, true)
		FROM process WHERE name = $1 AND expires > clock_timestamp() FOR KEY SHARE`
	// takeOverSQL waits for nobody: a process whose transaction runs is taken over later.
	takeOverSQL = `DELETE FROM process WHERE name IN
		(SELECT name FROM process WHERE expires <= clock_timestamp() FOR UPDATE SKIP LOCKED)`
	offerSQL = `INSERT INTO lease (job) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`
	// claimSQL also returns what this process owns without knowing, since the answer to an earlier claim was lost.
	claimSQL = `WITH free AS MATERIALIZED (SELECT job, note FROM lease
			WHERE job = ANY ($2::text[]) AND (owner IS NULL OR owner = $1 AND job <> ALL ($3::text[]))
			ORDER BY array_position($2::text[], job) LIMIT $4 FOR UPDATE SKIP LOCKED)
		UPDATE lease SET owner = $1, epoch = epoch + 1, note = '' FROM free WHERE lease.job = free.job
		RETURNING lease.job, lease.epoch, free.note`
	releaseSQL = `UPDATE lease SET owner = NULL, note = $4 WHERE job = $1 AND owner = $2 AND epoch = $3`
	slotSQL    = `INSERT INTO identify (bucket, at) VALUES ($1, clock_timestamp())
		ON CONFLICT (bucket) DO UPDATE SET at = greatest(identify.at + $2, clock_timestamp())
		RETURNING greatest(at - clock_timestamp(), '0')`
	jobsSQL  = `SELECT job FROM lease JOIN process ON owner = name WHERE expires > clock_timestamp() ORDER BY job`
	leaveSQL = `DELETE FROM process WHERE name = $1`
)

// Claim implements lease.Table.
func (l *leases) Claim(ctx context.Context, jobs []string, most int) ([]lease.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, l.life)
	defer cancel()
	select {
	case l.claiming <- struct{}{}:
		defer func() { <-l.claiming }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	name, err := l.join(ctx)
	if err != nil {
		return nil, failed("claim leases", err)
	}
	l.mu.Lock()
	held := slices.Collect(maps.Keys(l.held))
	l.mu.Unlock()
	var claimed []lease.Lease
	err = pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) error {
		switch err := tx.QueryRow(ctx, holdSQL, name, idle).Scan(new(string)); {
		case errors.Is(err, pgx.ErrNoRows):
			l.lose(name)
			return lease.ErrLost
		case err != nil:
			return err
		}
		if _, err := tx.Exec(ctx, takeOverSQL); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, offerSQL, slices.Sorted(slices.Values(jobs))); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, claimSQL, name, jobs, held, most)
		if err != nil {
			return err
		}
		claimed, err = pgx.CollectRows(rows, pgx.RowToStructByPos[lease.Lease])
		l.onClaim()
		return err
	})
	if err != nil {
		return nil, failed("claim leases", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.name != name {
		return nil, lease.ErrLost
	}
	for _, c := range claimed {
		l.held[c.Job] = c.Epoch
	}
	return claimed, nil
}

// failed says what failed, unless the leases are lost.
func failed(what string, err error) error {
	if errors.Is(err, lease.ErrLost) {
		return err
	}
	return fmt.Errorf("%s: %w", what, explain(err))
}

// join returns the name of this process. At the first Claim it adds its row, and begins to renew that.
func (l *leases) join(ctx context.Context) (string, error) {
	l.mu.Lock()
	name := l.name
	lost := l.isLost()
	l.mu.Unlock()
	if lost {
		return "", lease.ErrLost
	}
	if name != "" {
		return name, nil
	}
	name = rand.Text() // a new one each time, since a failed statement may have come through
	sent := l.now()
	var processes int
	if err := l.pool.QueryRow(ctx, joinSQL, name, l.life).Scan(&processes); err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return "", errors.New("the store is closed")
	}
	l.name = name
	l.renewed = sent
	l.processes = processes
	l.refused = false
	renewing, stop := context.WithCancel(context.Background())
	l.stop = stop
	l.renewals.Go(func() { l.renew(renewing, name) })
	return name, nil
}

// renew renews the row of this process until it is lost or ctx ends.
func (l *leases) renew(ctx context.Context, name string) {
	for pause := l.renewal; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if !l.Valid() { // loses them
			return
		}
		sent := l.now()
		l.mu.Lock()
		left := l.expiry().Sub(sent)
		l.mu.Unlock()
		var processes int
		within, cancel := context.WithTimeout(ctx, min(left, l.renewal))
		err := l.pool.QueryRow(within, renewSQL, name, l.life).Scan(&processes)
		cancel()
		switch {
		case err == nil:
			pause = l.renewal
			l.mu.Lock()
			if l.name == name && l.expiry().After(l.now()) {
				l.renewed = sent
				l.processes = processes
			}
			l.mu.Unlock()
			l.releaseAgain(ctx, name)
			l.onRenewal()
		case errors.Is(err, pgx.ErrNoRows):
			l.lose(name)
			return
		default:
			pause = l.renewal / 10
		}
	}
}

// expiry returns when the leases may end. The caller holds mu.
func (l *leases) expiry() time.Time { return l.renewed.Add(l.life - l.life/9) }

// lose records that this process lost its leases.
func (l *leases) lose(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.name == name {
		l.forget()
	}
}

// forget forgets all leases. The caller holds mu.
func (l *leases) forget() {
	l.name = ""
	l.refused = true
	clear(l.held)
	l.unreleased = nil
	close(l.lost)
	l.stop()
}

// isLost reports whether lost is closed. The caller holds mu.
func (l *leases) isLost() bool {
	select {
	case <-l.lost:
		return true
	default:
		return false
	}
}

// Release implements lease.Table.
func (l *leases) Release(ctx context.Context, of lease.Lease, note string) error {
	l.mu.Lock()
	name := l.name
	if l.held[of.Job] != of.Epoch || name == "" {
		l.mu.Unlock()
		return nil
	}
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, l.life)
	defer cancel()
	_, err := l.pool.Exec(ctx, releaseSQL, of.Job, name, of.Epoch, note)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.name == name && l.held[of.Job] == of.Epoch {
		delete(l.held, of.Job) // after an error too: the next Claim of this process finds what is still its own
		if err != nil {
			l.unreleased = append(l.unreleased, released{of, note})
		}
	}
	if err != nil {
		return failed("release "+of.Job, err)
	}
	return nil
}

// releaseAgain gives back leases whose release failed. Else they would be this process's as long as it lives, without
// anybody doing the job.
func (l *leases) releaseAgain(ctx context.Context, name string) {
	l.mu.Lock()
	again := slices.Clone(l.unreleased)
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, l.renewal)
	defer cancel()
	for _, r := range again {
		if _, err := l.pool.Exec(ctx, releaseSQL, r.Job, name, r.Epoch, r.note); err != nil {
			return
		}
		l.mu.Lock()
		l.unreleased = slices.DeleteFunc(l.unreleased, func(o released) bool { return o == r })
		l.mu.Unlock()
	}
}

// Jobs returns the jobs that living processes do.
func (l *leases) Jobs(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, l.life)
	defer cancel()
	rows, err := l.pool.Query(ctx, jobsSQL)
	if err != nil {
		return nil, failed("read who does what", err)
	}
	jobs, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, failed("read who does what", err)
	}
	return jobs, nil
}

// Lost implements lease.Table.
func (l *leases) Lost() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// Valid implements lease.Table. If the leases may have ended, they count as lost. A computer that slept is noticed by
// the time of day, which the monotonic clock leaves out.
func (l *leases) Valid() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.name != "" {
		now := l.now()
		end := l.expiry()
		if !now.Before(end) || !now.Round(0).Before(end.Round(0)) {
			l.forget()
		}
	}
	return !l.refused
}

// Reset implements lease.Table.
func (l *leases) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isLost() {
		l.lost = make(chan struct{})
	}
}

// Processes implements lease.Table.
func (l *leases) Processes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(1, l.processes)
}

// Slot implements lease.Table.
func (l *leases) Slot(ctx context.Context, bucket int, every time.Duration) (wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.life)
	defer cancel()
	if err := l.pool.QueryRow(ctx, slotSQL, bucket, every).Scan(&wait); err != nil {
		return 0, failed("reserve a moment to identify", err)
	}
	return wait, nil
}

// fence returns what a transaction needs: the process's name, empty if it never claimed, and what ends it.
func (l *leases) fence() (name string, lost <-chan struct{}, err error) {
	if !l.Valid() {
		return "", nil, lease.ErrLost
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused {
		return "", nil, lease.ErrLost
	}
	return l.name, l.lost, nil
}

// isHeld returns ErrLost if a transaction of the process found no row of it.
func (l *leases) isHeld(name string, row sql.NullBool) error {
	if name == "" || row.Valid {
		return nil
	}
	l.lose(name)
	return lease.ErrLost
}

// close gives up the leases.
func (l *leases) close() {
	l.mu.Lock()
	name := l.name
	stop := l.stop
	l.closed = true
	l.name = ""
	l.mu.Unlock()
	if stop != nil {
		stop()
	}
	l.renewals.Wait()
	if name != "" {
		ctx, cancel := context.WithTimeout(context.Background(), l.renewal)
		defer cancel()
		_, _ = l.pool.Exec(ctx, leaveSQL, name) // else the row expires
	}
	l.pool.Close()
}

var _ lease.Table = (*leases)(nil)

// idle is how long a session may be idle in a transaction that locks something.
const idle = "5s"
