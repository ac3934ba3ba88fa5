package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"hark/memory"
	"hark/memory/sqlite"
)

// What made a store's vectors can be told without opening it for writing, so that an embedding server needn't be
// asked.
func TestStoredSpace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if got := sqlite.StoredSpace(t.Context(), dir); got != (memory.Space{}) {
		t.Errorf("of no store: %v", got)
	}
	want := memory.Space{Name: `org/model:2 "passage: "`, Version: 3, Dimensions: 768}
	s, err := sqlite.Open(t.Context(), dir, sqlite.Options{Space: want})
	if err != nil {
		t.Fatal(err)
	}
	if got := sqlite.StoredSpace(t.Context(), dir); got != want {
		t.Errorf("of an open store: %v", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := sqlite.StoredSpace(t.Context(), dir); got != want {
		t.Errorf("of a closed store: %v", got)
	}
	for _, name := range []string{"model/3/many", "model/three/4", "model"} {
		db, err := sql.Open("sqlite", filepath.Join(dir, sqlite.FileName))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("UPDATE meta SET value = ? WHERE key = 'space'", name); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if got := sqlite.StoredSpace(t.Context(), dir); got != (memory.Space{}) {
			t.Errorf("of %q: %v", name, got)
		}
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, sqlite.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("DELETE FROM meta"); err != nil {
		t.Fatal(err)
	}
	if got := sqlite.StoredSpace(t.Context(), dir); got != (memory.Space{}) {
		t.Errorf("of a store that doesn't tell: %v", got)
	}
}
