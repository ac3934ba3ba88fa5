package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

type explained struct{ error }

func (e explained) Unwrap() error { return e.error }

// Explain implements sqlstore.Engine.
func (e *engine) Explain(err error) error { return explain(err) }

// advice says what to do about an error, by its code (https://www.postgresql.org/docs/current/errcodes-appendix.html).
var advice = map[string]string{
	"28000": "the database refuses this user: check the user and the address in the URL, and pg_hba.conf",
	"28P01": "the password is wrong: check the URL",
	"3D000": "there is no such database: create it, or check the URL",
	"42501": "the user may not do that: make it the owner of the database and its schema",
	"25006": "the server is a read-only standby: give the address of the primary",
	"53100": "the server's disk is full: free some space; nothing that was stored is lost",
	"53200": "the server is out of memory",
	"53300": "the server has no connection left: raise max_connections, or lower pool_max_conns in the URL",
	"57P01": "the server is stopping or restarting: Hark tries again",
	"57P03": "the server is starting: try again in a moment",
	"25P03": "the server ended a write that took too long between two statements: Hark tries again",
	"0A000": "the server lacks something that Hark needs: PostgreSQL 15 or newer, and pgvector",
	"58P01": "pgvector isn't installed on the server: install its package (postgresql-17-pgvector, say)",
}

// explain adds advice to an error of PostgreSQL's, unless it has some.
func explain(err error) error {
	if err == nil || errors.As(err, &explained{}) {
		return err
	}
	var e *pgconn.PgError
	if errors.As(err, &e) {
		if a := advice[e.Code]; a != "" {
			return explained{fmt.Errorf("%s: %w", a, err)}
		}
		return err
	}
	var network net.Error
	if errors.As(err, &network) && !errors.Is(err, context.Canceled) {
		return explained{fmt.Errorf("the server can't be reached: check that it runs, and its address: %w", err)}
	}
	return err
}
