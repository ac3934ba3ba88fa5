package sqlite_test

import (
	"testing"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/sqlite"
	"hark/memory/sqlite/sqlitetest"
)

func openToy(t testing.TB, dir string) memory.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), dir, sqlite.Options{Space: memorytest.Embedder{}.Space()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openEmpty(t testing.TB) memory.Store { return openToy(t, sqlitetest.Dir(t)) }

func TestConformance(t *testing.T) {
	t.Parallel()
	memorytest.Run(t, openEmpty)
	memorytest.Reopen(t, sqlitetest.Dir, openToy)
}

func TestConcurrentConformance(t *testing.T) {
	t.Parallel()
	memorytest.Concurrent(t, openEmpty)
}
