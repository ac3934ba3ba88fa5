package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/memory"
	"hark/memory/memorytest"
)

// raw is a connection to the file in dir that knows nothing of Hark.
func raw(t *testing.T, dir string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); db.Close() })
	return conn
}

func execute(t testing.TB, conn *sql.Conn, query string, args ...any) {
	t.Helper()
	if _, err := conn.ExecContext(context.Background(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// stored is the directory of a closed store with some messages, embedded.
func stored(t *testing.T, messages int) string {
	t.Helper()
	dir := t.TempDir()
	s := open(t, dir)
	for n := range messages {
		apply(t, s, posted(general, n, fmt.Sprintf("apples number%d %s", n, strings.Repeat("filler ", 40))))
	}
	drain(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// quick opens a store that waits for nobody long.
func quick(t *testing.T, dir string) (*Store, error) {
	s := &Store{options: Options{Space: memorytest.Embedder{}.Space(), Tokens: words}, wake: make(chan struct{}, 1)}
	t.Cleanup(func() { s.Close() })
	return s, s.open(t.Context(), filepath.Join(dir, FileName), time.Millisecond)
}

// wantError checks that an error says all of words, and nothing of the content of messages.
func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error; want one that says %q", words)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q doesn't say %q", err, word)
		}
	}
}

func TestFilesAreTheirOwnersOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "data")
	s := open(t, dir)
	apply(t, s, posted(general, 1, "apples"))
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory: %v, %v", info.Mode(), err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) < 2 {
		t.Errorf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		if info, err := file.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file.Name(), info.Mode(), err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, FileName)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("after others could read it: %v, %v", info.Mode(), err)
	}
}

func TestOpenWithoutOptionsAndTwiceClosed(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, s, posted(general, 1, "apples"))
	if m, err := s.Messages(t.Context(), general, []memory.MessageID{id(1)}); err != nil || len(m) != 1 || m[0].Tokens != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	wantError(t, s.Apply(t.Context(), posted(general, 2, "apples")), "the store is closed")
	_, err = s.Guilds(t.Context())
	wantError(t, err, "look for the writes of others")
}

func TestOpenWhereNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	taken := t.TempDir()
	if err := os.Mkdir(filepath.Join(taken, FileName), 0o700); err != nil {
		t.Fatal(err)
	}
	locked := t.TempDir()
	if err := os.Chmod(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	cases := map[string][]string{file: {"make the data directory", "name one that can"}, taken: {"open the database", "directory"}}
	if os.Geteuid() == 0 {
		t.Log("root may write anywhere: a directory without permission isn't tried")
	} else {
		cases[locked] = []string{"open the database", "permission denied", "give Hark a directory"}
	}
	for dir, want := range cases {
		_, err := Open(t.Context(), dir, Options{})
		wantError(t, err, want...)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "mine" {
		t.Errorf("the file in the way now holds %q, %v", b, err)
	}
}

func TestOpenWhatIsNoDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	text := bytes.Repeat([]byte("This is a letter and no database. "), 100)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), dir, Options{})
	wantError(t, err, path, "damaged or not a database of Hark's", "restore a backup")
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, text) {
		t.Errorf("the letter was changed: %v", err)
	}
}

func TestNewerVersionsAreLeftAlone(t *testing.T) {
	t.Parallel()
	dir := stored(t, 3)
	execute(t, raw(t, dir), "PRAGMA user_version = 99")
	_, err := Open(t.Context(), dir, Options{})
	wantError(t, err, "version 99", "use the newer Hark")
	execute(t, raw(t, dir), fmt.Sprintf("PRAGMA user_version = %d", len(migrations)))
	if got := find(t, open(t, dir), in(general), "apples"); len(got) != 3 {
		t.Errorf("%d of 3 are left", len(got))
	}
}

// A migration that fails leaves the file as it was; where another process was faster, nothing is done twice.
func TestMigrations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, FileName), nil, 0o600); err != nil { // version 0
		t.Fatal(err)
	}
	conn := raw(t, dir)
	execute(t, conn, "CREATE TABLE channel (in_the_way)")
	_, err := Open(t.Context(), dir, Options{})
	wantError(t, err, "migrate the database to version 1", "channel")
	var names string
	if err := conn.QueryRowContext(t.Context(), "SELECT group_concat(name) FROM sqlite_schema").Scan(&names); err != nil || names != "channel" {
		t.Errorf("the file holds %q, %v", names, err)
	}
	execute(t, conn, "DROP TABLE channel")
	s := open(t, dir)
	apply(t, s, posted(general, 1, "apples"))
	before := dump(t, s)
	if err := migrateOne(t.Context(), s.write, 0); err != nil {
		t.Errorf("the second to migrate: %v", err)
	}
	if dump(t, s) != before {
		t.Error("the second to migrate changed something")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := migrateOne(ended, s.write, 0); err == nil {
		t.Error("migrated although it was told not to")
	}
	if err := migrate(ended, s.write); err == nil {
		t.Error("looked at the version although it was told not to")
	}
}

