package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"hark/memory"
)

func backUp(t *testing.T, s *Store) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hark.backup")
	if _, err := Backup(t.Context(), s.engine.dir, path, false, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

func wantOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	must(t, err)
	var got []string
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
		got = append(got, f.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(names) {
		t.Errorf("the directory holds %q, want %q", got, names)
	}
}

func TestConcurrentBackups(t *testing.T) {
	t.Parallel()
	s := populated(t)
	ctx, cancel := context.WithCancel(t.Context())
	wrote := make(chan error)
	go func() {
		for n := 2000; ; n += 2 { // two at a time; a backup holds both or none
			if err := s.Apply(context.Background(), posted(general, n, "pears twinned"),
				posted(secret, n, "plums twinned")); err != nil || ctx.Err() != nil {
				wrote <- err
				return
			}
		}
	}()
	path := filepath.Join(t.TempDir(), "b")
	for range 5 {
		told := int64(-1)
		info, err := Backup(t.Context(), s.engine.dir, path, false, func(done, total int64) {
			if done < told || done > total || total == 0 {
				t.Errorf("%d of %d after %d", done, total, told)
			}
			told = done
		})
		if err != nil || told < 0 {
			t.Fatal(told, err)
		}
		got, err := ReadBackup(t.Context(), path)
		if err != nil || got != info || info.Messages < 30 || info.Channels < 1 || info.Guilds != 1 ||
			info.Newest.IsZero() {
			t.Fatalf("%+v, %+v, %v", info, got, err)
		}
	}
	cancel()
	must(t, <-wrote)
	wantOnly(t, filepath.Dir(path), "b")
	dir := t.TempDir()
	must(t, os.Rename(path, filepath.Join(dir, FileName)))
	restored := open(t, dir)
	checkPairs(t, restored)
	drain(t, restored)
	checkSound(t, restored)
}

func checkPairs(t *testing.T, s *Store) {
	t.Helper()
	var pairs, alone int
	if err := s.engine.read.QueryRow(`SELECT count(*), count(*) FILTER (WHERE n <> 2)
		FROM (SELECT count(*) AS n FROM message WHERE id >= ? GROUP BY id)`,
		int64(id(2000))).Scan(&pairs, &alone); err != nil || pairs == 0 || alone > 0 {
		t.Errorf("%d pairs, %d of them halves: %v", pairs, alone, err)
	}
}

func TestBackupOverwritesBackupsOnly(t *testing.T) {
	t.Parallel()
	s := populated(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"letter", "empty"} {
		content := strings.TrimPrefix(name, "empty")
		must(t, os.WriteFile(at(name), []byte(content), 0o600))
		_, err := Backup(t.Context(), s.engine.dir, at(name), false, nil)
		wantError(t, err)
		if b, err := os.ReadFile(at(name)); err != nil || string(b) != content {
			t.Errorf("%s is now %q, %v", name, b, err)
		}
	}
	for _, force := range []bool{true, false} { // the second time it is one
		if _, err := Backup(t.Context(), s.engine.dir, at("letter"), force, nil); err != nil {
			t.Error(err)
		}
	}
	must(t, os.Chmod(at("letter"), 0o644))
	if _, err := Backup(t.Context(), s.engine.dir, at("letter"), false, nil); err != nil {
		t.Error(err)
	}
	wantOnly(t, dir, "empty", "letter")
	other := flock.New(at("taken") + ".part") // by another backup
	if ok, err := other.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer other.Unlock()
	block(t, at("blocked")+".part")
	for _, path := range []string{dir, at("none/x"), at("letter/x"), at("taken"), at("blocked"),
		filepath.Join(s.engine.dir, FileName), filepath.Join(s.engine.dir,
			FileName+"-wal"), filepath.Join(s.engine.dir, LockName)} {
		_, err := Backup(t.Context(), s.engine.dir, path, true, nil)
		wantError(t, err)
	}
	for _, name := range []string{"taken", "blocked"} {
		if _, err := os.Stat(at(name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("half a backup is there: %v", err)
		}
	}
	checkSound(t, s)
}

func TestBackupThatIsCutShortLeavesNothing(t *testing.T) {
	t.Parallel()
	s := populated(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "b")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Backup(ctx, s.engine.dir, path, false, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	wantOnly(t, dir)
	if _, err := Backup(t.Context(), s.engine.dir, path, false, nil); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	must(t, err)
	// The next backup takes over a killed one's partial file.
	must(t, os.WriteFile(path+".part", []byte("half a file"), 0o600))
	if _, err := Backup(ctx, s.engine.dir, path, false, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	wantOnly(t, dir, "b", "b.part")
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	if _, err := Backup(ctx, s.engine.dir, path, false, func(int64, int64) { cancel() }); !errors.Is(err,
		context.Canceled) {
		t.Error(err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the backup that was there isn't as it was: %v", err)
	}
	wantOnly(t, dir, "b")
}

func TestReadBackup(t *testing.T) {
	t.Parallel()
	dir := written(t)
	path := filepath.Join(dir, FileName)
	conn := raw(t, dir)
	execute(t, conn, "PRAGMA user_version = 99")
	execute(t, conn, "PRAGMA wal_checkpoint(TRUNCATE)")
	must(t, conn.Close())
	_, err := ReadBackup(t.Context(), path)
	wantError(t, err)
	other := t.TempDir()
	conn = raw(t, other)
	execute(t, conn, "CREATE TABLE recipe (name)")
	execute(t, conn, "PRAGMA user_version = 1")
	must(t, conn.Close())
	if _, err := ReadBackup(t.Context(), filepath.Join(other, FileName)); !errors.Is(err, ErrNotBackup) {
		t.Error(err)
	}
	if _, err := ReadBackup(t.Context(), filepath.Join(other, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	s := populated(t)
	zeroed(t, s)
	apply(t, s, posted(general, 199, "a first, which empties the log"), posted(general, 200, "another"))
	apply(t, s, posted(general, 201, "is in the log"))
	_, err = ReadBackup(t.Context(), filepath.Join(s.engine.dir, FileName))
	wantError(t, err)
}

// A backup that was cut off says so, wherever that was. SQLite itself doesn't notice that a part of the last page is
// missing.
func TestReadBackupThatWasCutOff(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "b")
	_, err := Backup(t.Context(), written(t), path, false, nil)
	must(t, err)
	all, err := os.ReadFile(path)
	must(t, err)
	for size, want := range map[int]string{
		0: "is empty", 10: "was cut off: it has only 10 bytes", 50: "was cut off: it has only 50 bytes",
		100: "was cut off: it has 100 of ", 5000: "was cut off: ", len(all) / 2: "was cut off: ",
		len(all) - 1: "was cut off: ", len(all): "",
	} {
		must(t, os.WriteFile(path, all[:size], 0o600))
		_, err := ReadBackup(t.Context(), path)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("of %d bytes of %d: %v; want %q", size, len(all), err, want)
		}
	}
	must(t, os.WriteFile(path, []byte(strings.Repeat("no database", 999)), 0o600))
	if _, err := ReadBackup(t.Context(), path); !errors.Is(err, ErrNotBackup) {
		t.Error(err)
	}
}

func restored(t *testing.T, dir, backup string) (*Store, Restored) {
	t.Helper()
	r, err := Restore(t.Context(), dir, backup, Keys{}, nil)
	must(t, err)
	wantOnly(t, dir, FileName, LockName)
	s := open(t, dir)
	drain(t, s)
	checkSound(t, s)
	return s, r
}

func TestRestoreOntoNothing(t *testing.T) {
	t.Parallel()
	s := populated(t)
	drain(t, s)
	want := dump(t, s)
	backup := backUp(t, s)
	dir := filepath.Join(t.TempDir(), "new")
	told := map[string]bool{}
	// outdated full text is rebuilt
	execute(t, s.engine.write, "UPDATE meta SET value = '0' WHERE key = 'terms'")
	if _, err := Restore(t.Context(), t.TempDir(), backUp(t, s), Keys{}, func(what string, done, total int64) {
		if done > total {
			t.Errorf("%s: %d of %d", what, done, total)
		}
		told[what] = true
	}); err != nil || !told["copying"] || !told["indexing words"] {
		t.Errorf("told %v, %v", told, err)
	}
	got, r := restored(t, dir, backup)
	if r.Known || r.Unknown != nil {
		t.Errorf("%+v", r)
	}
	if got := dump(t, got); withoutMark(got) != withoutMark(want) {
		t.Errorf("the restored holds\n%s\nand the original\n%s", got, want)
	}
}

// withoutMark is a dump without the mark of an open file.
func withoutMark(dump string) string {
	return strings.ReplaceAll(dump, openMark+" \n", "")
}

// Forgettings, deletions, edits and decisions since the backup survive the restore, and the forgotten text
// is nowhere in the directory.
func TestRestoreForgetsWhatWasForgottenSince(t *testing.T) {
	t.Parallel()
	s := populated(t)
	const canary, changed, kept = "xylophone1q", "zeppelin2q", "juniper3q"
	apply(t, s, posted(secret, 200, "a "+canary+"a"), posted(secret, 203, "another "+canary+"b"),
		posted(general, 201, "the "+canary+"c"),
		posted(general, 202, "the "+changed), posted(general, 204, "the "+kept))
	drain(t, s)
	backup := backUp(t, s)
	apply(t, s, deleted(general, 201), edited(general, 202, "the new text"), posted(general, 300, "after the backup"))
	forget(t, s, memory.Forgetting{Guild: guild, Channel: secret, Why: memory.WhyPurge})
	for _, e := range []memory.Event{
		memory.Opted{Guild: guild, User: 9, Out: true, At: id(400).Time()},
		memory.Chose{Guild: guild, Choice: memory.RememberPublic, At: id(400).Time()},
		memory.Learn{Guild: guild, On: true, At: id(400).Time()},
		memory.Chose{Guild: guild, Channel: general, Choice: memory.Ignore, At: id(400).Time()},
		memory.SettingChosen{Guild: guild, Channel: general, Key: memory.SettingMode, Value: "search",
			At: id(400).Time()},
		memory.LimitChosen{Guild: guild,
			RoleLimit: memory.RoleLimit{Role: 5, Limit: memory.Limit{Messages: 3}}, At: id(400).Time()},
		spent(1, 400, 30),
	} {
		apply(t, s, e)
	}
	closed(t, s)
	got, r := restored(t, s.engine.dir, backup)
	if !r.Known || r.Unknown != nil || r.Deleted != 1 || r.Edited != 1 || r.OptOuts != 1 || r.Choices != 2 ||
		len(r.Forgettings) != 2 || r.Forgettings[0].Messages != 2 {
		t.Errorf("%+v", r)
	}
	if ids := find(t, got, in(general, secret), canary+"a "+canary+"b "+canary+"c "+changed+" after"); len(ids) > 0 {
		t.Errorf("found %v", ids)
	}
	if ids := find(t, got, in(general), kept+" new"); len(ids) != 2 {
		t.Errorf("of what is to be there, found %v", ids)
	}
	if out, err := memory.HasOptedOut(t.Context(), got, guild, 9); !out || err != nil {
		t.Errorf("opted out: %v, %v", out, err)
	}
	g, err := got.Guild(t.Context(), guild)
	if err != nil || g.Choice != memory.RememberPublic || g.LimitOf(5).Messages != 3 ||
		!g.Learn.Equal(id(400).Time()) {
		t.Errorf("%+v, %v", g, err)
	}
	if mode, _ := g.Setting(general, memory.SettingMode); mode != "search" {
		t.Errorf("the mode is %q", mode)
	}
	if spent, err := got.Spending(t.Context(), guild, id(400).Time()); err != nil || spent[1] != 30 {
		t.Errorf("spent %v, %v", spent, err)
	}
	wantNowhere(t, s.engine.dir, "lophone1q", "eppelin2q")
	apply(t, got, posted(secret, 200, "a "+canary)) // as if fetched again
	if ids := find(t, got, in(secret), canary); len(ids) > 0 {
		t.Error("it came back")
	}
}

func TestRestoreRefusesWhatIsNoBackup(t *testing.T) {
	t.Parallel()
	dir := written(t)
	before, err := os.ReadFile(filepath.Join(dir, FileName))
	must(t, err)
	letter := filepath.Join(t.TempDir(), "letter")
	must(t, os.WriteFile(letter, []byte(strings.Repeat("dear reader ", 1000)), 0o600))
	broken := written(t)
	damage(t, broken, "message")
	for _, path := range []string{letter, filepath.Join(broken, FileName), letter + "x"} {
		_, err := Restore(t.Context(), dir, path, Keys{}, nil)
		wantError(t, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err = Restore(ctx, dir, backUp(t, populated(t)), Keys{}, func(string, int64, int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if files, err := filepath.Glob(filepath.Join(dir, "rest*")); err != nil || len(files) > 0 {
		t.Errorf("%q are left, %v", files, err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, FileName)); err != nil || string(after) != string(before) {
		t.Errorf("the database isn't as it was: %v", err)
	}
	_, err = Restore(t.Context(), filepath.Join(letter, "dir"), backUp(t, populated(t)), Keys{}, nil) // a file is in the way
	wantError(t, err)
	s := open(t, dir)
	if _, err := Restore(t.Context(), dir, backUp(t, s), Keys{}, nil); !errors.Is(err, ErrInUse) {
		t.Error(err)
	}
}

// From a damaged database, what is readable is taken over; from a newer version nothing is.
func TestRestoreOverADamagedDatabase(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"message", "sqlite_schema", "tombstone", "a newer version"} {
		s := populated(t)
		backup := backUp(t, s)
		apply(t, s, deleted(general, 3))
		closed(t, s)
		switch table {
		case "a newer version":
			conn := raw(t, s.engine.dir)
			execute(t, conn, fmt.Sprint("PRAGMA user_version = ", len(migrations)+1))
			must(t, conn.Close())
		case "sqlite_schema":
			must(t, os.WriteFile(filepath.Join(s.engine.dir, FileName), []byte(strings.Repeat("rubbish", 9999)), 0o600))
		default:
			damage(t, s.engine.dir, table)
		}
		got, r := restored(t, s.engine.dir, backup)
		if r.Known || r.Unknown == nil {
			t.Errorf("%s: %+v", table, r)
		}
		if (table == "message") != (r.Deleted == 1) { // what can be read is taken over
			t.Errorf("%s: %d deleted", table, r.Deleted)
		}
		if table == "a newer version" {
			wantError(t, r.Unknown)
		}
		if ids := find(t, got, in(general), "number12"); len(ids) != 1 {
			t.Errorf("%s: found %v", table, ids)
		}
	}
}

// A killed backup's remains are found wherever they are, and a running backup is left alone.
func TestWhatAKilledBackupLeavesIsRemoved(t *testing.T) {
	t.Parallel()
	dir, elsewhere := emptyDir(t), t.TempDir()
	s := open(t, dir)
	part := filepath.Join(elsewhere, "b.part")
	if _, err := notePart(s.engine.dir, part); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b.part", "b.part-journal", "b", "mine.part"} {
		must(t, os.WriteFile(filepath.Join(elsewhere, name), []byte("half a file"), 0o600))
	}
	writing := flock.New(part)
	if ok, err := writing.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	must(t, DropParts(dir))
	wantOnly(t, elsewhere, "b", "b.part", "b.part-journal", "mine.part")
	must(t, writing.Unlock())
	must(t, DropParts(dir))
	wantOnly(t, elsewhere, "b", "mine.part")
	if _, err := Backup(bg, s.engine.dir, filepath.Join(elsewhere, "whole"), false, nil); err != nil {
		t.Fatal(err)
	}
	if notes, err := filepath.Glob(filepath.Join(dir, partNote+"*")); err != nil || len(notes) > 0 {
		t.Errorf("left %q, %v", notes, err)
	}
	if _, err := notePart(s.engine.dir, filepath.Join(elsewhere, "gone.part")); err != nil {
		t.Fatal(err)
	}
	if err := DropParts(dir); err != nil {
		t.Errorf("where nothing is left: %v", err)
	}
}

// block puts a directory that can't be removed where a file should be.
func block(t *testing.T, path string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Join(path, "in the way"), 0o700))
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

// Whatever prevents the replacement, one of the two files is there.
func TestReplaceFile(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"-wal", "-shm", ""} {
		dir := t.TempDir()
		from, path := filepath.Join(dir, "new"), filepath.Join(dir, "old")
		must(t, os.WriteFile(from, []byte("new"), 0o600))
		block(t, path+end)
		if err := replaceFile(from, path); err == nil {
			t.Errorf("%q in the way, and nobody is told", end)
		}
		if content(t, from) != "new" {
			t.Errorf("%q in the way, and the new one is gone", end)
		}
		must(t, os.RemoveAll(path+end))
		if err := replaceFile(from, path); err != nil || content(t, path) != "new" {
			t.Errorf("with nothing in the way: %v", err)
		}
	}
}
