package postgres

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

type explained struct{ error }

func (e explained) Unwrap() error { return e.error }

// advice says what to do about an error, by its code (https://www.postgresql.org/docs/current/errcodes-appendix.html).
var advice = map[string]string{
	"28000": "the database refuses this user: check the user and the address in the URL, and pg_hba.conf",
	"28P01": "the password is wrong: check the URL",
	"3D000": "there is no such database: create it, or check the URL",
	"42501": "the user may not do that: make it the owner of the database",
	"25006": "it can only be read: give the address of the primary",
	"53100": "the server's disk is full: free some space; nothing that was stored is lost",
	"53200": "the server is out of memory",
	"53300": "the server has no connection left: raise max_connections or the user's limit, or lower pool_max_conns " +
		"in the URL",
	"57P01": "the server is stopping or restarting: Hark tries again",
	"57P03": "the server is starting: try again in a moment",
	"25P03": "the server ended a write that took too long between two statements: Hark tries again",
}

// IsStarting reports whether a server refused because it is starting.
func IsStarting(err error) bool {
	server, is := errors.AsType[*pgconn.PgError](err)
	return is && server.Code == "57P03"
}

// explain adds advice to an error of PostgreSQL's, unless it has some.
func explain(err error) error {
	if err == nil || errors.As(err, &explained{}) {
		return err
	}
	if e, is := errors.AsType[*pgconn.PgError](err); is {
		if a := advice[e.Code]; a != "" {
			return explained{short{a, e.Message + ", SQLSTATE " + e.Code, err}}
		}
		return err
	}
	network, is := errors.AsType[net.Error](err)
	if is && !errors.Is(err, context.Canceled) {
		return explained{short{"the server can't be reached: check that it runs, and its address", network.Error(), err}}
	}
	return err
}

// short is an error in one sentence, without the attempts and addresses that the driver lists.
type short struct {
	advice, cause string
	error
}

func (s short) Error() string { return s.advice + " (" + strings.ReplaceAll(s.cause, "\n", "; ") + ")" }

func (s short) Unwrap() error { return s.error }
