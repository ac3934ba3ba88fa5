package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// LockName is the file in the data directory whose lock shows who has the database open. It is empty. Its
// locks end with the process.
const LockName = "hark.lock"

// ErrInUse reports that somebody else has the data directory open.
var ErrInUse = errors.New("another Hark has it open")

// dirLock is a lock on a data directory. Whoever has the database open shares it. Replacing the database file
// needs it exclusively, and so do the first to open and the last to close, for a moment.
type dirLock struct {
	file  *flock.Flock
	alone bool
}

// lockDir locks dir: exclusively if nobody else has it open, else shared, waiting up to patience for an
// exclusive holder.
func lockDir(ctx context.Context, dir string, patience time.Duration) (*dirLock, error) {
	l := &dirLock{file: flock.New(filepath.Join(dir, LockName))}
	var err error
	if l.alone, err = l.file.TryLock(); err == nil && !l.alone {
		err = l.wait(ctx, patience)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", Denied(l.file.Path(), explain(err)))
	}
	return l, nil
}

// lockAlone locks dir exclusively; ErrInUse if somebody has it open.
func lockAlone(dir string) (*dirLock, error) {
	l := &dirLock{file: flock.New(filepath.Join(dir, LockName))}
	var err error
	if l.alone, err = l.file.TryLock(); err == nil && !l.alone {
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
		return errors.New("another Hark is checking the database or restoring a backup: wait until it is done, or stop it")
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

// last reports whether nobody else has the directory open; if so, the lock is exclusive from then on.
func (l *dirLock) last() bool {
	if l.alone {
		return true
	}
	if err := l.file.Unlock(); err != nil {
		return false
	}
	var err error
	if l.alone, err = l.file.TryLock(); err != nil || !l.alone {
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
