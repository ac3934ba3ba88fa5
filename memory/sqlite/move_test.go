package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/sqlstore"
)

// openForMove opens a store for a move; key "": without one.
func openForMove(t testing.TB, dir, key string, as sqlstore.Moving) *Store {
	t.Helper()
	o := Options{Space: memorytest.Embedder{}.Space(), Tokens: words, Moving: as}
	if key != "" {
		o.Secret = secretOf(t, key)
	}
	s, err := Open(bg, dir, o)
	must(t, err)
	return s
}

// moved moves a store to another directory.
func moved(t testing.TB, from, fromKey, to, toKey string, progress sqlstore.Progress) error {
	t.Helper()
	source := openForMove(t, from, fromKey, sqlstore.MovesFrom)
	target := openForMove(t, to, toKey, sqlstore.MovesTo)
	_, err := sqlstore.Move(bg, source.Store, target.Store, progress)
	closed(t, source)
	closed(t, target)
	return err
}

func quietly(string, int, int) {}

// told opens a store with a key, and says what tell does of it.
func told(t testing.TB, dir, key string) string {
	t.Helper()
	o := Options{Space: memorytest.Embedder{}.Space(), Tokens: words}
	if key != "" {
		o.Secret = secretOf(t, key)
	}
	s, err := Open(bg, dir, o)
	must(t, err)
	must(t, sqlstore.Verify(bg, s.Store))
	checkSound(t, s)
	defer closed(t, s)
	return tell(t, s)
}

// filledStore makes a plain store with canaries and many messages.
func filledStore(t *testing.T) (dir, want string) {
	t.Helper()
	dir = emptyDir(t)
	s := openOnce(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	var many []memory.Event
	for n := range 2000 {
		many = append(many, posted(general, n, fmt.Sprintf("canary%dq sails %d", n%40, n)))
	}
	apply(t, s, many...)
	drain(t, s)
	want = tell(t, s)
	closed(t, s)
	return dir, want
}

// A plain store is moved to a sealed one, that to one with another key, and back to a plain one. Each answers the same.
func TestAMoveSealsAndUnseals(t *testing.T) {
	t.Parallel()
	first, want := filledStore(t)
	second := filepath.Join(t.TempDir(), "second")
	third := filepath.Join(t.TempDir(), "third")
	fourth := filepath.Join(t.TempDir(), "fourth")
	must(t, moved(t, first, "", second, oneKey, quietly))
	wantSealed(t, second, "canary")
	if got := told(t, second, oneKey); got != want {
		t.Errorf("sealed it is\n%s\nnot\n%s", got, want)
	}
	must(t, moved(t, second, oneKey, third, anotherKey, quietly))
	wantSealed(t, third, "canary")
	if got := told(t, third, anotherKey); got != want {
		t.Errorf("with another key it is\n%s\nnot\n%s", got, want)
	}
	if bytes.Equal(dataKey(t, second, oneKey), dataKey(t, third, anotherKey)) {
		t.Error("the data key is the same")
	}
	must(t, moved(t, third, anotherKey, fourth, "", quietly))
	if got := told(t, fourth, ""); got != want {
		t.Errorf("unsealed it is\n%s\nnot\n%s", got, want)
	}
}

// dataKey is the data key of a closed store.
func dataKey(t *testing.T, dir, key string) []byte {
	t.Helper()
	sealing, err := readSealing(bg, filepath.Join(dir, FileName))
	must(t, err)
	data, err := secretOf(t, key).Key(sealing.Salt).Unwrap(sealing.Data)
	must(t, err)
	return data
}

// halfMoved interrupts a move from a plain store after the messages.
func halfMoved(t *testing.T, from, to, toKey string) {
	t.Helper()
	source := openForMove(t, from, "", sqlstore.MovesFrom)
	target := openForMove(t, to, toKey, sqlstore.MovesTo)
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	_, err := sqlstore.Move(ctx, source.Store, target.Store, func(what string, _, _ int) {
		if what == "copying vectors" {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal("the move wasn't interrupted:", err)
	}
	closed(t, source)
	closed(t, target)
}

// What an interrupted move to a plain store left isn't in the sealed one with which another move begins again.
func TestAMoveThatBeginsAgainLeavesNothingPlain(t *testing.T) {
	t.Parallel()
	from, want := filledStore(t)
	to := filepath.Join(t.TempDir(), "to")
	halfMoved(t, from, to, "")
	if _, err := Open(bg, to, Options{}); !errors.Is(err, sqlstore.ErrMoving) {
		t.Errorf("half of a move: %v", err)
	}
	if len(holding(t, to, "canary")) == 0 {
		t.Error("the move was interrupted before it copied anything")
	}
	halfMoved(t, from, to, anotherKey)
	wantSealed(t, to, "canary")
	must(t, moved(t, from, "", to, oneKey, quietly))
	wantSealed(t, to, "canary")
	if got := told(t, to, oneKey); got != want {
		t.Errorf("it is\n%s\nnot\n%s", got, want)
	}
}

// TestMoveChild is the process that TestKillsWhileMovingLoseNothing kills.
func TestMoveChild(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		t.Skip("is run by another test")
	}
	to := filepath.Join(dir, "to")
	for {
		must(t, moved(t, filepath.Join(dir, "from"), "", to, oneKey, func(what string, done, total int) {
			fmt.Printf("moved %d\n", done)
		}))
		must(t, os.RemoveAll(to))
	}
}

// A move that was killed begins again, and nothing of it was ever readable.
func TestKillsWhileMovingLoseNothing(t *testing.T) {
	t.Parallel()
	filled, want := filledStore(t)
	dir := t.TempDir()
	to := filepath.Join(dir, "to")
	must(t, os.Rename(filled, filepath.Join(dir, "from")))
	kills := 5
	if long {
		kills = 100
	}
	for n := range kills {
		killChild(t, "TestMoveChild", dir, n, 1+rand.IntN(10), func(line string) bool {
			return scanned(line, "moved %d", new(int))
		})
		wantSealed(t, to, "canary")
		s, err := openKeyed(to, oneKey, t)
		if err == nil { // it was complete, or had not begun
			closed(t, s)
			must(t, os.RemoveAll(to))
		} else if !errors.Is(err, sqlstore.ErrMoving) {
			t.Fatalf("after kill %d: %v", n, err)
		}
	}
	must(t, moved(t, filepath.Join(dir, "from"), "", to, oneKey, quietly))
	wantSealed(t, to, "canary")
	if got := told(t, to, oneKey); got != want {
		t.Errorf("it is\n%s\nnot\n%s", got, want)
	}
	if got := told(t, filepath.Join(dir, "from"), ""); got != want {
		t.Errorf("the old one is\n%s\nnot\n%s", got, want)
	}
	t.Logf("%d kills", kills)
}
