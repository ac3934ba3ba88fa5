package postgrestest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func connect(t testing.TB, address string) *pgx.Conn {
	t.Helper()
	db, err := pgx.Connect(context.Background(), address)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// Terminate ends all connections to a database, as a restart of the server does.
func Terminate(t testing.TB, address string) {
	t.Helper()
	ctx := context.Background()
	db := connect(t, address)
	defer db.Close(ctx)
	if _, err := db.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid()`); err != nil {
		t.Fatal(err)
	}
}

// TerminateWriter ends the next connection that writes messages, within its transaction.
func TerminateWriter(t testing.TB, address string) {
	t.Helper()
	ctx := context.Background()
	db := connect(t, address)
	defer db.Close(ctx)
	tx, err := db.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(ctx)
	if _, err := tx.Exec(ctx, "LOCK TABLE message IN EXCLUSIVE MODE"); err != nil { // the writer waits for it
		t.Fatal(err)
	}
	for found := false; !found; {
		if err := tx.QueryRow(ctx, `SELECT coalesce(bool_or(pg_terminate_backend(pid)), false) FROM pg_locks
			WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND relation = 'message'::regclass AND NOT granted`).Scan(&found); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond) // a server gives no signal
	}
}
