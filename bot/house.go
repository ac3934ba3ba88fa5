package bot

import (
	"context"
	"time"
)

// wakeUp has whoever waits for wake go on, now or, if nobody waits, at once the next time. It never blocks.
func wakeUp(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// every does something whenever wake receives, and every now and then, until ctx ends.
func every(ctx context.Context, pause time.Duration, wake <-chan struct{}, do func(context.Context)) {
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
