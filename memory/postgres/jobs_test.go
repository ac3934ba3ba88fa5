package postgres_test

import (
	"context"
	"fmt"
	"testing"

	"hark/memory/postgres/postgrestest"
)

// Everybody sees which jobs living processes do.
func TestJobs(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	a, b := openProcess(t, address), openProcess(t, address)
	held := a.claim(t, 2, "shard 0/2", "shard 1/2", "janitor")
	b.claim(t, 9, "janitor")
	if err := a.Release(t.Context(), held[1], ""); err != nil {
		t.Fatal(err)
	}
	jobs, err := b.Table.(interface {
		Jobs(ctx context.Context) ([]string, error)
	}).Jobs(t.Context())
	if got := fmt.Sprint(jobs, err); got != "[janitor shard 0/2] <nil>" {
		t.Errorf("got %s", got)
	}
}
