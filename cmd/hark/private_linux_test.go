//go:build linux

package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"hark/memory/sqlite"
)

// Hark makes its files private, and says so. Other files stay as they are.
func TestRunMakesItsDataPrivate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("hello")
	dir := w.env["HARK_DATA"]
	other, kept := filepath.Join(dir, "start.sh"), filepath.Join(dir, sqlite.FileName)
	err := errors.Join(os.WriteFile(other, nil, 0o700), os.Chmod(other, 0o755), os.Chmod(kept, 0o644),
		os.Chmod(dir, 0o755))
	if err != nil {
		t.Fatal(err)
	}
	w.start()
	for path, want := range map[string]os.FileMode{dir: 0o700, kept: 0o600, other: 0o755} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
		}
	}
	said := regexp.MustCompile(`"files":(.*),"message":"(.*)"}`).FindStringSubmatch(w.log.String())
	if said == nil {
		t.Fatalf("Hark doesn't say so:\n%s", w.log)
	}
	w.sees(strings.ReplaceAll(said[2], dir, "DATA"))
	w.lacks(said[1], "start.sh")
	w.stopWell()
	// a group may keep the directory, but not the files
	if err := errors.Join(os.Chmod(dir, 0o770), os.Chmod(kept, 0o660)); err != nil {
		t.Fatal(err)
	}
	w.start()
	for path, want := range map[string]os.FileMode{dir: 0o770, kept: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("for a group %s has mode %v, %v", path, info.Mode(), err)
		}
	}
}

// On an empty volume that everybody can read there was nothing to read: it is made private without a word.
func TestAFreshVolumeIsNoWarning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := filepath.Join(t.TempDir(), "volume")
	err := errors.Join(os.MkdirAll(filepath.Join(dir, "lost+found"), 0o700), os.Chmod(dir, 0o777))
	if err != nil {
		t.Fatal(err)
	}
	w.env["HARK_DATA"] = dir
	_, said := w.doctor()
	w.holds(said, "✓ data directory: Hark can write to "+dir)
	w.start()
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("it has mode %v, %v", info.Mode(), err)
	}
	w.stopWell()
	w.lacks(w.log.String(), "others on this machine")
}

func TestAFullDiskIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	full := filepath.Join(t.TempDir(), "full")
	if err := os.Mkdir(full, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", full, "tmpfs", 0, "size=64k,mode=700"); err != nil {
		t.Skipf("no small disk can be had here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(full, syscall.MNT_DETACH) })
	w.env["HARK_DATA"] = full
	if err := os.WriteFile(filepath.Join(full, "much"), make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	_, said := w.doctor()
	for line := range strings.Lines(said) {
		if strings.Contains(line, "data directory: ") || strings.Contains(line, "database: ") {
			w.sees(strings.ReplaceAll(line, full, "DATA"))
		}
	}
	_, told := w.hark(1, "run")
	w.sees(strings.ReplaceAll(told, full, "DATA"))
}
