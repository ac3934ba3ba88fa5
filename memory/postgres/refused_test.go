package postgres_test

import (
	"context"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"hark/memory"
	"hark/memory/postgres"
	"hark/memory/postgres/postgrestest"
)

func run(t *testing.T, address string, statements ...string) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.Background())
	for _, s := range statements {
		if _, err := db.Exec(t.Context(), s); err != nil {
			t.Fatal(s, err)
		}
	}
}

// as returns a database's URL for another user, or with another parameter.
func as(t *testing.T, address string, change func(u *url.URL)) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	change(u)
	return u.String()
}

func with(key, value string) func(*url.URL) {
	return func(u *url.URL) {
		q := u.Query()
		q.Set(key, value)
		u.RawQuery = q.Encode()
	}
}

// Whatever is wrong with a server or a database, opening it says so in one sentence and leaves no tables behind.
func TestRefused(t *testing.T) {
	t.Parallel()
	const password = "secret-password"
	bare, made := postgrestest.Bare(t), postgrestest.URL(t)
	for _, c := range []struct {
		name  string
		bare  bool // without Hark's schema
		want  string
		setUp func(t *testing.T, address, role string) (opened string)
	}{
		{"nobody listens", true, `the server can't be reached: check that it runs, and its address (dial tcp 127.0.0.1:9`,
			func(t *testing.T, address, _ string) string {
				return as(t, address, func(u *url.URL) {
					u.Host, u.User = "127.0.0.1:9", url.UserPassword("hark", password)
				})
			}},
		{"wrong password", true, "the password is wrong: check the URL (password authentication failed, SQLSTATE 28P01)",
			func(t *testing.T, address, _ string) string {
				return as(t, address, func(u *url.URL) { u.Host, u.User = refusing(t), url.UserPassword("hark", password) })
			}},
		{"no database", true, `there is no such database: create it, or check the URL (`,
			func(t *testing.T, address, _ string) string {
				return as(t, address, func(u *url.URL) { u.Path = "/nowhere" })
			}},
		{"no such user", true, `the database refuses this user: check the user and the address in the URL, and pg_hba.conf (`,
			func(t *testing.T, address, _ string) string {
				return as(t, address, func(u *url.URL) { u.User = url.UserPassword("nobody", password) })
			}},
		{"another's schema", true, `open the database "DATABASE" on HOST: the user "ROLE" may not create or change tables in it: make it the owner`,
			func(t *testing.T, address, role string) string {
				return as(t, address, func(u *url.URL) { u.User = url.User(role) })
			}},
		{"another's tables", false, `the user "ROLE" may not create or change tables in it: make it the owner of the database and its tables`,
			func(t *testing.T, address, role string) string {
				run(t, address, "GRANT ALL ON SCHEMA public TO "+role)
				return as(t, address, func(u *url.URL) { u.User = url.User(role) })
			}},
		{"read only", true, `it can only be read: give the address of the primary, or turn default_transaction_read_only off`,
			func(t *testing.T, address, _ string) string {
				return as(t, address, with("default_transaction_read_only", "on"))
			}},
		{"too many connections", true, `the server has no connection left: raise max_connections or the user's limit, or lower pool_max_conns in the URL (`,
			func(t *testing.T, address, role string) string {
				run(t, address, "ALTER ROLE "+role+" CONNECTION LIMIT 0")
				return as(t, address, func(u *url.URL) { u.User = url.User(role) })
			}},
		{"newer schema", false, `its schema is of version 99, made by a newer Hark than this one, which knows 1: use the newer Hark`,
			func(t *testing.T, address, _ string) string {
				run(t, address, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)")
				return address
			}},
		{"old server", true, `its PostgreSQL is 14.9, and Hark needs 15 or newer: upgrade it, or name another server`,
			func(t *testing.T, address, _ string) string {
				run(t, address, "CREATE SCHEMA fake", `CREATE FUNCTION fake.current_setting(name text) RETURNS text
				LANGUAGE sql AS $$ SELECT CASE name WHEN 'server_version' THEN '14.9' ELSE '140009' END $$`)
				return as(t, address, with("search_path", "fake,pg_catalog"))
			}},
		{"standby", true, `it is a read-only standby: give the address of the primary`,
			func(t *testing.T, address, _ string) string {
				run(t, address, "CREATE SCHEMA fake",
					"CREATE FUNCTION fake.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true'")
				return as(t, address, with("search_path", "fake,pg_catalog"))
			}},
		{"unreadable address", true, `the database's address can't be read: write postgres://USER:PASSWORD@HOST:5432/DATABASE`, func(*testing.T, string, string) string {
			return "postgres://hark:pass/" + password + "@db/hark"
		}},
		{"unusable address", true, `the database's address can't be used (sslmode is invalid): write postgres://`, func(*testing.T, string, string) string {
			return "postgres://hark:" + password + "@db/hark?sslmode=perhaps"
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			address := made
			if c.bare {
				address = bare
				defer run(t, address, "DROP SCHEMA IF EXISTS fake CASCADE")
			}
			role := postgrestest.Role(t, address)
			opened := c.setUp(t, address, role)
			_, err := postgres.Open(t.Context(), opened, postgres.Options{})
			if err == nil {
				t.Fatal("it was opened")
			}
			_, inspected := postgres.Inspect(t.Context(), opened)
			told := strings.NewReplacer(role, "ROLE", nameOf(t, address), "DATABASE",
				hostOf(t, address), "HOST").Replace(err.Error())
			if strings.Contains(told, "\n") || inspected != nil && strings.Contains(inspected.Error(), password) ||
				strings.Contains(told, password) {
				t.Error(told, inspected)
			}
			if !strings.Contains(told, c.want) {
				t.Errorf("it says %s\nwant %s", told, c.want)
			}
			if c.bare {
				var tables int
				db, err := pgx.Connect(t.Context(), address)
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close(context.Background())
				if err := db.QueryRow(t.Context(), "SELECT count(*) FROM pg_tables WHERE schemaname IN ('public', 'fake')").
					Scan(&tables); err != nil || tables != 0 {
					t.Error(tables, "tables were left", err)
				}
			}
		})
	}
}

