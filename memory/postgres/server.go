package postgres

import (
	"context"
	"errors"
	"fmt"
)

// Server is what Hark needs to know of the server and the user before it opens a database.
type Server struct {
	Version  string // of PostgreSQL
	Number   int    // the same as its server_version_num
	Standby  bool
	ReadOnly bool // transactions can't write, because it is a standby or was told so
	User     string
	Schema   string // where Hark's tables are or would be; empty if there is none
	Creates  bool   // whether User may create tables there
	Owns     bool   // whether User owns all tables there
}

// oldest is the oldest PostgreSQL that Hark works with, as its server_version_num.
const oldest = 150000

func (e *engine) inspectServer(ctx context.Context) (s Server, err error) {
	err = e.pool.QueryRow(ctx, "SELECT current_setting('server_version'), current_setting('server_version_num')::int").
		Scan(&s.Version, &s.Number)
	if err != nil || s.Number < oldest { // which may not know what follows
		return s, err
	}
	err = e.pool.QueryRow(ctx, `SELECT pg_is_in_recovery(), current_setting('transaction_read_only')::boolean,
			current_user, coalesce(current_schema(), ''), coalesce(has_schema_privilege(current_schema(), 'CREATE'), false),
			NOT EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
				AND relname IN ('turn', 'message', 'goose_db_version') AND NOT pg_has_role(relowner, 'USAGE'))`).
		Scan(&s.Standby, &s.ReadOnly, &s.User, &s.Schema, &s.Creates, &s.Owns)
	return s, err
}

// Unfit returns why Hark can't use the server, and what to do; nil if it can.
func (s Server) Unfit() error {
	switch {
	case s.Number < oldest:
		return fmt.Errorf("its PostgreSQL is %s, and Hark needs 15 or newer: upgrade it, or name another server", s.Version)
	case s.Standby:
		return errors.New("it is a read-only standby: give the address of the primary")
	case s.ReadOnly:
		return errors.New("it can only be read: give the address of the primary, or turn default_transaction_read_only off")
	case !s.Creates || !s.Owns:
		return fmt.Errorf("the user %q may not create or change tables in it: "+
			"make it the owner of the database and its tables", s.User)
	}
	return nil
}
