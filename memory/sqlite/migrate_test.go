package sqlite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"hark/memory"
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

// The traces of a database of version 1 are listed by asker and model.
func TestListedTraces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conn := raw(t, dir)
	must(t, migrate(bg, conn, migrations[:1]))
	execute(t, conn, `INSERT INTO trace VALUES (1000, 1, '[]', '{"guild":100,"asker":7,"model":"toy","question":5}'),
		(1000, 2, '[]', '{"guild":100,"asker":7}'), (1000, 3, '[]', '{"guild":100,"asker":8,"model":"toy"}')`)
	must(t, conn.Close())
	s := open(t, dir)
	for _, c := range []struct {
		q    memory.TraceQuery
		want memory.MessageID
	}{{memory.TraceQuery{Asker: 7, Model: "toy"}, 1}, {memory.TraceQuery{Asker: 7, Extractive: true}, 2},
		{memory.TraceQuery{Asker: 8}, 3}} {
		if all, err := s.Traces(bg, c.q); err != nil || len(all) != 1 || all[0].Answer != c.want {
			t.Errorf("%+v: %+v, %v", c.q, all, err)
		}
	}
	all, err := s.Traces(bg, memory.TraceQuery{Channel: 1000, Answers: []memory.MessageID{1, 2}})
	if err != nil || len(all) != 2 || all[0].Question != 5 || all[1].Question != 0 {
		t.Errorf("their questions: %+v, %v", all, err)
	}
}

// What was decided in a database of version 1 since a backup is decided after the restore.
func TestRestoredOverVersion1(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conn := raw(t, dir)
	must(t, migrate(bg, conn, migrations[:1]))
	execute(t, conn, `INSERT INTO guild (no, id, choice, chosen) VALUES (1, 100, 4, 5000);
		INSERT INTO setting VALUES (100, 0, 'mode', 'search', 5000); INSERT INTO role_limit VALUES (100, 0, 3, 4, 5000)`)
	must(t, conn.Close())
	s, r := restored(t, dir, backUp(t, populated(t)))
	g, err := s.Guild(bg, 100)
	must(t, err)
	if r.Unknown != nil || r.Choices != 1 || g.Choice != 4 || g.Settings[memory.SettingMode] != "search" || len(g.Limits) != 1 {
		t.Errorf("%+v: %+v", r, g)
	}
}
