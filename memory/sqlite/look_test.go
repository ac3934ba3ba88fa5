package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hark/memory"
	"hark/memory/memorytest"
)

func TestLook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	none, err := Look(t.Context(), dir)
	if err != nil || none.Exists || none.Bytes != 0 || none.SQLite == "" || none.Known != len(migrations) || none.Version != 0 {
		t.Errorf("of no database: %+v, %v", none, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("it left %v, %v", entries, err)
	}

	s := open(t, dir) // stays open
	apply(t, s, posted(general, 1, "apples"), posted(general, 2, "pears"), posted(secret, 3, "plums"))
	seen, err := Look(t.Context(), dir)
	if err != nil || !seen.Exists || seen.Bytes == 0 || seen.SQLite != none.SQLite || seen.Version != len(migrations) {
		t.Errorf("%+v, %v", seen, err)
	}
	if seen.Guilds != 1 || seen.Channels != 2 || seen.Messages != 3 || seen.Waiting != 2 || seen.Unfinished != 0 {
		t.Errorf("counted %+v", seen)
	}
	drain(t, s)
	execute(t, raw(t, dir), "INSERT INTO forgetting (id, guild, channel, user, before, why, at, done, receipt) VALUES (7, -1, 0, 0, 0, 'asked', 0, 0, '{}')")
	seen, err = Look(t.Context(), dir)
	if err != nil || seen.Waiting != 0 || seen.Unfinished != 1 || seen.Use != (memorytest.Embedder{}).Space() || seen.Next != (memory.Space{}) {
		t.Errorf("%+v, %v", seen, err)
	}
	if err := Check(t.Context(), dir); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Check(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestLookAtWhatIsAmiss(t *testing.T) {
	t.Parallel()
	newer := stored(t, 3)
	execute(t, raw(t, newer), "PRAGMA user_version = 99")
	_, err := Look(t.Context(), newer)
	wantError(t, err)

	lost := stored(t, 3)
	execute(t, raw(t, lost), "DROP TABLE forgetting")
	_, err = Look(t.Context(), lost)
	wantError(t, err)

	letter := t.TempDir()
	must(t, os.WriteFile(filepath.Join(letter, FileName), []byte("Dear Hark, this is a letter and no database at all."), 0o600))
	_, err = Look(t.Context(), letter)
	wantError(t, err)
	_, err = Look(t.Context(), filepath.Join(letter, FileName)) // a file where a directory should be
	wantError(t, err)
}
