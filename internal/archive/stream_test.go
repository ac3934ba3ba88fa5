package archive

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gofrs/flock"
)

func TestDropStreams(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files := func() (names []string) {
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
	for _, name := range []string{"backup-stream", "backup-stream.part", "backup-stream.part-journal",
		"restore-stream-1", "hark.db", "mine"} {
		write(filepath.Join(dir, name), "")
	}
	elsewhere := filepath.Join(t.TempDir(), "b.part") // of a backup that was killed
	for path, text := range map[string]string{elsewhere: "half", filepath.Join(dir, "backing-up-1"): elsewhere} {
		write(path, text)
	}
	writing := flock.New(filepath.Join(dir, "backup-stream.part"))
	if ok, err := writing.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := DropStreams(dir); err != nil {
		t.Fatal(err)
	}
	if got := files(); !slices.Equal(got, []string{"backup-stream.part", "backup-stream.part-journal",
		"hark.db", "mine"}) {
		t.Errorf("left %q while a backup is written", got)
	}
	if _, err := os.Stat(elsewhere); !os.IsNotExist(err) {
		t.Errorf("what a backup left elsewhere is there: %v", err)
	}
	if err := writing.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := DropStreams(dir); err != nil || !slices.Equal(files(), []string{"hark.db", "mine"}) {
		t.Errorf("left %q, %v", files(), err)
	}
}
