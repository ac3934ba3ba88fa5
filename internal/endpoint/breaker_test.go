package endpoint

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"hark/internal/golden"
)

var errDown = errors.New("down")

func down(context.Context) error      { return errDown }
func well(context.Context) error      { return nil }
func hangs(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// busy is an error that says how long to wait, as others than this package's do.
type busy struct{ time.Duration }

func (busy) Error() string               { return "busy" }
func (b busy) RetryAfter() time.Duration { return b.Duration }

// try calls once and tells whether the server was asked.
func try(t *testing.T, b *Breaker, ask func(context.Context) error) (asked bool, err error) {
	t.Helper()
	err = b.Do(t.Context(), time.Second, func(ctx context.Context) error {
		asked = true
		return ask(ctx)
	})
	return asked, err
}

// fails has the server fail so often.
func fails(t *testing.T, b *Breaker, times int) {
	t.Helper()
	for range times {
		if asked, err := try(t, b, down); !asked || !errors.Is(err, errDown) {
			t.Fatal(asked, err)
		}
	}
}

// wantRest checks that the server is left alone for just so long.
func wantRest(t *testing.T, b *Breaker, rest time.Duration) {
	t.Helper()
	asked, err := try(t, b, well)
	var rests *Resting
	if asked || !errors.As(err, &rests) || rests.Left != rest || rests.RetryAfter() != rest || !b.Resting() {
		t.Fatalf("asked: %v, %v; want to be told to wait %v", asked, err, rest)
	}
	time.Sleep(rest - time.Second)
	if asked, err := try(t, b, well); asked || err == nil {
		t.Fatalf("a second before the end of %v: asked %v, %v", rest, asked, err)
	}
	time.Sleep(time.Second)
}

// bubble runs a test of a Breaker on a clock of its own.
func bubble(t *testing.T, test func(t *testing.T, b *Breaker)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(t, &Breaker{What: "thing"}) })
}

func TestBreaker(t *testing.T) {
	bubble(t, func(t *testing.T, b *Breaker) {
		for range 2 { // a success in between begins the count anew
			fails(t, b, tolerated-1)
			if asked, err := try(t, b, well); !asked || err != nil {
				t.Fatal(asked, err)
			}
		}
		fails(t, b, tolerated)
		_, err := try(t, b, well)
		golden.Seen(t, err.Error())
		for _, rest := range []time.Duration{15, 30, 60, 120, 240, 300, 300} {
			wantRest(t, b, rest*time.Second)
			fails(t, b, 1)
		}
		wantRest(t, b, longRest)
		for range 3 {
			if asked, err := try(t, b, well); !asked || err != nil {
				t.Fatalf("it is well again, and %v, %v", asked, err)
			}
		}
		fails(t, b, tolerated)
		wantRest(t, b, firstRest)
	})
}

// After a rest one call tries, and others don't wait for it.
func TestConcurrentCallersTryOnce(t *testing.T) {
	bubble(t, func(t *testing.T, b *Breaker) {
		fails(t, b, tolerated)
		time.Sleep(firstRest)
		tried := make(chan error)
		go func() { tried <- b.Do(t.Context(), 2*time.Second, hangs) }()
		synctest.Wait()
		if asked, err := try(t, b, well); asked || err == nil {
			t.Errorf("beside the trial: %v, %v", asked, err)
		}
		if err := <-tried; !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		wantRest(t, b, 2*firstRest)
	})
}

// Who gives up says nothing of the server: neither that it failed nor that it is well.
func TestBreakerAndThoseWhoGiveUp(t *testing.T) {
	bubble(t, func(t *testing.T, b *Breaker) {
		giveUp := func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := b.Do(ctx, 0, hangs); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
		for range 2 * tolerated {
			giveUp()
		}
		fails(t, b, tolerated)
		time.Sleep(firstRest)
		giveUp()
		if asked, err := try(t, b, well); !asked || err != nil {
			t.Errorf("after a trial that was given up: %v, %v", asked, err)
		}
	})
}

// Calls that fail together are one failure as to how long the rest is.
func TestConcurrentCallersOfABreaker(t *testing.T) {
	bubble(t, func(t *testing.T, b *Breaker) {
		done := make(chan error)
		for range 20 {
			go func() { done <- b.Do(t.Context(), time.Second, hangs) }()
		}
		for range 20 {
			if err := <-done; err == nil {
				t.Error("no error")
			}
		}
		wantRest(t, b, firstRest)
	})
}

// A server that says when to come again isn't asked before, and one that refuses a text isn't left alone.
func TestBreakerObeysTheServer(t *testing.T) {
	bubble(t, func(t *testing.T, b *Breaker) {
		for _, err := range []error{&Refusal{Err: errDown, Status: 429, After: time.Hour}, busy{time.Hour}} {
			if asked, got := try(t, b, func(context.Context) error {
				return fmt.Errorf("ask: %w", err)
			}); !asked || !errors.Is(got, err) {
				t.Fatal(asked, got)
			}
			wantRest(t, b, time.Hour)
		}
		for _, err := range []error{&Refusal{Err: errDown, Status: 400}, &Refusal{Err: errDown, Status: 422}} {
			for range 2 * tolerated {
				if asked, _ := try(t, b, func(context.Context) error { return err }); !asked {
					t.Fatalf("%v: it is left alone", err)
				}
			}
		}
	})
}

// Whoever panics leaves nothing behind.
func TestBreakerSurvivesPanics(t *testing.T) {
	bubble(t, func(t *testing.T, b *Breaker) {
		fails(t, b, tolerated)
		time.Sleep(firstRest)
		func() {
			defer func() { _ = recover() }()
			_ = b.Do(t.Context(), 0, func(context.Context) error { panic("no") })
		}()
		if asked, err := try(t, b, well); !asked || err != nil {
			t.Error(asked, err)
		}
	})
}

// What is told of a server is how its last call came out, and whether it is left alone.
func TestBreakerTellsHowTheServerDoes(t *testing.T) {
	t.Parallel()
	b := Breaker{What: "thing"}
	if h := b.Health(); h != (Health{}) {
		t.Errorf("before any call: %+v", h)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for i, tt := range []struct {
		ctx    context.Context
		err    error
		failed error
		rests  bool
	}{
		{t.Context(), nil, nil, false},
		{t.Context(), errDown, errDown, false},
		{ended, context.Canceled, errDown, false}, // which says nothing of the server
		{t.Context(), errDown, errDown, false},
		{t.Context(), errDown, errDown, true},
	} {
		if err := b.Do(tt.ctx, 0, func(context.Context) error { return tt.err }); !errors.Is(err, tt.err) {
			t.Fatal(err)
		}
		if h := b.Health(); h.At.IsZero() || h.Took < 0 || h.Failed != tt.failed || (h.Rests > 0) != tt.rests {
			t.Errorf("after call %d: %+v", i, h)
		}
	}
}
