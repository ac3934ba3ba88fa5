package postgres

import (
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// limitUnacknowledged ends a connection whose other side has acknowledged nothing for so long. Keepalive alone doesn't
// while something is under way.
func limitUnacknowledged(network, _ string, c syscall.RawConn) error {
	const limit = 25 * time.Second
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var err error
	if e := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(limit.Milliseconds()))
	}); e != nil {
		return e
	}
	return err
}
