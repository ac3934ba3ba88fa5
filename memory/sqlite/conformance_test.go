package sqlite_test

import (
	"testing"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/sqlite"
)

func openToy(t testing.TB, dir string) memory.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), dir, sqlite.Options{Space: memorytest.Embedder{}.Space()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	t.Parallel()
	memorytest.Run(t, func(t testing.TB) memory.Store { return openToy(t, t.TempDir()) })
}

func TestConformanceAcrossReopening(t *testing.T) {
	t.Parallel()
	memorytest.Reopen(t, openToy)
}
