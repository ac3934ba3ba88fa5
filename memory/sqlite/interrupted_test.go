package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hark/memory"
	"hark/memory/sqlstore"
)

// stepping is a context that ends when it is looked at for the nth time.
type stepping struct {
	context.Context
	cancel context.CancelFunc

	mu   sync.Mutex
	left int
	seen int // how often it was looked at
}

func (c *stepping) Done() <-chan struct{} {
	c.step()
	return c.Context.Done()
}

func (c *stepping) Err() error {
	c.step()
	return c.Context.Err()
}

func (c *stepping) step() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen++
	if c.left--; c.left == 0 {
		c.cancel()
	}
}

// interrupt does something once, and then interrupts it in many places, in the long form at each check of
// its context; after is called each time. An interrupted run must say so, unless it was done.
func interrupt(t *testing.T, do func(context.Context) error, after func()) {
	t.Helper()
	run := func(n int) (seen int) {
		inner, cancel := context.WithCancel(context.Background())
		defer cancel()
		ctx := &stepping{Context: inner, cancel: cancel, left: n}
		err := do(ctx)
		cut := inner.Err() != nil
		if err != nil && (!cut || !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "interrupted")) {
			t.Fatalf("cut short at look %d (%v): %v", n, cut, err)
		}
		after()
		return ctx.seen
	}
	looks := run(0)
	t.Logf("%d looks", looks)
	step := 1
	if !long {
		step = max(1, looks/10)
	}
	for n := 1; n <= looks; n += step {
		run(n)
	}
}

func copied(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	must(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}

func TestRestoreInterruptedAnywhere(t *testing.T) {
	t.Parallel()
	s := populated(t)
	apply(t, s, posted(secret, 200, "pears"), posted(general, 201, "plums"), posted(general, 202, "cherries"))
	backup := backUp(t, s)
	apply(t, s, deleted(general, 201), edited(general, 202, "quinces"), posted(general, 300, "after the backup"),
		memory.Opted{Guild: guild, User: 9, Out: true, At: id(400).Time()})
	forget(t, s, memory.Forgetting{Guild: guild, Channel: secret, Why: memory.WhyPurge})
	closed(t, s)
	before, left := content(t, filepath.Join(s.engine.dir, FileName)), 0
	var dir string
	interrupt(t, func(ctx context.Context) error {
		dir = copied(t, s.engine.dir)
		r, err := Restore(ctx, dir, backup, Keys{}, nil)
		if err == nil && (!r.Known || r.Deleted != 1 || r.Edited != 1 || r.OptOuts != 1 || len(r.Forgettings) != 2) {
			t.Errorf("took over %+v", r)
		}
		return err
	}, func() {
		if _, err := os.Stat(filepath.Join(dir, restoringName)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("something is left of it: %v", err)
		}
		if content(t, filepath.Join(dir, FileName)) == before {
			left++
			return
		}
		db := raw(t, dir)
		var gone int
		if err := db.QueryRowContext(bg, `SELECT count(*) FROM message
			WHERE content IN ('pears', 'plums', 'cherries')`).Scan(&gone); err != nil || gone > 0 {
			t.Errorf("%d that should be gone are there, %v", gone, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if left == 0 {
		t.Error("it was never cut short before the old database was replaced")
	}
}

// An interrupted reindex reaches the same end, wherever it was interrupted.
func TestReindexInterruptedAnywhere(t *testing.T) {
	t.Parallel()
	s := populated(t)
	drain(t, s)
	want := dump(t, s)
	interrupt(t, func(ctx context.Context) error {
		execute(t, s.engine.write, "UPDATE channel SET messages = 5")
		return sqlstore.Reindex(ctx, s.Store, func(int, int) {})
	}, func() {
		if err := sqlstore.Reindex(bg, s.Store, nil); err != nil {
			t.Error(err)
		}
		drain(t, s)
		execute(t, s.engine.write, "DELETE FROM meta WHERE key = 'reindex'")
		if got := dump(t, s); got != want {
			t.Errorf("the file is now\n%s\nand was\n%s", got, want)
		}
	})
}
