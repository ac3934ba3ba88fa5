// Package pace waits: for a time, for a signal, or until a context ends.
package pace

import (
	"context"
	"time"
)

// Wake has whoever waits for wake go on, now or, if nobody waits, at once the next time. It never blocks.
func Wake(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// Every does something whenever wake receives, and every now and then, until ctx ends.
func Every(ctx context.Context, pause time.Duration, wake <-chan struct{}, do func(context.Context)) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-tick.C:
		}
		do(ctx)
	}
}

// Sleep waits for d, or returns the error of ctx when that ends.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
