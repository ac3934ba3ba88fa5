package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hark/memory"
	"hark/memory/postgres/postgrestest"
)

// What somebody decided is committed synchronously even where the server commits asynchronously.
func TestDecisionsAreCommittedSynchronously(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	closed := openToy(t, address) // makes the tables
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	db := server(t, address)
	exec(t, db, `CREATE TABLE observed (kind text, mode text)`)
	exec(t, db, `CREATE FUNCTION observe() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN INSERT INTO observed VALUES (TG_TABLE_NAME, current_setting('synchronous_commit')); RETURN NULL; END $$`)
	for _, table := range []string{"setting", "message"} {
		exec(t, db, `CREATE CONSTRAINT TRIGGER observes AFTER INSERT ON `+table+
			` DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION observe()`)
	}
	s := openToy(t, as(t, address, with("synchronous_commit", "off")))
	defer s.Close()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, e := range []memory.Event{
		memory.Posted{Message: memory.Message{ID: memory.FirstMessageID(at), Guild: 1, Channel: 2, Author: 3, Content: "hi"}},
		memory.SettingChosen{Guild: 1, Key: memory.SettingMode, Value: "search", At: at},
		memory.Posted{Message: memory.Message{ID: memory.FirstMessageID(at) + 1, Guild: 1, Channel: 2, Author: 3,
			Content: "ho"}},
	} {
		if err := s.Apply(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := db.Query(t.Context(), "SELECT kind || ' ' || mode FROM observed ORDER BY ctid")
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if want := "message off, setting on, message off"; err != nil || strings.Join(got, ", ") != want {
		t.Errorf("%q, %v; want %s", got, err, want)
	}
}
