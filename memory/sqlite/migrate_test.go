package sqlite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
)

// Later versions migrate existing databases: completely or not at all, and once.
func TestMigrations(t *testing.T) {
	t.Parallel()
	dir := stored(t, 3)
	conn := raw(t, dir)
	later := append(migrations[:len(migrations):len(migrations)],
		"CREATE TABLE later (x); INSERT INTO later VALUES (1)")
	versions := func() (version, rows int) {
		t.Helper()
		must(t, conn.QueryRowContext(bg, "PRAGMA user_version").Scan(&version))
		if err := conn.QueryRowContext(bg, "SELECT count(*) FROM later").Scan(&rows); err != nil {
			rows = -1
		}
		return version, rows
	}
	broken := append(later[:len(migrations):len(migrations)], later[len(migrations)]+"; INSERT INTO nowhere VALUES (1)")
	if err := migrate(bg, conn, broken); err == nil {
		t.Error("it migrated by what is broken")
	}
	if version, rows := versions(); version != len(migrations) || rows >= 0 {
		t.Errorf("after a migration that failed: version %d, %d rows", version, rows)
	}
	crashed, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	if err == nil {
		_, err = crashed.Exec("BEGIN IMMEDIATE; " + later[len(migrations)])
	}
	must(t, err)
	must(t, crashed.Close()) // before the commit
	for range 2 {
		must(t, migrate(bg, conn, later))
		if version, rows := versions(); version != len(later) || rows != 1 {
			t.Errorf("migrated: version %d, %d rows", version, rows)
		}
	}
	if err := migrateOne(bg, conn, later, len(migrations)); err != nil { // as if another process had been faster
		t.Error(err)
	}
	if _, rows := versions(); rows != 1 {
		t.Errorf("migrated twice: %d rows", rows)
	}
	_, err = Open(bg, dir, Options{}) // by the Hark of before
	wantError(t, err)
	execute(t, conn, fmt.Sprint("DROP TABLE later; PRAGMA user_version = ", len(migrations)))
	if got := find(t, open(t, dir), in(general), "apples"); len(got) != 3 {
		t.Errorf("%d of 3 are left", len(got))
	}
}
