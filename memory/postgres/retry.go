package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"hark/internal/pace"
)

// While the server restarts, or another takes its place, reads wait instead of failing.
const (
	retryFor   = 10 * time.Second
	retryFirst = 20 * time.Millisecond
	retryLast  = 500 * time.Millisecond
)

// retried does what a lost connection may have kept from being done, again until ctx ends or retryFor is over. do
// must not commit anything.
func retried[T any](ctx context.Context, do func() (T, error)) (T, error) {
	end := time.Now().Add(retryFor)
	for pause := retryFirst; ; pause = min(2*pause, retryLast) {
		done, err := do()
		if err == nil || ctx.Err() != nil || !isLost(err) || time.Now().After(end) {
			return done, err
		}
		if pace.Sleep(ctx, pause) != nil {
			return done, err
		}
	}
}

// isLost reports whether a statement failed because its connection was lost, or because there was none to be had.
func isLost(err error) bool {
	if server, is := errors.AsType[*pgconn.PgError](err); is {
		switch server.Code {
		case "57P01", "57P02", "57P03": // it stops, crashed or starts
			return true
		}
		return false
	}
	_, network := errors.AsType[net.Error](err)
	return network || pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, driver.ErrBadConn)
}
