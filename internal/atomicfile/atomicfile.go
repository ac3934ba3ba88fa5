// Package atomicfile writes files that only their owner can read, whole or not at all.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Write has fill write the file at path. Where anything fails, a file that is there stays as it is.
func Write(path string, fill func(io.Writer) error) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".hark-*") // with mode 0600
	if err != nil {
		return fmt.Errorf("make %s: %w", path, errors.Unwrap(err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	buffered := bufio.NewWriter(file)
	if err := fill(buffered); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := errors.Join(buffered.Flush(), file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(file.Name(), path)
}
