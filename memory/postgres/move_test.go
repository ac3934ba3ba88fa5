package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

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
	to := postgrestest.URL(t)
	plain := openToy(t, from).(*sqlstore.Store)
	must(t, plain.Apply(t.Context(), memorytest.Canaries("canary")...))
	embedAll(t, plain)
	must(t, plain.Close())
	move := func(ctx context.Context, secret *seal.Secret, progress sqlstore.Progress) error {
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
	err := move(ctx, nil, func(what string, _, _ int) {
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
	must(t, move(t.Context(), secretOf(t, oneKey), func(string, int, int) {}))
	wantSealed(t, to, "canary", true)
	s := openWithKey(t, to, oneKey)
	must(t, sqlstore.Verify(t.Context(), s))
	must(t, s.Close())
}
