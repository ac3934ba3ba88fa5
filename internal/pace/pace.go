// Package pace waits: for a time, for a signal, or until a context ends.
package pace

import (
	"context"
	"time"
)

// Wake wakes whoever waits for wake, or the next to wait. It never blocks.
func Wake(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// Every calls do when wake receives and after each pause, until ctx ends.
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

// Sleep waits for d, or returns the error of ctx if that ends first.
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
