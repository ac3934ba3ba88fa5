//go:build !linux

package postgres

import "syscall"

// limitUnacknowledged does nothing: this system has no such limit.
func limitUnacknowledged(_, _ string, _ syscall.RawConn) error { return nil }
