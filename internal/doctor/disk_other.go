//go:build !linux && !darwin && !freebsd

package doctor

import "errors"

// diskSpace isn't known on this system.
func diskSpace(string) (free, total uint64, err error) { return 0, 0, errors.ErrUnsupported }

// writable isn't found out here.
func writable(string) error { return nil }
