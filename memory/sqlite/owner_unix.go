//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// Denied adds the file's owner and advice to a permission error.
func Denied(path string, err error) error {
	info, gone := os.Stat(path)
	what := "it"
	if gone != nil {
		what = filepath.Dir(path)
		info, gone = os.Stat(what)
	}
	if !errors.Is(err, fs.ErrPermission) || gone != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return err
	case int(owner.Uid) == syscall.Geteuid():
		return fmt.Errorf("%w: %s belongs to the user that runs Hark, who may not write it: chmod -R u+rwX %s",
			err, what, filepath.Dir(path))
	}
	return fmt.Errorf("%w: %s belongs to %s, and Hark runs as %s: run it as the owner, or give the whole directory "+
		"to the user that runs it (chown -R)", err, what, userCalled(int(owner.Uid)), userCalled(syscall.Geteuid()))
}

func userCalled(id int) string {
	if u, err := user.LookupId(strconv.Itoa(id)); err == nil {
		return fmt.Sprintf("the user %s (%d)", u.Username, id)
	}
	return fmt.Sprintf("the user %d", id)
}
