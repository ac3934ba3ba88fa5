package bot

import (
	"context"
	"time"
)

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
