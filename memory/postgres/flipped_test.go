package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/postgres/postgrestest"
	"hark/memory/seal"
	"hark/memory/sqlstore"
)

// Who changes messages and names of a sealed memory can't stop anything from being deleted, nor the memory from
// opening.
func TestChangedValuesDontStopForgetting(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	s := openWithKey(t, url, oneKey)
	must(t, s.Apply(t.Context(), memorytest.Canaries("canary")...))
	embedAll(t, s)
	must(t, s.Close())
	db := connect(t, url)
	for _, query := range []string{
		"UPDATE message SET content = overlay(content PLACING 'zzz' FROM 60) WHERE content <> ''",
		"UPDATE person SET username = overlay(username PLACING 'zzz' FROM 50) WHERE username <> ''",
		"UPDATE role SET name = overlay(name PLACING 'zzz' FROM 50) WHERE name <> ''",
	} {
		_, err := db.Exec(t.Context(), query)
		must(t, err)
	}
	s = openWithKey(t, url, oneKey)
	log, err := s.Log(t.Context(), 1000, -1<<62, 1<<62, 10)
	if !errors.Is(err, seal.ErrChanged) {
		t.Fatal("log:", log, err)
	}
	var first memory.MessageID
	must(t, db.QueryRow(t.Context(), "SELECT min(m.id) FROM message m JOIN channel c ON c.no = m.channel WHERE c.id = 1000").
		Scan((*int64)(&first)))
	must(t, s.Apply(t.Context(), memory.Deleted{Guild: 100, Channel: 1000, IDs: []memory.MessageID{first}}))
	if err := sqlstore.Renew(t.Context(), s, nil); !errors.As(err, new(sqlstore.LostError)) {
		t.Error("renew:", err)
	}
	if _, err := s.Forget(t.Context(), memory.Forgetting{Guild: 100, Why: memory.WhyMember,
		At: memory.MessageID(1 << 62).Time()}, nil); err != nil {
		t.Error("forget:", err)
	}
	must(t, s.Erase(t.Context(), true))
	var left, terms int
	must(t, db.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM message m JOIN channel c ON c.no = m.channel
		WHERE c.guild = 100), (SELECT count(*) FROM fulltext f WHERE NOT EXISTS (SELECT 1 FROM message m WHERE m.row = f.row))`).
		Scan(&left, &terms))
	if left > 0 || terms > 0 {
		t.Errorf("%d messages and %d entries of full text are left", left, terms)
	}
	must(t, s.Close())
}

// Who reads while a memory gets new keys finds nothing changed: the old keys stay until the reader has ended.
func TestReadersGoOnWhileKeysAreRenewed(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	s := openWithKey(t, url, oneKey)
	must(t, s.Apply(t.Context(), memorytest.Canaries("canary")...))
	for n := range 50 {
		must(t, s.Apply(t.Context(), memory.Posted{Message: memory.Message{ID: memory.MessageID(1<<50 + n), Guild: 100,
			Channel: 1000, Author: 77, Content: "apples"}}))
	}
	read := 0
	must(t, s.MessagesBy(t.Context(), 100, 77, func(memory.Message) error {
		if read++; read == 1 {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if err := sqlstore.Renew(ctx, s, nil); err == nil {
				t.Error("the keys were dropped in spite of a reader")
			}
		}
		return nil
	}))
	must(t, sqlstore.Renew(t.Context(), s, nil))
	if must(t, sqlstore.Verify(t.Context(), s)); read != 50 {
		t.Errorf("%d messages were read", read)
	}
	must(t, s.Close())
}
