//go:build linux || darwin || freebsd

package doctor

import "golang.org/x/sys/unix"

// diskSpace returns how many bytes Hark can still write in dir's file system, and its size.
func diskSpace(dir string) (free, total uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), uint64(s.Blocks) * uint64(s.Bsize), nil
}

// writable returns nil if this process may read and write a file.
func writable(path string) error { return unix.Access(path, unix.R_OK|unix.W_OK) }
