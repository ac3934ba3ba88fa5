package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/flock"
)

// files are those of a directory.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		names = append(names, f.Name())
	}
	return names
}

// A backup goes out by standard output and comes back by standard input, and leaves nothing on its way.
func TestBackupAndRestoreByStreams(t *testing.T) {
	t.Parallel()
	c, data := stocked(t)
	before := files(t, data)
	c.run(0, "backup", "-")
	backup := c.out.String()
	if !strings.HasPrefix(backup, "SQLite format 3\x00") || !strings.Contains(c.err.String(), "3 messages in") {
		t.Fatalf("got %d bytes, and %q", len(backup), c.err.String())
	}
	c.run(0, "forget", "--user", "7", "--yes")
	c.run(1, "backup", "-", "--json")
	c.sees()
	c.run(1, "restore", "-")
	c.says("say --yes")
	c.stdin = "no backup at all"
	c.run(1, "restore", "--yes", "-")
	c.sees()

	// Into the memory that knows of the forgetting, which is done again, and into an empty one, which doesn't.
	c.stdin = backup
	c.run(0, "restore", "--yes", "-")
	c.says("1 forgetting of 3 messages")
	for _, name := range files(t, data) {
		if !slices.Contains(before, name) && !strings.HasPrefix(name, "hark.db") {
			t.Errorf("%s is left", name)
		}
	}
	empty := filepath.Join(t.TempDir(), "data")
	c.env["HARK_DATA"] = empty
	c.run(0, "restore", "--yes", "-")
	c.run(0, "search", "--json", "leeks")
	c.says("I grow leeks")
	c.run(0, "backup", "-")
	if again := c.out.String(); len(again) != len(backup) {
		t.Errorf("the backup of what was restored has %d bytes, and had %d", len(again), len(backup))
	}
}

func TestDropStreams(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"backup-stream", "backup-stream.part", "backup-stream.part-journal", "restore-stream-1", "hark.db", "mine"} {
		put(t, filepath.Join(dir, name), "")
	}
	elsewhere := filepath.Join(t.TempDir(), "b.part") // of a backup that was killed
	for path, text := range map[string]string{elsewhere: "half", filepath.Join(dir, "backing-up-1"): elsewhere} {
		put(t, path, text)
	}
	writing := flock.New(filepath.Join(dir, "backup-stream.part"))
	if ok, err := writing.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := dropStreams(dir); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); !slices.Equal(got, []string{"backup-stream.part", "backup-stream.part-journal", "hark.db", "mine"}) {
		t.Errorf("left %q while a backup is written", got)
	}
	if _, err := os.Stat(elsewhere); !os.IsNotExist(err) {
		t.Errorf("what a backup left elsewhere is there: %v", err)
	}
	if err := writing.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := dropStreams(dir); err != nil || !slices.Equal(files(t, dir), []string{"hark.db", "mine"}) {
		t.Errorf("left %q, %v", files(t, dir), err)
	}
}
