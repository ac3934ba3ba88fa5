package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// fuse is a context that ends the nth time somebody asks whether it has.
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

// Err implements context.Context.
func (f *fuse) Err() error {
	if f.left.Add(-1) == 0 {
		f.cancel()
	}
	return f.Context.Err()
}

// dataDir is a directory with a memory, a backup of an earlier one, and what it was imported from.
type dataDir struct {
	*testing.T
	dir string
}

func newDataDir(t *testing.T) dataDir {
	t.Helper()
	d := dataDir{t, t.TempDir()}
	var lines strings.Builder
	for i := range 1300 {
		fmt.Fprintf(&lines, `{"type":"message","channel":"a","id":"%d","author":"%s","time":"2024-05-31T12:%02d:00Z","text":"%s-canary %d"}`+"\n",
			i, []string{"ana", "jane"}[i%2], i/60, []string{"ana", "jane"}[i%2], i)
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

// copy is another dataDir with the same on it.
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

// try runs a command until ctx ends.
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

// count is how many messages are remembered, as their backup tells.
func (d dataDir) count(want string) {
	d.Helper()
	if out := d.hark(0, "backup", d.path("counted.hark")); !strings.Contains(out, want) {
		d.Errorf("remembered is %s, want %s", out, want)
	}
	if err := os.Remove(d.path("counted.hark")); err != nil {
		d.Error(err)
	}
}

// in reports whether a file of the memory holds text.
func (d dataDir) in(text string) bool {
	d.Helper()
	return holdsText(d, d.path("data"), text)
}

// tidy checks that nothing is left behind.
func (d dataDir) tidy() {
	d.Helper()
	if left, err := filepath.Glob(d.path(".*")); err != nil || len(left) > 0 {
		d.Errorf("%q are left behind, %v", left, err)
	}
}

// TestCutShort ends each command at ever later moments. It says what has become of its work, and that is so; called
// again it does the rest.
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
	midway := false // whether a forgetting was ended between its beginning and its end
	for name, c := range map[string]struct {
		args  []string        // a word with a dot is a file on the dataDir
		says  string          // of what it had begun with
		after func(d dataDir) // it was ended
		again func(d dataDir) // it was called again
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
			after: func(d dataDir) { // she may be known by her name no more
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
				if code == 0 { // it was done before the end was noticed
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
