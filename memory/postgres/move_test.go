package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/postgres"
	"hark/memory/postgres/postgrestest"
	"hark/memory/seal"
	"hark/memory/sqlstore"
)

// What an interrupted move to a plain database left isn't in the sealed one with which another move begins again, not
// even in free parts of pages.
func TestAMoveThatBeginsAgainLeavesNothingPlain(t *testing.T) {
	t.Parallel()
	from := postgrestest.URL(t)
	small := postgrestest.URL(t) // so that what is moved last doesn't overwrite the rest by its size
	to := postgrestest.URL(t)
	plain := openToy(t, from).(*sqlstore.Store)
	must(t, plain.Apply(t.Context(), memorytest.Canaries("canary")...))
	for n := range 200 {
		must(t, plain.Apply(t.Context(), memory.ExternalIDSeen{Channel: 1000, ID: memory.MessageID(1<<50 + n),
			ExternalID: fmt.Sprintf("canary %d", n)}))
	}
	embedAll(t, plain)
	must(t, plain.Close())
	must(t, openToy(t, small).Close())
	move := func(ctx context.Context, from string, secret *seal.Secret, progress sqlstore.Progress) error {
		source, err := postgres.Open(t.Context(), from, postgres.Options{Moving: sqlstore.MovesFrom})
		must(t, err)
		target, err := postgres.Open(t.Context(), to, postgres.Options{Moving: sqlstore.MovesTo, Secret: secret})
		must(t, err)
		_, err = sqlstore.Move(ctx, source, target, progress)
		must(t, errors.Join(source.Close(), target.Close()))
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := move(ctx, from, nil, func(what string, _, _ int) {
		if what == "copying vectors" {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal("the move wasn't interrupted:", err)
	}
	used, _ := pages(t, connect(t, to))
	if !bytes.Contains(used, []byte("canary")) {
		t.Error("the move was interrupted before it copied anything")
	}
	if _, err := postgres.Open(t.Context(), to, postgres.Options{}); !errors.Is(err, sqlstore.ErrMoving) {
		t.Errorf("half of a move: %v", err)
	}
	must(t, move(t.Context(), small, secretOf(t, oneKey), func(string, int, int) {}))
	wantSealed(t, to, "canary", true)
	s := openWithKey(t, to, oneKey)
	must(t, sqlstore.Verify(t.Context(), s))
	must(t, s.Close())
}
