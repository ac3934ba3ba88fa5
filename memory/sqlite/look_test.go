package sqlite

import (
	"context"
	"errors"
	"os"
	"testing"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/sqlstore"
)

func TestLook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	none, err := Inspect(t.Context(), dir)
	if err != nil || none.Exists || none.Bytes != 0 || none.SQLite == "" || none.Known != len(migrations) ||
		none.Version != 0 {
		t.Errorf("of no database: %+v, %v", none, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("it left %v, %v", entries, err)
	}

	s := open(t, dir) // stays open
	apply(t, s, posted(general, 1, "apples"), posted(general, 2, "pears"), posted(secret, 3, "plums"))
	seen, err := Inspect(t.Context(), dir)
	if err != nil || !seen.Exists || seen.Bytes == 0 || seen.SQLite != none.SQLite || seen.Version != len(migrations) {
		t.Errorf("%+v, %v", seen, err)
	}
	if seen.Guilds != 1 || seen.Channels != 2 || seen.Messages != 3 || seen.Waiting != 2 || seen.Unfinished != 0 {
		t.Errorf("counted %+v", seen)
	}
	drain(t, s)
	apply(t, s, recorded("one", 0, 1),
		memory.LoreTold{Lore: memory.Lore{ID: 9, Guild: guild, Name: "Oak", Text: "is old", At: idAt(1)}},
		memory.LoreTold{Lore: memory.Lore{ID: 10, Guild: guild, Name: "Elm", Text: "is older",
			At: idAt(1)}}, memory.LoreGone{Guild: guild, ID: 10})
	if a, err := sqlstore.Count(t.Context(), s.Store); err != nil || a.Traces+a.Prompts != 0 || a.Records != 1 ||
		a.Lore != 1 || a.Bytes < 4096 {
		t.Errorf("%+v, %v", a, err)
	}
	execute(t, raw(t, dir), `INSERT INTO forgetting (id, guild, channel, user, before, why, at, done, receipt)
		VALUES (7, -1, 0, 0, 0, 'asked', 0, 0, '{}')`)
	seen, err = Inspect(t.Context(), dir)
	if err != nil || seen.Waiting != 0 || seen.Unfinished != 1 ||
		seen.Use != (memorytest.Embedder{}).Space() || seen.Next != (memory.Space{}) {
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
