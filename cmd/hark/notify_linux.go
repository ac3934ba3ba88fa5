package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is the time of CLOCK_MONOTONIC, by which systemd tells which reload it is that is done.
func monotonic() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
