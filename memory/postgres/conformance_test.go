package postgres_test

import (
	"testing"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/postgres"
	"hark/memory/postgres/postgrestest"
)

func openToy(t testing.TB, url string) memory.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, postgres.Options{Space: memorytest.Embedder{}.Space()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openEmpty(t testing.TB) memory.Store { return openToy(t, postgrestest.URL(t)) }

func TestReopenedConformance(t *testing.T) {
	t.Parallel()
	memorytest.Reopen(t, postgrestest.URL, openToy)
}

func TestConcurrentConformance(t *testing.T) {
	t.Parallel()
	memorytest.Concurrent(t, openEmpty)
}
