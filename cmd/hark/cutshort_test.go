package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// fuse is a context that ends at the nth call of Err.
type fuse struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

func newFuse(ctx context.Context, n int) *fuse {
	f := &fuse{}
	f.Context, f.cancel = context.WithCancel(ctx)
	f.left.Store(int64(n))
	return f
}

func (f *fuse) Err() error {
	if f.left.Add(-1) == 0 {
		f.cancel()
	}
	return f.Context.Err()
}

// dataDir is a directory with a memory, an earlier backup, and the imported files.
type dataDir struct {
	*testing.T
	dir string
}

func newDataDir(t *testing.T) dataDir {
	t.Helper()
	d := dataDir{t, t.TempDir()}
	var lines strings.Builder
	for i := range 1300 {
		author := []string{"ana", "jane"}[i%2]
		lines.WriteString(posted("a", strconv.Itoa(i), author, fmt.Sprintf("%s-canary %d", author, i)))
	}
	d.write("set.jsonl", lines.String())
	d.write("more.jsonl", strings.ReplaceAll(strings.Join(strings.SplitAfter(lines.String(), "\n")[:300], ""),
		`"id":"`, `"id":"m`))
	d.hark(0, "import", d.path("set.jsonl"))
	d.hark(0, "backup", d.path("early.hark"))
	d.write("last.jsonl", posted("b", "last", "otto", "otto-canary is the last"))
	d.hark(0, "import", d.path("last.jsonl"))
	return d
}

func (d dataDir) copy(t *testing.T) dataDir {
	t.Helper()
	other := dataDir{t, t.TempDir()}
	if err := os.CopyFS(other.dir, os.DirFS(d.dir)); err != nil {
		t.Fatal(err)
	}
	return other
}

func (d dataDir) path(name string) string { return filepath.Join(d.dir, name) }

func (d dataDir) write(name, text string) {
	d.Helper()
	put(d, d.path(name), text)
}

func (d dataDir) try(ctx context.Context, args ...string) (code int, out string) {
	both := &buffer{}
	code = run(ctx, environmentWith(nil, "", both, both), append(args, "--data", d.path("data")))
	return code, both.String()
}

func (d dataDir) hark(code int, args ...string) string {
	d.Helper()
	got, out := d.try(d.Context(), args...)
	if got != code {
		d.Fatalf("hark %s: exit code %d\n%s", strings.Join(args, " "), got, out)
	}
	return out
}

func (d dataDir) count(want string) {
	d.Helper()
	if out := d.hark(0, "backup", d.path("counted.hark")); !strings.Contains(out, want) {
		d.Errorf("remembered is %s, want %s", out, want)
	}
	if err := os.Remove(d.path("counted.hark")); err != nil {
		d.Error(err)
	}
}

func (d dataDir) in(text string) bool {
	d.Helper()
	return holdsText(d, d.path("data"), text)
}

func (d dataDir) tidy() {
	d.Helper()
	if left, err := filepath.Glob(d.path(".*")); err != nil || len(left) > 0 {
		d.Errorf("%q are left behind, %v", left, err)
	}
}

// TestCutShort interrupts each command at ever later moments. What it says of its work is true, and calling it again
// completes the work.
func TestCutShort(t *testing.T) {
	t.Parallel()
	whole := newDataDir(t)
	next := func(name string, n int) int {
		switch {
		case os.Getenv("HARK_LONG") != "":
			return n + 1 + n/3
		case name == "forget":
			return n + 1 + n/2
		}
		return 2*n + 1
	}
	midway := false // a forgetting was interrupted while it ran
	for name, c := range map[string]struct {
		args  []string        // a word with a dot is a file on the dataDir
		says  string          // if it had begun
		after func(d dataDir) // the interruption
		again func(d dataDir) // after the second call
	}{
		"import": {
			args: []string{"import", "more.jsonl"}, again: func(d dataDir) { d.count("1601 messages in 2 channels") },
		},
		"backup": {
			args: []string{"backup", "new.hark"}, says: "no backup", after: func(d dataDir) {
				if _, err := os.Stat(d.path("new.hark")); err == nil {
					d.Error("there is a backup")
				}
			},
			again: func(d dataDir) {
				d.hark(0, "restore", d.path("new.hark"), "--yes")
				d.count("1301 messages in 2 channels")
			},
		},
		"restore": {
			args: []string{"restore", "early.hark", "--yes"}, says: "unchanged", after: func(d dataDir) {
				d.count("1301 messages in 2 channels")
			},
			again: func(d dataDir) { d.count("1300 messages in 1 channel") },
		},
		"export": {
			args: []string{"export", "--channel", "a", "--out", "a.jsonl"}, says: "no file", after: func(d dataDir) {
				if _, err := os.Stat(d.path("a.jsonl")); err == nil {
					d.Error("there is a file")
				}
			},
			again: func(d dataDir) {
				text, err := os.ReadFile(d.path("a.jsonl"))
				if n := bytes.Count(text, []byte("\n")); err != nil || n != 1300 {
					d.Errorf("%d lines, %v", n, err)
				}
			},
		},
		"forget": {
			args: []string{"forget", "--user", "jane", "--yes"}, says: "finishes erasing",
			after: func(d dataDir) { // her name may be gone
				code, out := d.try(d.Context(), "forget", "--user", "jane", "--yes")
				switch wentOn := strings.Contains(out, ": 650 messages"); {
				case wentOn:
					midway = true
				case code != 0:
					d.Error(out)
				}
			},
			again: func(d dataDir) {
				if d.count("651 messages in 2 channels"); d.in("jane-canary") || !d.in("ana-canary") {
					d.Errorf("of jane's something is there: %t, of ana's: %t", d.in("jane-canary"), d.in("ana-canary"))
				}
			},
		},
		"forget a channel": { // by the same name, again
			args: []string{"forget", "--channel", "a", "--yes"}, says: "finishes erasing", after: func(d dataDir) {
				if out := d.hark(0, "forget", "--channel", "a", "--yes"); !strings.Contains(out,
					"Forgotten: 1300 messages") {
					d.Error(out)
				}
			},
			again: func(d dataDir) {
				if d.count("1 message in 2 channels"); d.in("jane-canary") || d.in("ana-canary") {
					d.Error("something is there still")
				}
			},
		},
		"reindex": {
			args: []string{"reindex"}, again: func(d dataDir) {
				if out := d.hark(0, "search", "--json", "otto-canary"); !strings.Contains(out,
					"otto-canary is the last") {
					d.Error(out)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := 0
			for n := 1; ; n = next(name, n) {
				d := whole.copy(t)
				args := make([]string, len(c.args))
				for i, word := range c.args {
					if args[i] = word; strings.Contains(word, ".") {
						args[i] = d.path(word)
					}
				}
				code, out := d.try(newFuse(t.Context(), n), args...)
				if code == 0 { // done before it noticed
					if c.again(d); n > 60 {
						break
					}
					continue
				}
				ended++
				if code != 130 || !strings.HasPrefix(out[strings.Index(out, "hark: "):],
					"hark: interrupted") || ended > 40 {
					t.Fatalf("ended at %d: exit code %d: %s", n, code, out)
				}
				if strings.Contains(out, c.says) && c.after != nil {
					c.after(d)
				}
				d.tidy()
				if name != "forget" || d.in("jane-canary") {
					d.hark(0, args...)
				}
				c.again(d)
			}
			if ended == 0 || name == "forget" && !midway {
				t.Errorf("ended %d times, midway: %t", ended, midway)
			}
		})
	}
}
