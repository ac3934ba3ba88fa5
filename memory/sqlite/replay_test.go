package sqlite

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"hark/memory"
)

// A decision is written by the transaction that makes it. So a restore over what a kill left replays every decision
// that somebody was told of, and none that was never made.
func TestRestoreOverWhatAKillLeft(t *testing.T) {
	t.Parallel()
	kills := 2
	if long {
		kills = 20
	}
	const rounds = 3
	s := open(t, emptyDir(t))
	for n := range rounds {
		apply(t, s, roundEvents(n)...)
	}
	backup := backUp(t, s)
	closed(t, s)
	for range kills {
		dir := copied(t, s.engine.dir)
		must(t, os.Remove(filepath.Join(dir, LockName))) // the copy has other rights
		said, begun, receipts := crashForgetting(t, dir, 0, 1+rand.IntN(7))
		after, r := restored(t, dir, backup)
		if !r.Known {
			t.Errorf("what was decided isn't known: %v", r.Unknown)
		}
		for n := range rounds {
			checkStays(t, after, n)
			switch {
			case n <= begun:
				checkUnread(t, after, n)
			case n > said && len(find(t, after, in(roundChannel(n)), canaryOf(n, 1))) == 0:
				t.Errorf("round %d is gone, and nobody decided so", n)
			}
		}
		closed(t, after)
		for n := 0; n <= min(begun, rounds-1); n++ {
			checkGone(t, dir, n)
		}
		if t.Failed() {
			t.Fatalf("killed after round %d was said, %d begun, %d had its receipt", said, begun, receipts)
		}
	}
}

// A restore reads what was decided in a memory of an older version as well, and leaves its file alone.
func TestRestoreOverAnOlderVersion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := raw(t, dir)
	execute(t, db, schema)
	execute(t, db, "PRAGMA user_version = 1")
	execute(t, db, "PRAGMA journal_mode = wal")
	execute(t, db, "INSERT INTO opted (guild, user, out, at) VALUES (?, 9, 1, ?)", guild, id(400).Time().UnixMilli())
	must(t, db.Close())
	s := populated(t)
	backup := backUp(t, s)
	r, err := Restore(bg, dir, backup, Keys{}, nil)
	if err != nil || !r.Known || r.OptOuts != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	now := open(t, dir)
	out, err := memory.HasOptedOut(bg, now, guild, 9)
	if err != nil || !out {
		t.Errorf("opted out: %v, %v", out, err)
	}
}
