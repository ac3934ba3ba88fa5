package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// LockName is the empty file in the data directory that a process locks while it has the database open. Its
// locks end with the process.
const LockName = "hark.lock"

// ErrInUse reports that somebody else has the data directory open.
var ErrInUse = errors.New("another Hark has it open")

// dirLock is a lock on a data directory. Processes that have the database open share it. Replacing the file
// needs it exclusively, and so, for a moment, do the first open and the last close.
type dirLock struct {
	file  *flock.Flock
	alone bool
}

// lockDir locks dir: exclusively if no other process has it open, else shared. It waits up to patience for an
// exclusive holder.
func lockDir(ctx context.Context, dir string, patience time.Duration) (*dirLock, error) {
	l := &dirLock{file: flock.New(filepath.Join(dir, LockName))}
	var err error
	l.alone, err = l.file.TryLock()
	if err == nil && !l.alone {
		err = l.wait(ctx, patience)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", Denied(l.file.Path(), explain(err)))
	}
	return l, nil
}

// lockAlone locks dir exclusively; ErrInUse if another process has it open.
func lockAlone(dir string) (*dirLock, error) {
	l := &dirLock{file: flock.New(filepath.Join(dir, LockName))}
	var err error
	l.alone, err = l.file.TryLock()
	if err == nil && !l.alone {
		err = fmt.Errorf("%w: stop \"hark run\" and every other hark command that uses it, and try again", ErrInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, Denied(l.file.Path(), err))
	}
	return l, nil
}

const lockPoll = 20 * time.Millisecond

func (l *dirLock) wait(ctx context.Context, patience time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := l.file.TryRLockContext(waiting, lockPoll)
	if err != nil && ctx.Err() == nil && waiting.Err() != nil {
		return errors.New("another Hark is checking the database or restoring a backup: wait until it is done, " +
			"or stop it")
	}
	return err
}

// share turns an exclusive lock into a shared one.
func (l *dirLock) share(ctx context.Context, patience time.Duration) error {
	l.alone = false
	if ok, err := l.file.TryRLock(); ok && err == nil {
		return nil
	}
	_ = l.file.Unlock()
	return l.wait(ctx, patience)
}

// last reports whether no other process has the directory open. Then the lock becomes exclusive.
func (l *dirLock) last() bool {
	if l.alone {
		return true
	}
	if err := l.file.Unlock(); err != nil {
		return false
	}
	var err error
	l.alone, err = l.file.TryLock()
	if err != nil || !l.alone {
		_, _ = l.file.TryRLock()
	}
	return l.alone
}

func (l *dirLock) release() error {
	if l == nil {
		return nil
	}
	return l.file.Unlock()
}
