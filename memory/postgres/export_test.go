package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"

	"hark/internal/lease"
)

// TakeTurn is the first statement of each write.
const (
	TakeTurn = takeTurn
	Idle     = idle
)

// ByClock lets leases live by another clock and for another time. It comes before the first Claim.
func ByClock(t lease.Table, life, renewal time.Duration, now func() time.Time) {
	l := t.(*leases)
	l.life, l.renewal, l.now = life, renewal, now
}

// ProcessName returns a process's name in the table process; empty if it has none.
func ProcessName(t lease.Table) string {
	l := t.(*leases)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.name
}

// OnClaim has f called in each claim, before its commit. It comes before the first Claim.
func OnClaim(t lease.Table, f func()) { t.(*leases).onClaim = f }

// OnRenewal has f called after each renewal. It comes before the first Claim.
func OnRenewal(t lease.Table, f func()) { t.(*leases).onRenewal = f }

// Traced returns o with a tracer of every statement that the server is sent.
func (o Options) Traced(by pgx.QueryTracer) Options {
	o.tracer = by
	return o
}
