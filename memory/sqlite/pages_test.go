package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"hark/internal/wait"
	"hark/memory"
)

// block puts a directory that can't be removed where a file should be.
func block(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// content is what a file holds.
func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	s := populated(t)
	backup := backUp(t, s)
	closed := written(t)
	before := content(t, filepath.Join(closed, FileName))
	block(t, filepath.Join(closed, remakingName))
	_, err := Open(t.Context(), closed, Options{})
	wantError(t, err)
	_, err = Restore(t.Context(), closed, backup, nil)
	wantError(t, err)
	if content(t, filepath.Join(closed, FileName)) != before {
		t.Error("the database isn't as it was")
	}
	if err := os.RemoveAll(filepath.Join(closed, remakingName)); err != nil {
		t.Fatal(err)
	}
	if got := find(t, open(t, closed), in(general), "number12"); len(got) != 1 {
		t.Errorf("with nothing in the way, found %v", got)
	}

	_, err = Restore(t.Context(), filepath.Join(backup, "dir"), backup, nil)
	wantError(t, err)
	_, err = s.Backup(t.Context(), filepath.Join(backup, "b"), false, nil)
	wantError(t, err)
	to := filepath.Join(t.TempDir(), "b")
	block(t, to+".part")
	_, err = s.Backup(t.Context(), to, false, nil)
	wantError(t, err)
	if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a backup is there: %v", err)
	}
}

func TestOneBackupAtATime(t *testing.T) {
	t.Parallel()
	s := populated(t)
	path := filepath.Join(t.TempDir(), "b")
	other := flock.New(path + ".part")
	if ok, err := other.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	_, err := s.Backup(t.Context(), path, false, nil)
	wantError(t, err)
	if err := other.Unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Backup(t.Context(), path, false, nil); err != nil {
		t.Error(err)
	}
	wantOnly(t, filepath.Dir(path), "b")
}

// Whatever keeps a file from taking another's place, one of them is there.
func TestReplaceFile(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"-wal", "-shm", ""} {
		dir := t.TempDir()
		from, path := filepath.Join(dir, "new"), filepath.Join(dir, "old")
		if err := os.WriteFile(from, []byte("new"), 0o600); err != nil {
			t.Fatal(err)
		}
		block(t, path+end)
		if err := replaceFile(from, path); err == nil {
			t.Errorf("%q in the way, and nobody is told", end)
		}
		if content(t, from) != "new" {
			t.Errorf("%q in the way, and the new one is gone", end)
		}
		if err := os.RemoveAll(path + end); err != nil {
			t.Fatal(err)
		}
		if err := replaceFile(from, path); err != nil || content(t, path) != "new" {
			t.Errorf("with nothing in the way: %v", err)
		}
	}
}

// A file of a newer version is neither made again nor taken over from.
func TestDamageToANewerVersion(t *testing.T) {
	t.Parallel()
	newer := fmt.Sprint("PRAGMA user_version = ", len(migrations)+1)
	dir := written(t)
	execute(t, raw(t, dir), newer)
	unclose(t, dir)
	damage(t, dir, "segment")
	before := content(t, filepath.Join(dir, FileName))
	_, _, err := reopen(t, dir)
	wantError(t, err)
	if content(t, filepath.Join(dir, FileName)) != before {
		t.Error("the database isn't as it was")
	}

	dir = written(t)
	conn := raw(t, dir)
	execute(t, conn, newer)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	s, r := restored(t, dir, backUp(t, populated(t)))
	if r.Known {
		t.Errorf("%+v", r)
	}
	wantError(t, r.Unknown)
	if got := find(t, s, in(general), "number12"); len(got) != 1 {
		t.Errorf("found %v", got)
	}
}

// Restoring a backup whose full text is of other rules makes it again, and tells.
func TestRestoreTellsOfEverything(t *testing.T) {
	t.Parallel()
	s := populated(t)
	execute(t, s.write, "UPDATE meta SET value = '0' WHERE key = 'terms'")
	told := map[string]bool{}
	dir := t.TempDir()
	if _, err := Restore(t.Context(), dir, backUp(t, s), func(what string, done, total int64) {
		if done > total {
			t.Errorf("%s: %d of %d", what, done, total)
		}
		told[what] = true
	}); err != nil || !told["copying"] || !told["indexing words"] {
		t.Errorf("told %v, %v", told, err)
	}
	if got := find(t, open(t, dir), in(general), "number12"); len(got) != 1 {
		t.Errorf("found %v", got)
	}
}

