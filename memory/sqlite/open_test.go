package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/internal/fixture"
	"hark/internal/golden"
	"hark/memory"
	"hark/memory/memorytest"
)

func raw(t *testing.T, dir string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	must(t, err)
	conn, err := db.Conn(t.Context())
	must(t, err)
	t.Cleanup(func() { conn.Close(); db.Close() })
	return conn
}

func execute(t testing.TB, conn *sql.Conn, query string, args ...any) {
	t.Helper()
	if _, err := conn.ExecContext(context.Background(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func stored(t *testing.T, messages int) string {
	t.Helper()
	return fixture.Dir(t, fmt.Sprintf("%d stored", messages), func(dir string) {
		s := openOnce(t, dir)
		var events []memory.Event
		for n := range messages {
			events = append(events, posted(general, n,
				fmt.Sprintf("apples number%d %s", n, strings.Repeat("filler ", 40))))
		}
		apply(t, s, events...)
		drain(t, s)
		closed(t, s)
	})
}

func quick(t *testing.T, dir string) (*Store, error) {
	s := newStore(&engine{options: Options{Space: memorytest.Embedder{}.Space(), Tokens: words}})
	t.Cleanup(func() { s.Close() })
	return s, s.open(t.Context(), filepath.Join(dir, FileName), time.Millisecond)
}

// wantError checks that an error is as in testdata/seen.txtar, and holds no text of messages.
func wantError(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Error("no error")
		return
	}
	if strings.Contains(err.Error(), "apples") {
		t.Errorf("%v tells what was said", err)
	}
	root := regexp.QuoteMeta(filepath.Dir(t.TempDir()))
	seen := regexp.MustCompile(root+`/\d+`).ReplaceAllString(err.Error(), "DIR")
	golden.Seen(t, regexp.MustCompile(`\b(Tree|page) \d+`).ReplaceAllString(seen, "$1 N"))
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
	closed(t, s)
	path := filepath.Join(dir, FileName)
	must(t, os.Chmod(path, 0o644))
	open(t, dir)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("after others could read it: %v, %v", info.Mode(), err)
	}
}

func TestOpenWithoutOptionsAndTwiceClosed(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), t.TempDir(), Options{})
	must(t, err)
	apply(t, s, posted(general, 1, "apples"))
	if m, err := s.Around(t.Context(), general, []memory.MessageID{id(1)}, 0, 0); err != nil || len(m) != 1 ||
		m[0].Tokens != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	wantError(t, s.Apply(t.Context(), posted(general, 2, "apples")))
	if _, err = s.Guilds(t.Context()); err == nil {
		t.Error("a closed store answers")
	}
}

// A read of a store that is being closed returns a result or an error.
func TestReadingWhileClosing(t *testing.T) {
	t.Parallel()
	for range 20 {
		s := openOnce(t, t.TempDir())
		apply(t, s, posted(general, 1, "apples"))
		var readers sync.WaitGroup
		begun := make(chan struct{}, 4)
		for range 4 {
			readers.Go(func() {
				for first := true; ; first = false {
					if _, err := s.Guilds(context.Background()); err != nil {
						return
					}
					if first {
						begun <- struct{}{}
					}
				}
			})
		}
		for range 4 {
			<-begun
		}
		closed(t, s)
		readers.Wait()
	}
}

