package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Server is what Hark needs to know of the server and the user before it opens a database.
type Server struct {
	Version   string // of PostgreSQL
	Number    int    // the same as its server_version_num
	Standby   bool
	ReadOnly  bool   // transactions can't write, because it is a standby or was told so
	Vector    string // the version of pgvector in the database; empty if there is none
	Available string // the version of pgvector that the server could install; empty if there is none
	User      string
	Schema    string // where Hark's tables are or would be; empty if there is none
	Creates   bool   // whether User may create tables there
	Extends   bool   // whether User may install pgvector
	Owns      bool   // whether User owns all tables there
}

// Approximates reports whether pgvector is new enough for HNSW indexes: older versions can damage them.
func (s Server) Approximates() bool {
	var version [3]int
	_, _ = fmt.Sscanf(s.Vector, "%d.%d.%d", &version[0], &version[1], &version[2])
	return slices.Compare(version[:], []int{0, 8, 4}) >= 0
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
			coalesce((SELECT extversion FROM pg_extension WHERE extname = 'vector'), ''),
			coalesce((SELECT default_version FROM pg_available_extensions WHERE name = 'vector'), ''),
			current_user, coalesce(current_schema(), ''), coalesce(has_schema_privilege(current_schema(), 'CREATE'), false),
			(SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
				OR has_database_privilege(current_database(), 'CREATE') AND EXISTS (SELECT 1
					FROM pg_available_extension_versions WHERE name = 'vector' AND trusted),
			NOT EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
				AND relname IN ('turn', 'message', 'goose_db_version') AND NOT pg_has_role(relowner, 'USAGE'))`).
		Scan(&s.Standby, &s.ReadOnly, &s.Vector, &s.Available, &s.User, &s.Schema, &s.Creates,
			&s.Extends, &s.Owns)
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
	case s.Vector == "" && s.Available == "":
		return fmt.Errorf("pgvector isn't installed on the server: install its package (postgresql-%d-pgvector in Debian)",
			s.Number/10000)
	case s.Vector == "" && !s.Extends:
		return fmt.Errorf("the user %q may not install pgvector: have a superuser run CREATE EXTENSION vector in it", s.User)
	case !s.Creates || !s.Owns:
		return fmt.Errorf("the user %q may not create or change tables in it: "+
			"make it the owner of the database and its tables", s.User)
	}
	return nil
}
