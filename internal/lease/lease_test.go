package lease_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hark/internal/lease"
)

func claim(t *testing.T, a *lease.Alone, most int, jobs ...string) []lease.Lease {
	t.Helper()
	leases, err := a.Claim(t.Context(), jobs, most)
	if err != nil {
		t.Fatal(err)
	}
	return leases
}

func TestAlone(t *testing.T) {
	t.Parallel()
	a := lease.NewAlone()
	got := [][]lease.Lease{claim(t, a, 2, "x", "y", "z"), claim(t, a, 9, "x", "y", "z")}
	for _, l := range got[0] {
		if err := a.Release(t.Context(), l, "note of "+l.Job); err != nil {
			t.Fatal(err)
		}
	}
	_ = a.Release(t.Context(), got[0][0], "again") // it isn't held any more
	got = append(got, claim(t, a, 9, "y", "x"), claim(t, a, 9, "x"))
	_ = a.Release(t.Context(), got[0][0], "of an earlier owner")
	got = append(got, claim(t, a, 9, "x"))
	want := [][]lease.Lease{{{Job: "x", Epoch: 1}, {Job: "y", Epoch: 1}}, {{Job: "z", Epoch: 1}},
		{{Job: "y", Epoch: 2, Note: "note of y"}, {Job: "x", Epoch: 2, Note: "note of x"}}, nil, nil}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
}

func TestSlotsOfAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := lease.NewAlone()
		slot := func(bucket int) time.Duration {
			wait, err := a.Slot(t.Context(), bucket, 5*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			return wait
		}
		got := []time.Duration{slot(0), slot(0), slot(1)}
		time.Sleep(7 * time.Second)
		got = append(got, slot(0), slot(1))
		want := []time.Duration{0, 5 * time.Second, 0, 3 * time.Second, 0}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("waits (-want +got):\n%s", diff)
		}
	})
}

// table is a Table that a test takes leases from.
type table struct {
	*lease.Alone
	lost chan struct{}
}

func (t *table) Lost() <-chan struct{} { return t.lost }
func (t *table) Reset()                { t.lost = make(chan struct{}) }

func TestHold(t *testing.T) {
	t.Parallel()
	failure := errors.New("failed")
	for _, test := range []struct {
		name string
		f    func(ctx context.Context, leases *table, stop func(), run int) error
		want error
		runs int
	}{
		{"returns what f returns", func(context.Context, *table, func(), int) error { return failure }, failure, 1},
		{"runs f again after a loss", func(ctx context.Context, leases *table, _ func(), run int) error {
			if run == 3 {
				return nil
			}
			close(leases.lost)
			<-ctx.Done()
			return context.Cause(ctx)
		}, nil, 3},
		{"ends with its context", func(ctx context.Context, leases *table, stop func(), _ int) error {
			close(leases.lost)
			<-ctx.Done()
			stop()
			return context.Cause(ctx)
		}, lease.ErrLost, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			leases := &table{lost: make(chan struct{})}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			runs := 0
			err := lease.Hold(ctx, leases, func(ctx context.Context) error {
				runs++
				return test.f(ctx, leases, stop, runs)
			})
			if !errors.Is(err, test.want) || runs != test.runs {
				t.Errorf("%d runs, then %v; want %d, then %v", runs, err, test.runs, test.want)
			}
		})
	}
}

// A job goes from one process to the next.
func TestWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := lease.NewAlone()
		first, stop := context.WithCancel(t.Context())
		second, stopSecond := context.WithCancel(t.Context())
		working, done := make(chan string), make(chan error)
		while := func(ctx context.Context, who string) {
			done <- lease.While(ctx, a, "job", func(ctx context.Context) error {
				working <- who
				<-ctx.Done()
				return nil
			})
		}
		go while(first, "first")
		if who := <-working; who != "first" {
			t.Error(who)
		}
		go while(second, "second")
		time.Sleep(time.Hour)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if who := <-working; who != "second" {
			t.Error(who)
		}
		go while(first, "first")
		if err := <-done; err != nil { // its context had ended
			t.Error(err)
		}
		stopSecond()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