// What can't be opened as a store gives an error with advice and stays unchanged, and so does Inspect.
func TestWhatCannotBeOpened(t *testing.T) {
	t.Parallel()
	const letter = "This is a letter and no database, but for its name."
	file := func(name, content string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
		}
	}
	folder := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { must(t, os.Mkdir(filepath.Join(dir, name), 0o700)) }
	}
	sql := func(query string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { execute(t, raw(t, dir), query) }
	}
	for _, c := range []struct {
		name, dir string
		make      func(t *testing.T, dir string)
		seen      bool // whether it can be looked at
	}{
		{"a file where the directory should be", "file", file("file", letter), false},
		{"a directory where the database should be", "", folder(FileName), false},
		{"a directory where the lock should be", "", folder(LockName), true},
		{"a letter", "", file(FileName, strings.Repeat(letter, 100)), false},
		{"something in the way of the schema", "", sql("CREATE TABLE channel (in_the_way)"), true},
		{"a newer version", "", sql("PRAGMA user_version = 99"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c.make(t, dir)
			_, err := Open(t.Context(), filepath.Join(dir, c.dir), Options{})
			wantError(t, err)
			if _, err := Inspect(t.Context(), filepath.Join(dir, c.dir)); (err == nil) != c.seen {
				t.Errorf("looked at: %v", err)
			} else if err != nil {
				wantError(t, err)
			}
			if c.name != "a newer version" && !c.seen {
				wantUnchanged(t, dir, letter)
			}
		})
	}
	for _, query := range []string{"UPDATE guild SET owner = 'x'", "DROP TABLE forgetting"} { // of Hark's own
		dir := stored(t, 1)
		execute(t, raw(t, dir), query)
		if _, err := Open(t.Context(), dir, Options{}); err == nil && !strings.HasPrefix(query, "DROP") {
			t.Errorf("%s: opened what can't be read", query)
		}
		if _, err := Inspect(t.Context(), dir); err == nil && strings.HasPrefix(query, "DROP") {
			t.Errorf("%s: looked at what can't be read", query)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ended, t.TempDir(), Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func wantUnchanged(t *testing.T, dir, text string) {
	t.Helper()
	must(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && name != LockName &&
			strings.ReplaceAll(content(t, filepath.Join(dir, name)), text, "") != "" {
			t.Errorf("%s was changed", name)
		}
		return err
	}))
}

func TestALockedDatabase(t *testing.T) {
	t.Parallel()
	dir := stored(t, 3)
	s, err := quick(t, dir)
	must(t, err)
	other := raw(t, dir)
	execute(t, other, "BEGIN IMMEDIATE")
	wantError(t, s.Apply(t.Context(), posted(general, 7, "apples")))
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
	wantError(t, explain(err))
}

// A full disk refuses new data and keeps the old. With room again, everything goes on.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	s := open(t, stored(t, 20))
	before := dump(t, s)
	limit := func(pages string) { execute(t, s.engine.write, "PRAGMA max_page_count = "+pages) }
	limit("1") // SQLite takes it as "no more than there are"
	var events []memory.Event
	for n := 100; n < 200; n++ {
		events = append(events, posted(general, n, strings.Repeat("pears are much ", 50)))
	}
	for range 2 {
		wantError(t, s.Apply(t.Context(), events...))
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

// Outdated full text is rebuilt, from where it was interrupted, and progress is reported.
func TestOtherTerms(t *testing.T) {
	t.Parallel()
	dir := stored(t, 1100)
	s := open(t, dir)
	apply(t, s, memory.Posted{Message: memory.Message{ID: id(5000), Guild: guild, Channel: general,
		Kind: memory.FromHark, Content: "apples, said Hark"}},
		memory.Posted{Message: memory.Message{ID: id(5001), Guild: guild, Channel: general,
			Files: []memory.File{{Name: "quinces.png"}}}})
	before := dump(t, s)
	closed(t, s)
	conn := raw(t, dir)
	execute(t, conn, "UPDATE meta SET value = '0' WHERE key = 'terms'")
	execute(t, conn, "INSERT INTO fulltext (fulltext) VALUES ('delete-all')")
	execute(t, conn, "INSERT INTO fulltext (rowid, content) VALUES (1, 'old')")

	ended, cancel := context.WithCancel(t.Context())
	options := Options{Space: memorytest.Embedder{}.Space(), Tokens: words, Progress: func(done, total int) {
		cancel()
	}}
	_, err := Open(ended, dir, options)
	wantError(t, err)

	told := []int{100} // what was done when it was cut short, or more
	options.Progress = func(done, total int) {
		if told = append(told, done); done <= told[len(told)-2] || total != 1102 {
			t.Errorf("after %d it told of %d of %d", told, done, total)
		}
	}
	s, err = Open(t.Context(), dir, options)
	must(t, err)
	defer s.Close()
	if told[len(told)-1] != 1102 {
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
	s := open(t, emptyDir(t))
	apply(t, s, posted(general, 1, "apples"))
	execute(t, s.engine.write, "UPDATE channel SET no = (1 << 20) + (1 << 20) - 1")
	wantError(t, s.Apply(t.Context(), posted(secret, 2, "apples")))
	execute(t, s.engine.write, "INSERT INTO guild (no, id) VALUES (32767, 5)")
	wantError(t, s.Apply(t.Context(), memory.GuildSeen{Guild: memory.Guild{ID: 6}}))
	if _, err := s.Guild(t.Context(), 6); err == nil {
		t.Error("half a guild is there")
	}
}
