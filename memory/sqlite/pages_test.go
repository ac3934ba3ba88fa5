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
	wantError(t, err, "open "+closed, remakingName)
	_, err = Restore(t.Context(), closed, backup, nil)
	wantError(t, err, remakingName)
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
	wantError(t, err, "make the data directory", "name one that can be made")
	_, err = s.Backup(t.Context(), filepath.Join(backup, "b"), false, nil)
	wantError(t, err, "back up to", "not a directory")
	to := filepath.Join(t.TempDir(), "b")
	block(t, to+".part")
	_, err = s.Backup(t.Context(), to, false, nil)
	wantError(t, err, "back up to "+to, "name a file in a directory that can be written")
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
	wantError(t, err, "another backup is being written there", "wait for it, or name another file")
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
		wantError(t, replaceFile(from, path), path)
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
	wantError(t, syncPath(filepath.Join(t.TempDir(), "none")), "no such file")
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
	wantError(t, err, "make what is damaged again", "made by a newer Hark than this one", "use the newer Hark")
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
	wantError(t, r.Unknown, "made by a newer Hark than this one")
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
	wantError(t, err, "damaged: tombstone", "restore a backup")
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

// Each event is the first that is heard of its guild.
func TestEveryStatementOfAFirstEventMayFail(t *testing.T) {
	t.Parallel()
	s := populated(t)
	for i, e := range []func(memory.GuildID) memory.Event{
		func(g memory.GuildID) memory.Event { return memory.Asked{Guild: g, Channel: 8, Message: id(1)} },
		func(g memory.GuildID) memory.Event {
			return memory.Learned{Guild: g, Channel: memory.ChannelID(g), Until: id(1)}
		},
		func(g memory.GuildID) memory.Event { return memory.GuildLeft{Guild: g, At: id(1).Time()} },
		func(g memory.GuildID) memory.Event { return memory.RoleGone{Guild: g, Role: 8} },
		func(g memory.GuildID) memory.Event {
			return memory.ChannelDeleted{Guild: g, Channel: memory.ChannelID(g), At: id(1).Time()}
		},
		func(g memory.GuildID) memory.Event {
			return memory.Chose{Guild: g, Choice: memory.Remember, At: id(1).Time()}
		},
		func(g memory.GuildID) memory.Event {
			return memory.Chose{Guild: g, Channel: memory.ChannelID(g), Choice: memory.Ignore, At: id(1).Time()}
		},
		func(g memory.GuildID) memory.Event {
			return memory.PersonSeen{Person: memory.Person{Guild: g, ID: 1, Username: "ann"}}
		},
		func(g memory.GuildID) memory.Event {
			return memory.Opted{Guild: g, User: 9, Out: true, At: id(1).Time()}
		},
	} {
		prepared, err := s.prepare([]memory.Event{e(memory.GuildID(7000 + i))})
		if err != nil {
			t.Fatal(err)
		}
		everyStatementFails(t, s, func(t *transaction) error { return t.apply(&prepared[0]) })
	}
	checkSound(t, s)
}

// Where what readers hold in memory can't be read, a write says so.
func TestWritesBesideClosedReaders(t *testing.T) {
	t.Parallel()
	s := populated(t)
	if got := s.newestMessage(); got != id(95) {
		t.Errorf("the newest is %d", got)
	}
	s.newestRead = false
	if err := s.read.Close(); err != nil {
		t.Fatal(err)
	}
	if got := s.newestMessage(); got < id(1<<30) {
		t.Errorf("of what can't be read, the newest is %d", got)
	}
	err := s.writing(bg, func(t *transaction) error { t.changed.space = true; return nil })
	wantError(t, err, "write to the database: ", "closed")
	wantError(t, s.Apply(bg, posted(general, 500, "x")), "write to the database: ", "closed") // it looks for what others wrote
	s.watch.conn = nil                                                                        // closed already
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, s.dir)
	drain(t, again)
	checkSound(t, again)
}

// Another space may take the place of the one that was asked for at any time.
func TestASpaceThatIsNotInUse(t *testing.T) {
	t.Parallel()
	s := populated(t)
	other := s.options.Space
	other.Name = "other"
	if x, err := s.index(bg, 1, other); x != nil || err != nil {
		t.Errorf("%v, %v", x, err)
	}
	want := dump(t, s)
	s.options.Space = other
	for n := range 2 { // the second time as if another process had been faster
		if err := s.writing(bg, (*transaction).useSpace); err != nil {
			t.Fatal(err)
		}
		if got := dump(t, s); (n == 0) != (got != want) {
			t.Errorf("the file is now\n%s\nand was\n%s", got, want)
		}
		want = dump(t, s)
	}
	execute(t, s.write, "INSERT OR REPLACE INTO meta VALUES ('sweep', '')")
	execute(t, s.write, "INSERT INTO vector_next VALUES (77, x'00')")
	everyStatementFails(t, s, func(t *transaction) error { _, err := t.side(); return err })
	drain(t, s)
	checkSound(t, s)
}

// What a forgetting does last, and what asks whether something is forgotten.
func TestEveryStatementAboutAForgettingMayFail(t *testing.T) {
	t.Parallel()
	s := populated(t)
	apply(t, s, inGuild(300, 1, "pears"))
	var begun int64
	if err := s.writing(bg, func(t *transaction) (err error) {
		begun, err = t.forget(memory.Forgetting{Guild: 300, Why: memory.WhyLeft, At: id(5).Time()})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	everyStatementFails(t, s, func(t *transaction) error {
		gone, err := t.isGone(guild, general, id(1))
		if err == nil && gone {
			err = errors.New("it is forgotten")
		}
		return err
	})
	if _, err := s.CarryOut(bg, begun, nil); err != nil {
		t.Fatal(err)
	}
	execute(t, s.write, "UPDATE forgetting SET whole = 1, done = 0") // as if it had been cut short just before
	everyStatementFails(t, s, func(t *transaction) error { return t.finish(begun) })
	if unfinished, err := s.Unfinished(bg); err != nil || len(unfinished) > 0 {
		t.Errorf("unfinished are %v, %v", unfinished, err)
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
	wantError(t, s.EmptyLog(bg), "somebody has been reading the database for so long", "try again")
	s.writer.turn <- struct{}{}
	ended, cancel := context.WithCancel(bg)
	cancel()
	if err := s.EmptyLog(ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-s.writer.turn
	s.writer.patience = time.Minute
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

func TestARoleGoneFromOverwritesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := populated(t)
	before := dump(t, s)
	err := s.writing(bg, func(t *transaction) error {
		if err := t.exec("UPDATE channel SET overwrites = '{'"); err != nil {
			return err
		}
		return t.loseRole(memory.RoleGone{Guild: guild, Role: 8})
	})
	wantError(t, err, "read the overwrites of a channel: unexpected end of JSON")
	if dump(t, s) != before {
		t.Error("the file isn't as it was")
	}
}
