//go:build !linux

package main

import "time"

// monotonic is 0: there is no systemd to tell it.
func monotonic() time.Duration { return 0 }
