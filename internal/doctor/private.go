package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"hark/memory/sqlite"
)

// The mode bits that let others access a file. Access by a group may be intended.
const (
	everybody     os.FileMode = 0o007
	groupOrOthers os.FileMode = 0o077
)

// canRead returns a data directory and Hark's files in it, as far as a bit of who gives access.
func canRead(dir string, who os.FileMode) (open []string, err error) {
	if runtime.GOOS == "windows" {
		return nil, nil
	}
	info, err := os.Stat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Mode()&who != 0 {
		open = append(open, dir)
	}
	entries, err := os.ReadDir(dir)
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

// MakePrivate makes a directory and its files private, and returns those changed. A group may keep access to the
// directory if not everybody has it.
func MakePrivate(dir string) (taken []string, err error) {
	open, err := canRead(dir, groupOrOthers)
	for _, path := range open {
		mode := os.FileMode(0o600)
		if path == dir {
			mode = 0o700
			switch info, e := os.Stat(dir); {
			case e == nil && info.Mode()&everybody == 0:
				continue
			case e == nil && info.Mode()&os.ModeSticky != 0: // such as /tmp
				err = errors.Join(err, fmt.Errorf(
					"%s is for everybody: name a directory of Hark's own with --data or HARK_DATA", dir))
				continue
			}
		}
		if e := os.Chmod(path, mode); e == nil {
			taken = append(taken, path)
		} else if !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return taken, err
}
