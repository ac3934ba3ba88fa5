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
	before, left := content(t, filepath.Join(s.dir, FileName)), 0
	var dir string
	cutShort(t, func(ctx context.Context) error {
		dir = copied(t, s.dir)
		r, err := Restore(ctx, dir, backup, nil)
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
		if err := db.QueryRowContext(bg, "SELECT count(*) FROM message WHERE content IN ('pears', 'plums', 'cherries')").Scan(&gone); err != nil || gone > 0 {
			t.Errorf("%d that should be gone are there, %v", gone, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if left < 50 {
		t.Errorf("the old database was left as it was %d times only", left)
	}
}

// A file that is damaged where it can be made again is made again by the next, wherever the one before was cut short.
func TestMendingCutShortAnywhere(t *testing.T) {
	t.Parallel()
	damaged := written(t)
	execute(t, raw(t, damaged), "UPDATE channel SET messages = 77")
	unclose(t, damaged)
	damage(t, damaged, "segment")
	var dir string
	cutShort(t, func(ctx context.Context) error {
		dir = copied(t, damaged)
		_, err := Examine(ctx, dir, Options{Tokens: words})
		return err
	}, func() {
		s, _, err := reopen(t, dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got := find(t, s, in(general), "number12 number13 number14"); len(got) != 3 {
			t.Errorf("found %v", got)
		}
		if wrong, err := s.Check(bg); err != nil || len(wrong) > 0 {
			t.Errorf("wrong: %q, %v", wrong, err)
		}
	})
}

// What only reads leaves the file as it is, wherever it is cut short; and so does making again, but for what it makes.
func TestReadingAndIndexingCutShortAnywhere(t *testing.T) {
	t.Parallel()
	s := populated(t)
	drain(t, s)
	want := dump(t, s)
	dir := t.TempDir()
	for name, do := range map[string]func(context.Context) error{
		"check":   func(ctx context.Context) error { _, err := s.Check(ctx); return err },
		"strange": func(ctx context.Context) error { _, err := s.strange(ctx); return err },
		"extent": func(ctx context.Context) error {
			_, err := s.Extent(ctx, memory.Forgetting{Guild: guild, User: 1})
			return err
		},
		"written": func(ctx context.Context) error { return s.Written(ctx, 1, func(memory.Message) error { return nil }) },
		"asked":   func(ctx context.Context) error { return s.Asked(ctx, 1, func(memory.Trace) error { return nil }) },
		"sweep":   s.sweep,
		"pending": func(ctx context.Context) error { _, err := s.Pending(ctx, 100); return err },
		"people": func(ctx context.Context) error {
			clear(s.people)
			_, err := s.People(ctx, guild)
			return err
		},
		"back up": func(ctx context.Context) error {
			_, err := s.Backup(ctx, filepath.Join(dir, "b"), false, func(int64, int64) {})
			return err
		},
	} {
		cutShort(t, do, func() {
			if got := dump(t, s); got != want {
				t.Errorf("%s: the file is now\n%s\nand was\n%s", name, got, want)
			}
		})
	}
	wantOnly(t, dir, "b")
	cutShort(t, func(ctx context.Context) error {
		execute(t, s.write, "UPDATE channel SET messages = 5")
		return s.Reindex(ctx, func(int, int) {})
	}, func() {
		if err := s.Reindex(bg, nil); err != nil {
			t.Error(err)
		}
		drain(t, s)
		execute(t, s.write, "DELETE FROM meta WHERE key = ?", reindexKey)
		if got := dump(t, s); got != want {
			t.Errorf("the file is now\n%s\nand was\n%s", got, want)
		}
	})
}