func TestDamage(t *testing.T) {
	t.Parallel()
	dir := stored(t, 300)
	path := filepath.Join(dir, FileName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	damage := func(from, to int) {
		bad := bytes.Clone(whole)
		for i := from * page; i < min(to*page, len(bad)); i++ {
			bad[i] = 0xA5
		}
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damage(1, len(whole)/page) // all but the schema
	_, err = Open(t.Context(), dir, Options{})
	wantError(t, err, path, "damaged", "restore a backup")

	damage(len(whole)/page-30, len(whole)/page) // where the last messages and their index lie
	s := open(t, dir)
	_, textErr := s.FullText(t.Context(), in(general), []string{"appl"}, 300)
	_, readErr := s.Around(t.Context(), general, []memory.MessageID{id(299)}, 300, 0)
	if textErr == nil && readErr == nil {
		t.Fatal("the damage hit nothing")
	}
	for _, err := range []error{textErr, readErr} {
		if err != nil {
			wantError(t, err, "damaged", "restore a backup")
		}
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestALockedDatabase(t *testing.T) {
	t.Parallel()
	dir := stored(t, 3)
	s, err := quick(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	other := raw(t, dir)
	execute(t, other, "BEGIN IMMEDIATE")
	wantError(t, s.Apply(t.Context(), posted(general, 7, "apples")), "write to the database", "another process holds the database", "stop it or wait")
	if got := find(t, s, in(general), "apples"); len(got) != 3 {
		t.Errorf("%d of 3 are found meanwhile", len(got))
	}
	execute(t, other, "ROLLBACK")
	apply(t, s, posted(general, 7, "apples"))
	if got := find(t, s, in(general), "apples"); len(got) != 4 {
		t.Errorf("%d of 4 are found", len(got))
	}

	fresh := t.TempDir()
	other = raw(t, fresh)
	execute(t, other, "CREATE TABLE something (x)")
	execute(t, other, "BEGIN EXCLUSIVE")
	_, err = quick(t, fresh)
	wantError(t, explain(err), "another process holds the database")
}

// A full disk refuses what is new and keeps what is old; with room again, everything goes on.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	s := open(t, stored(t, 20))
	before := dump(t, s)
	limit := func(pages string) { execute(t, s.write, "PRAGMA max_page_count = "+pages) }
	limit("1") // SQLite takes it as "no more than there are"
	var events []memory.Event
	for n := 100; n < 200; n++ {
		events = append(events, posted(general, n, strings.Repeat("pears are much ", 50)))
	}
	for range 2 {
		wantError(t, s.Apply(t.Context(), events...), "the disk is full", "make room", "nothing that was stored is lost")
	}
	if dump(t, s) != before {
		t.Error("something was half-written")
	}
	limit("1000000")
	apply(t, s, events...)
	if got := find(t, s, in(general), "pears"); len(got) != 100 {
		t.Errorf("%d of 100 are found", len(got))
	}
	checkSound(t, s)
}

// Full text that was made by other rules is made again, and progress is told.
func TestOtherTerms(t *testing.T) {
	t.Parallel()
	dir := stored(t, 1100)
	s := open(t, dir)
	apply(t, s, memory.Posted{Message: memory.Message{ID: id(5000), Guild: guild, Channel: general, Kind: memory.FromHark, Content: "apples, said Hark"}},
		memory.Posted{Message: memory.Message{ID: id(5001), Guild: guild, Channel: general, Files: []memory.File{{Name: "quinces.png"}}}})
	before := dump(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	conn := raw(t, dir)
	execute(t, conn, "UPDATE meta SET value = '0' WHERE key = 'terms'")
	execute(t, conn, "INSERT INTO fulltext (fulltext) VALUES ('delete-all')")
	execute(t, conn, "INSERT INTO fulltext (rowid, content) VALUES (1, 'old')")

	ended, cancel := context.WithCancel(t.Context())
	options := Options{Space: memorytest.Embedder{}.Space(), Tokens: words, Progress: func(done, total int) { cancel() }}
	_, err := Open(ended, dir, options)
	wantError(t, err, "context canceled")

	var told [][2]int
	options.Progress = func(done, total int) { told = append(told, [2]int{done, total}) }
	s, err = Open(t.Context(), dir, options)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if want := [][2]int{{500, 1102}, {1000, 1102}, {1102, 1102}}; !slices.Equal(told, want) {
		t.Errorf("progress was %v", told)
	}
	if dump(t, s) != before {
		t.Error("it isn't as it was before")
	}
	for query, want := range map[string]int{"number1099": 1, "quinces": 1, "hark": 0} {
		if got := find(t, s, in(general), query); len(got) != want {
			t.Errorf("%q finds %v", query, got)
		}
	}
	checkSound(t, s)
}

func TestNumbersThatRunOut(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	apply(t, s, posted(general, 1, "apples"))
	execute(t, s.write, "UPDATE channel SET no = (1 << 20) + (1 << 20) - 1")
	wantError(t, s.Apply(t.Context(), posted(secret, 2, "apples")), "guild 100 has 1048575 channels")
	execute(t, s.write, "INSERT INTO guild (no, id) VALUES (32767, 5)")
	wantError(t, s.Apply(t.Context(), memory.GuildSeen{Guild: memory.Guild{ID: 6}}), "32767 guilds")
	if _, err := s.Guild(t.Context(), 6); err == nil {
		t.Error("half a guild is there")
	}
}
