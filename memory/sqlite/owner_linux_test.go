package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hark/internal/golden"
)

func asAnother(t *testing.T, do func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocks it, so the thread ends with its user
		if _, _, err := unix.RawSyscall(unix.SYS_SETRESUID, 54321, 54321, 54321); err != 0 {
			t.Error(err)
			return
		}
		do()
	}()
	<-done
}

// An error about another user's files names the owner.
func TestLocksOfAnotherUser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o777)))
	for _, name := range []string{RunningName, LockName, FileName} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	said := map[string]error{}
	asAnother(t, func() {
		_, said["run"] = LockRunning(dir, time.Now())
		_, said["restore"] = lockAlone(dir)
		_, said["any command"] = lockDir(t.Context(), dir, time.Second)
		_, said["the database"] = Open(t.Context(), dir, Options{})
	})
	for _, what := range []string{"run", "restore", "any command", "the database"} {
		err := said[what]
		if !errors.Is(err, os.ErrPermission) {
			t.Errorf("%s: %v", what, err)
			continue
		}
		golden.Seen(t, strings.ReplaceAll(err.Error(), dir, "DIR"))
	}
}
