package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"hark/memory"
)

// stepping is a context that is cancelled when a certain step of this package first looks at it. A step is the line and
// the lines that it was called from.
type stepping struct {
	context.Context
	cancel context.CancelFunc
	at     string // empty: never

	mu    sync.Mutex
	steps []string // until now, each once
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
	step := stepNow()
	if step == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.steps, step) {
		c.steps = append(c.steps, step)
	}
	if step == c.at {
		c.cancel()
	}
}

// stepNow is where this package is; empty in a goroutine of a library's.
func stepNow() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	var step []string
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, "hark/memory/sqlite.") && !strings.HasSuffix(frame.File, "_test.go") {
			step = append(step, fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line))
		}
		if !more {
			return strings.Join(step, " < ")
		}
	}
}

// cutShort does something once, and again for each of its steps, cut short there; after is called each time. What was
// cut short must say so, unless that came too late to matter.
func cutShort(t *testing.T, do func(context.Context) error, after func()) {
	t.Helper()
	var steps []string
	for n := -1; n < len(steps); n++ {
		inner, cancel := context.WithCancel(context.Background())
		ctx := &stepping{Context: inner, cancel: cancel}
		if n >= 0 {
			ctx.at = steps[n]
		}
		err := do(ctx)
		cancelled := inner.Err() != nil
		cancel()
		if n < 0 {
			steps = ctx.steps
		}
		if cancelled != (n >= 0) || err != nil && (!cancelled || !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "interrupted")) {
			t.Fatalf("cut short at %q (%v): %v", ctx.at, cancelled, err)
		}
		after()
	}
	t.Logf("%d steps", len(steps))
}

// copied is a directory with what is in another.
func copied(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestRestoreCutShortAnywhere(t *testing.T) {
	t.Parallel()
	s := populated(t)
	apply(t, s, posted(secret, 200, "pears"), posted(general, 201, "plums"), posted(general, 202, "cherries"))
	backup := backUp(t, s)
	apply(t, s, deleted(general, 201), edited(general, 202, "quinces"), posted(general, 300, "after the backup"),
		memory.Opted{Guild: guild, User: 9, Out: true, At: id(400).Time()})
	if _, err := s.Forget(t.Context(), memory.Forgetting{Guild: guild, Channel: secret, Why: memory.WhyPurge}, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var dir string
	cutShort(t, func(ctx context.Context) error {
		dir = copied(t, s.dir)
		_, err := Restore(ctx, dir, backup, nil)
		return err
	}, func() {
		if _, err := os.Stat(filepath.Join(dir, restoringName)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("something is left of it: %v", err)
		}
		db := raw(t, dir)
		var after, gone int
		if err := db.QueryRowContext(bg, `SELECT count(*) FILTER (WHERE content = 'after the backup'),
			count(*) FILTER (WHERE content IN ('pears', 'plums', 'cherries')) FROM message`).Scan(&after, &gone); err != nil || gone > 0 {
			t.Errorf("%d that should be gone are there, %v", gone, err)
		}
		_ = db.Close()
		if after == 0 { // the backup is in its place
			return
		}
		r, err := Restore(bg, dir, backup, nil)
		if err != nil || !r.Known || r.Deleted != 1 || r.Edited != 1 || r.OptOuts != 1 || len(r.Forgettings) != 1 {
			t.Errorf("the next time: %+v, %v", r, err)
		}
	})
}
