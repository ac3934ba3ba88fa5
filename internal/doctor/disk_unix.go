//go:build linux || darwin || freebsd

package doctor

import "golang.org/x/sys/unix"

// diskSpace is how many bytes Hark can still write in the file system that dir lies in, and how many that has.
func diskSpace(dir string) (free, total uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), uint64(s.Blocks) * uint64(s.Bsize), nil
}

// writable is nil if this process may read and write a file.
func writable(path string) error { return unix.Access(path, unix.R_OK|unix.W_OK) }
