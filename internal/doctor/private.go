package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"hark/memory/sqlite"
)

// The mode bits that let others access a file. Access by a group may be intended.
const (
	everybody     os.FileMode = 0o007
	groupOrOthers os.FileMode = 0o077
)

// canRead returns a data directory and Hark's files in it, as far as a bit of who gives access. It returns nothing of an
// empty directory: there is nothing to read yet, and Hark makes it private before it writes.
func canRead(dir string, who os.FileMode) (open []string, err error) {
	if runtime.GOOS == "windows" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && isFresh(entries) {
		return nil, nil
	}
	info, unknown := os.Stat(dir)
	if unknown != nil {
		return nil, unknown
	}
	if info.Mode()&who != 0 {
		open = append(open, dir)
	}
	for _, e := range entries {
		info, gone := e.Info()
		own := strings.HasPrefix(e.Name(), "hark.") || e.Name() == sqlite.RunningName ||
			strings.HasSuffix(e.Name(), ".part")
		if own && gone == nil && info.Mode().IsRegular() && info.Mode()&who != 0 {
			open = append(open, filepath.Join(dir, e.Name()))
		}
	}
	return open, err
}

// isFresh reports whether a directory holds nothing, or only what a new file system has.
func isFresh(entries []os.DirEntry) bool {
	return !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != "lost+found" })
}

// MakePrivate makes a directory and its files private, and returns those that others could read before. A group may keep
// access to the directory if not everybody has it.
func MakePrivate(dir string) (taken []string, err error) {
	open, err := canRead(dir, groupOrOthers)
	for _, path := range open {
		changed, failed := takeFromOthers(path, path == dir)
		if changed {
			taken = append(taken, path)
		}
		err = errors.Join(err, failed)
	}
	entries, unknown := os.ReadDir(dir)
	if unknown == nil && isFresh(entries) && runtime.GOOS != "windows" {
		_, failed := takeFromOthers(dir, true) // nobody could read anything
		err = errors.Join(err, failed)
	}
	return taken, err
}

// takeFromOthers makes a file or the data directory private.
func takeFromOthers(path string, isDir bool) (changed bool, err error) {
	mode := os.FileMode(0o600)
	if isDir {
		mode = 0o700
		info, unknown := os.Stat(path)
		switch {
		case unknown == nil && info.Mode()&everybody == 0:
			return false, nil
		case unknown == nil && info.Mode()&os.ModeSticky != 0: // such as /tmp
			return false, fmt.Errorf("%s is for everybody: name a directory of Hark's own with --data or HARK_DATA", path)
		}
	}
	err = os.Chmod(path, mode)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
