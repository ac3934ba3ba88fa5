package endpoint

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// Whynot says why a server gave no answer at all, as the end of a sentence that begins with the server, and asks what
// may be the matter.
func Whynot(err error) string {
	name, isName := errors.AsType[*net.DNSError](err)
	var network net.Error
	slow := errors.As(err, &network) && network.Timeout()
	switch {
	case isName && !name.IsTimeout:
		return "can't be found, since nobody knows a host of that name: is its address right?"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "can't be reached, since nothing listens at that address: is it running?"
	case errors.Is(err, context.DeadlineExceeded), slow:
		return "is too slow: is it busy, or still loading its model?"
	}
	return "can't be reached: is it running?"
}
