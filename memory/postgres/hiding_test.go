package postgres_test

import (
	"testing"
	"time"

	"hark/memory"
	"hark/memory/postgres/postgrestest"
)

// The next process that opens the database hides what another was hiding when it ended.
func TestWhatADeadProcessWasHidingIsHidden(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	s := openToy(t, address)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	first := memory.FirstMessageID(at)
	for n := range memory.MessageID(3) {
		said := memory.Message{ID: first + n, Guild: 100, Channel: 1000, Author: 3, Content: "a number"}
		must(t, s.Apply(t.Context(), memory.Posted{Message: said}))
	}
	db := connect(t, address)
	const refuse = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$"
	exec(t, db, refuse)
	exec(t, db, "CREATE TRIGGER refuses BEFORE INSERT ON pending_deletion FOR EACH ROW EXECUTE FUNCTION refuse()")
	forgotten := memory.Forgetting{Guild: 100, Channel: 1000, Why: memory.WhyPurge, At: at.Add(time.Hour)}
	err := s.Apply(t.Context(), forgotten)
	if err == nil {
		t.Fatal("nothing stopped the process in the midst of hiding")
	}
	must(t, s.Close())
	exec(t, db, "DROP TRIGGER refuses ON pending_deletion")
	s = openToy(t, address)
	defer s.Close()
	log, err := s.Log(t.Context(), 1000, 0, 1<<62, 100)
	if err != nil || len(log) > 0 {
		t.Errorf("%d messages are read still, %v", len(log), err)
	}
}
