package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := lockDir(t.Context(), dir, time.Minute)
	if err != nil || !first.alone {
		t.Fatalf("the first is alone: %v, %v", first, err)
	}
	if _, err := lockDir(t.Context(), dir, time.Millisecond); err == nil {
		t.Error("somebody came in beside one that is alone")
	} else {
		wantError(t, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lockDir(cancelled, dir, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	must(t, first.share(t.Context(), time.Minute))
	second, err := lockDir(t.Context(), dir, time.Minute)
	if err != nil || second.alone {
		t.Fatalf("the second: %v, %v", second, err)
	}
	_, err = lockAlone(dir)
	if !errors.Is(err, ErrInUse) {
		t.Errorf("alone beside two: %v", err)
	}
	wantError(t, err)
	if second.last() {
		t.Error("one of two is the last")
	}
	must(t, second.release())
	if !first.last() {
		t.Error("the only one isn't the last")
	}
	must(t, first.release())
	alone, err := lockAlone(dir)
	must(t, err)
	must(t, alone.release())
	if info, err := os.Stat(filepath.Join(dir, LockName)); err != nil || info.Mode().Perm() != 0o600 ||
		info.Size() != 0 {
		t.Errorf("the lock: %v, %v", info, err)
	}
}

// Restoring and having the store open exclude each other.
func TestConcurrentRestoreIsWaitedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lock, err := lockAlone(dir)
	must(t, err)
	opened := make(chan error)
	go func() {
		s, err := Open(context.Background(), dir, Options{})
		if err == nil {
			err = s.Close()
		}
		opened <- err
	}()
	must(t, lock.release())
	if err := <-opened; err != nil {
		t.Error(err)
	}
}
