package sqlite

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// RunningName is the file in the data directory that the running bot locks. It names the process.
const RunningName = "run.lock"

// ErrRunning reports that a bot already runs on the data directory.
var ErrRunning = errors.New("a bot runs on it already")

// IsRunning reports whether a bot runs on the data directory.
func IsRunning(dir string) (bool, error) {
	path := filepath.Join(dir, RunningName)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDWR), flock.SetPermissions(0o600))
	free, err := lock.TryRLock()
	return !free && err == nil, errors.Join(err, lock.Close())
}

// LockRunning locks the data directory for the one process that runs the bot; other commands may still use it.
// The lock ends with the process or with release. ErrRunning names the holder.
func LockRunning(dir string, now time.Time) (release func() error, err error) {
	path := filepath.Join(dir, RunningName)
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", Denied(path, err))
	}
	if !locked {
		who, _ := os.ReadFile(path)
		return nil, fmt.Errorf("%w (%s): stop it, or give this one a data directory of its own", ErrRunning,
			cmp.Or(strings.TrimSpace(string(who)), "starting now"))
	}
	who := fmt.Sprintf("process %d, since %s\n", os.Getpid(), now.UTC().Format("2006-01-02 15:04 MST"))
	_ = os.WriteFile(path, []byte(who), 0o600) // the lock holds even on a full disk
	return lock.Close, nil
}
