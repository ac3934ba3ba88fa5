package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"hark/internal/store"
	"hark/memory/sqlite"
)

// Temporary files in the data directory. They hold what was said, so they are removed as soon as possible.
const (
	backupTemp  = "backup-stream"
	restoreTemp = "restore-stream-*"
)

// StreamBackup writes a backup to w. backUp makes it in a temporary file in the data directory.
func StreamBackup(dir string, w io.Writer,
	backUp func(path string) (sqlite.BackupInfo, error)) (sqlite.BackupInfo, error) {
	path := filepath.Join(dir, backupTemp)
	info, err := backUp(path)
	if err != nil {
		return info, err
	}
	defer os.Remove(path)
	file, err := os.Open(path)
	if err != nil {
		return info, fmt.Errorf("read the backup: %w", err)
	}
	defer file.Close()
	_ = os.Remove(path) // what is open can still be read, but where it can't be removed
	if _, err := io.Copy(w, file); err != nil {
		return info, fmt.Errorf("write the backup: %w; the backup is incomplete", err)
	}
	return info, nil
}

// ReceiveBackup copies r to a temporary file in the data directory. remove deletes it.
func ReceiveBackup(dir string, r io.Reader) (path string, remove func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("make the data directory: %w; name a directory that Hark can create and write to",
			err)
	}
	file, err := os.CreateTemp(dir, restoreTemp) // which only its owner can read
	if err != nil {
		return "", nil, fmt.Errorf("take in the backup: %w", err)
	}
	remove = func() { _ = os.Remove(file.Name()) }
	_, err = io.Copy(file, r)
	err = errors.Join(err, file.Close())
	if err != nil {
		remove()
		return "", nil, fmt.Errorf("take in the backup: %w", err)
	}
	return file.Name(), remove, nil
}

// DropStreams removes the files of interrupted backups from the data directory and from where they were written,
// except those still being written. They may hold what is to be forgotten.
func DropStreams(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, restoreTemp))
	if err != nil {
		return err
	}
	out := filepath.Join(dir, backupTemp)
	left = append(left, out)
	if _, err := os.Stat(out + ".part"); err == nil {
		lock := flock.New(out + ".part")
		if free, err := lock.TryLock(); free && err == nil {
			defer func() { _ = lock.Unlock() }()
			left = append(left, out+".part", out+".part-journal")
		}
	}
	var errs []error
	for _, path := range left {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, sqlite.DropParts(dir), store.DropTemporary(dir))...)
}
