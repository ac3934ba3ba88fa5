package endpoint

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

// queued is a queue whose calls are told apart by name.
type queued struct {
	*Queue
	t      *testing.T
	begun  []string
	leaves map[string]func()
}

// enter has a call wait, in a goroutine of the bubble.
func (q *queued) enter(ctx context.Context, name string, tenant uint64, enter func(context.Context, uint64) (func(), error)) {
	go func() {
		leave, err := enter(ctx, tenant)
		if err != nil {
			return
		}
		q.begun = append(q.begun, name)
		q.leaves[name] = leave
	}()
	synctest.Wait()
}

func (q *queued) leave(name string) {
	q.t.Helper()
	q.leaves[name]()
	synctest.Wait()
}

func (q *queued) want(names ...string) {
	q.t.Helper()
	if !slices.Equal(q.begun, names) {
		q.t.Fatalf("begun: %q; want %q", q.begun, names)
	}
}

func inQueue(t *testing.T, most int, test func(t *testing.T, q *queued)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		test(t, &queued{Queue: NewQueue(most), t: t, leaves: map[string]func(){}})
	})
}

func TestQueueIsFair(t *testing.T) {
	inQueue(t, 1, func(t *testing.T, q *queued) {
		ctx := t.Context()
		q.enter(ctx, "a1", 1, q.Enter)
		q.enter(ctx, "a2", 1, q.Enter)
		q.enter(ctx, "a3", 1, q.Enter)
		q.enter(ctx, "b1", 2, q.Enter)
		q.enter(ctx, "c1", 3, q.Enter)
		q.want("a1")
		q.leave("a1")
		q.want("a1", "b1")
		q.leave("a1") // once is enough
		q.want("a1", "b1")
		q.leave("b1")
		q.leave("c1")
		q.leave("a2")
		q.want("a1", "b1", "c1", "a2", "a3")
		q.leave("a3")
		if q.Running() != 0 {
			t.Error(q.Running())
		}
	})
}

func TestQueueIsBounded(t *testing.T) {
	inQueue(t, 2, func(t *testing.T, q *queued) {
		ctx := t.Context()
		for _, name := range []string{"a", "b", "c", "d"} {
			q.enter(ctx, name, 1, q.Enter)
		}
		q.want("a", "b")
		q.Lower(2)
		q.leave("a")
		q.want("a", "b")
		q.leave("b")
		q.want("a", "b", "c")
		q.leave("c")
		q.leave("d")
	})
}

// One that runs alone waits for those that run, and those that come later wait for it.
func TestQueueRunsOneAlone(t *testing.T) {
	inQueue(t, 0, func(t *testing.T, q *queued) {
		ctx := t.Context()
		q.enter(ctx, "a", 1, q.Enter)
		q.enter(ctx, "b", 2, q.Enter)
		q.enter(ctx, "alone", 1, q.EnterAlone)
		q.enter(ctx, "c", 3, q.Enter)
		q.want("a", "b")
		q.leave("a")
		q.want("a", "b")
		q.leave("b")
		q.want("a", "b", "alone")
		q.leave("alone")
		q.want("a", "b", "alone", "c")
		q.leave("c")
	})
}

// Who gives up leaves its place to others.
func TestQueueForgetsWhoGivesUp(t *testing.T) {
	inQueue(t, 1, func(t *testing.T, q *queued) {
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		q.enter(t.Context(), "a", 1, q.Enter)
		failed := make(chan error)
		go func() {
			_, err := q.Enter(ctx, 2)
			failed <- err
		}()
		synctest.Wait()
		q.enter(t.Context(), "c", 3, q.Enter)
		cancel(gone)
		if err := <-failed; !errors.Is(err, gone) {
			t.Error(err)
		}
		q.leave("a")
		q.want("a", "c")
		q.leave("c")
	})
}

// A call that was crowded out although it ran alone says nothing of how many a server takes.
func TestLowerThanOne(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ most, ran, want int }{{4, 1, 4}, {4, 0, 4}, {4, 2, 1}, {4, 4, 3}, {2, 9, 2}, {0, 1, 0}, {0, 3, 2}} {
		q := NewQueue(test.most)
		q.Lower(test.ran)
		if got := q.AtOnce(); got != test.want {
			t.Errorf("%d, of which %d ran: %d; want %d", test.most, test.ran, got, test.want)
		}
	}
}
