package llm

import (
	"context"
	"math/rand/v2"
	"time"

	"hark/internal/pace"
)

// clock is time, which tests replace.
type clock struct {
	now   func() time.Time
	after func(d time.Duration, f func()) timer
	sleep func(ctx context.Context, d time.Duration) error
	rand  func() float64 // in [0, 1)
}

// timer is a *time.Timer that was made with a function.
type timer interface {
	Reset(time.Duration) bool
	Stop() bool
}

func realClock() clock {
	return clock{
		now:   time.Now,
		after: func(d time.Duration, f func()) timer { return time.AfterFunc(d, f) },
		sleep: func(ctx context.Context, d time.Duration) error {
			if pace.Sleep(ctx, d) != nil {
				return context.Cause(ctx)
			}
			return nil
		},
		rand: rand.Float64,
	}
}

// sleepFor sleeps, unless d is 0.
func (c clock) sleepFor(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	return c.sleep(ctx, d)
}
