package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"hark/internal/terminal"
	"hark/memory/sqlite"
)

// stdStream, as a file name, means standard output or input: a container may have no other way to pass a backup
// in or out.
const stdStream = "-"

// Temporary files in the data directory. They hold what was said, so they are removed as soon as possible.
const (
	backupTemp  = "backup-stream"
	restoreTemp = "restore-stream-*"
)

// streamBackup writes a backup to w.
func (f *flags) streamBackup(ctx context.Context, k *archive, w io.Writer) (info sqlite.BackupInfo, err error) {
	if _, is := terminal.Of(w); is {
		return info, errors.New("a backup can't be written to a terminal: redirect it with \"> FILE\"")
	}
	path := filepath.Join(k.config.Data, backupTemp)
	if info, err = f.backUp(ctx, k, path, true); err != nil {
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

// streamRestore copies r to a file in the data directory. remove deletes it.
func streamRestore(dir string, r io.Reader) (path string, remove func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("make the data directory: %w; name a directory that Hark can create and write to", err)
	}
	file, err := os.CreateTemp(dir, restoreTemp) // which only its owner can read
	if err != nil {
		return "", nil, fmt.Errorf("take in the backup: %w", err)
	}
	remove = func() { _ = os.Remove(file.Name()) }
	_, err = io.Copy(file, r)
	if err = errors.Join(err, file.Close()); err != nil {
		remove()
		return "", nil, fmt.Errorf("take in the backup: %w", err)
	}
	return file.Name(), remove, nil
}

// dropStreams removes the files of interrupted backups, in the data directory and where they were
// written, except those still being written.
func dropStreams(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, restoreTemp))
	if err != nil {
		return err
	}
	out := filepath.Join(dir, backupTemp)
	mine := []string{out}
	if _, err := os.Stat(out + ".part"); err == nil {
		lock := flock.New(out + ".part")
		if free, err := lock.TryLock(); free && err == nil {
			defer func() { _ = lock.Unlock() }()
			mine = append(mine, out+".part", out+".part-journal")
		}
	}
	for _, path := range mine {
		if _, err := os.Stat(path); err == nil {
			left = append(left, path)
		}
	}
	var errs []error
	for _, path := range left {
		errs = append(errs, os.Remove(path))
	}
	return errors.Join(append(errs, sqlite.DropParts(dir))...)
}