// refusing serves a server that finds every password wrong, and returns its address.
func refusing(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			server := pgproto3.NewBackend(conn, conn)
			if _, err := server.ReceiveStartupMessage(); err == nil {
				server.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "28P01", Message: "password authentication failed"})
				_ = server.Flush()
			}
			conn.Close()
		}
	}()
	return listener.Addr().String()
}

func nameOf(t *testing.T, address string) string {
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(u.Path, "/")
}

func hostOf(t *testing.T, address string) string {
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// A write that the server refuses, as for a full disk, leaves nothing, and the store goes on once there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	s := openToy(t, address)
	defer s.Close()
	run(t, address, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`,
		"CREATE TRIGGER refuse BEFORE INSERT ON message FOR EACH ROW EXECUTE FUNCTION refuse()")
	general := memory.Channel{ID: 11, Guild: 1, Name: "general"}
	events := []memory.Event{memory.ChannelSeen{Channel: general},
		memory.Posted{Message: memory.Message{ID: 5, Guild: 1, Channel: general.ID, Author: 7, Content: "apples"}}}
	err := s.Apply(t.Context(), events...)
	if err == nil {
		t.Fatal("it was written")
	}
	if want := "the server's disk is full: free some space; nothing that was stored is lost ("; !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	if guilds, err := s.Guilds(t.Context()); err != nil || len(guilds) > 0 {
		t.Error(guilds, err)
	}
	run(t, address, "DROP TRIGGER refuse ON message")
	if err := s.Apply(t.Context(), events...); err != nil {
		t.Error(err)
	}
	if guilds, err := s.Guilds(t.Context()); err != nil || len(guilds) != 1 {
		t.Error(guilds, err)
	}
}
