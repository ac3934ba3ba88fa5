// Package sqlitetest gives tests empty databases quickly: it makes one in a process, and copies it.
package sqlitetest

import (
	"testing"

	"hark/internal/fixture"
	"hark/memory/sqlite"
)

// Dir is a directory with an empty database.
func Dir(tb testing.TB) string {
	tb.Helper()
	return fixture.Dir(tb, "an empty database", func(dir string) {
		s, err := sqlite.Open(tb.Context(), dir, sqlite.Options{})
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			tb.Fatal(err)
		}
	})
}

// Open is an empty store. The caller closes it.
func Open(tb testing.TB, o sqlite.Options) *sqlite.Store {
	tb.Helper()
	s, err := sqlite.Open(tb.Context(), Dir(tb), o)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}