// An answer that was taken back because of a fact isn't brought back by a backup from before that.
func TestRestoredAnswerFromAFactThatIsGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	answer := posted(general, 5, "she sails")
	answer.Message.Kind = memory.FromHark
	apply(t, s, posted(general, 1, "hello"), memory.FactTold{Guild: guild, User: 7, Fact: memory.Fact{ID: 3, Text: "sails", By: 7}}, answer,
		memory.Answered{Trace: memory.Trace{Guild: guild, Channel: general, Answer: id(5), Asker: 8, Facts: []int64{3}}})
	backup := backUp(t, s)
	apply(t, s, memory.FactGone{Guild: guild, User: 7, Fact: 3})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Restore(t.Context(), dir, backup, nil)
	if err != nil || r.Facts != 1 {
		t.Fatalf("restored %+v, %v", r, err)
	}
	s = open(t, dir)
	if log, err := s.Log(bg, general, 0, id(100), 10); err != nil || len(log) != 1 {
		t.Errorf("the log is %v, %v", log, err)
	}
	if got := find(t, s, in(general), "sails"); len(got) > 0 {
		t.Errorf("found %v", got)
	}
	checkSound(t, s)
}

// What can't be made again is refused beside another that has it open as well, and whoever asks for what is made again
// is told.
func TestExamineTells(t *testing.T) {
	t.Parallel()
	dir := written(t)
	execute(t, raw(t, dir), "UPDATE channel SET messages = 77")
	var told []string
	e, err := Examine(t.Context(), dir, Options{Mended: func(what string) { told = append(told, what) }})
	if err != nil || len(told) != 1 || !slices.Equal(told, e.Mended) {
		t.Errorf("told %q of %+v, %v", told, e, err)
	}
	open(t, dir)
	damage(t, dir, "tombstone")
	before := content(t, filepath.Join(dir, FileName))
	e, err = Examine(t.Context(), dir, Options{})
	if !errors.Is(err, ErrDamaged) || len(e.Mended)+len(e.Wrong) > 0 {
		t.Errorf("%+v, %v", e, err)
	}
	wantError(t, err)
	if content(t, filepath.Join(dir, FileName)) != before {
		t.Error("the database isn't as it was")
	}
}

// Making again what was made wholly begins anew.
func TestReindexTwice(t *testing.T) {
	t.Parallel()
	s := populated(t)
	for range 2 {
		n := 0
		if err := s.Reindex(bg, func(done, _ int) { n = done }); err != nil || n != 31 {
			t.Errorf("%d made again, %v", n, err)
		}
		drain(t, s)
	}
	checkSound(t, s)
}

// Removed text stays in the write-ahead log no longer than somebody reads, and who waits for that is told.
func TestALogThatCannotBeEmptied(t *testing.T) {
	t.Parallel()
	dir := written(t)
	s, err := quick(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	reader := raw(t, dir)
	execute(t, reader, "BEGIN")
	execute(t, reader, "SELECT count(*) FROM message")
	apply(t, s, deleted(general, 3))
	wantError(t, s.EmptyLog(bg))
	s.writer.turn <- struct{}{}
	ended, cancel := context.WithCancel(bg)
	cancel()
	if err := s.EmptyLog(ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-s.writer.turn
	s.writer.patience = wait.Limit
	if err := s.EmptyLog(&endsAfter{Context: bg, asked: 1}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.writer.patience = time.Millisecond
	execute(t, reader, "ROLLBACK")
	if err := s.EmptyLog(bg); err != nil || !s.writer.removed.IsZero() {
		t.Error(err)
	}
	if info, err := os.Stat(filepath.Join(dir, FileName+"-wal")); err != nil || info.Size() != 0 {
		t.Errorf("the log: %v, %v", info, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.EmptyLog(bg); err == nil {
		t.Error("the log of a closed file was emptied")
	}
}

// endsAfter is a context that has ended once it has been asked for its end some times.
type endsAfter struct {
	context.Context
	asked int
}

func (c *endsAfter) Done() <-chan struct{} {
	ended := make(chan struct{})
	if c.asked--; c.asked < 0 {
		close(ended)
	}
	return ended
}

func (c *endsAfter) Err() error { return context.Canceled }

// A part of an answer that was deleted in Discord isn't shown there any more, when the answer must go.
func TestAnAnswerOfWhichAPartIsGone(t *testing.T) {
	t.Parallel()
	s := populated(t)
	apply(t, s, posted(general, 72, "the rest of the answer"), deleted(general, 72), deleted(general, 6))
	withdrawn, err := s.Withdrawn(bg, 9)
	if err != nil || len(withdrawn) != 1 || withdrawn[0].Message != id(71) {
		t.Errorf("withdrawn are %+v, %v", withdrawn, err)
	}
	checkSound(t, s)
}
