package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hark/internal/fixture"
	"hark/internal/text"
	"hark/memory"
	"hark/memory/sqlstore"
)

// unclose makes the file in dir look as if its process had died.
func unclose(t *testing.T, dir string) {
	t.Helper()
	conn := raw(t, dir)
	execute(t, conn, "INSERT OR REPLACE INTO meta VALUES (?, '')", openMark)
	must(t, conn.Close())
}

// written returns the directory of a closed store with something of everything.
func written(t *testing.T) string {
	t.Helper()
	return fixture.Dir(t, "written", func(dir string) {
		s := openOnce(t, dir)
		populate(t, s)
		apply(t, s, memory.PersonSeen{Person: memory.Person{Guild: guild, ID: 1, Username: "ann"}})
		drain(t, s)
		closed(t, s)
	})
}

// damage overwrites the first page of a table or an index.
func damage(t *testing.T, dir, name string) {
	t.Helper()
	conn := raw(t, dir)
	var root, size int64
	must(t, conn.QueryRowContext(t.Context(), `SELECT rootpage, (SELECT page_size FROM pragma_page_size)
		FROM sqlite_schema WHERE name = ?`,
		name).Scan(&root, &size))
	execute(t, conn, "PRAGMA wal_checkpoint(TRUNCATE)")
	must(t, conn.Close())
	f, err := os.OpenFile(filepath.Join(dir, FileName), os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	if _, err := f.WriteAt([]byte(strings.Repeat("damage", 20)), (root-1)*size); err != nil {
		t.Fatal(err)
	}
}

// wantRefused checks that Check finds dir damaged, and that opening it with a check fails with advice and
// changes nothing. Without a check, it fails once damage is found; then nothing is written, and it doesn't
// open again. With atOnce it doesn't open at all.
func wantRefused(t *testing.T, dir string, atOnce bool) {
	t.Helper()
	path := filepath.Join(dir, FileName)
	refused := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), Rescue) ||
			strings.Contains(err.Error(), "number") {
			t.Errorf("%s: %v", what, err)
		}
	}
	unchanged := func(o Options) {
		t.Helper()
		before := content(t, path)
		for range 2 { // it isn't taken for closed after the first
			_, err := Open(t.Context(), dir, o)
			refused("opened", err)
		}
		if content(t, path) != before {
			t.Error("the file isn't as it was")
		}
	}
	if err := Check(t.Context(), dir); err == nil || !strings.Contains(err.Error(), Rescue) {
		t.Errorf("checked: %v", err)
	}
	unchanged(Options{Check: true})
	if atOnce {
		unchanged(Options{})
	}
	s, err := Open(t.Context(), dir, Options{})
	if err == nil {
		err = s.Checked(t.Context())
		refused("written", s.Apply(t.Context(), posted(general, 9000, "pears")))
		closed(t, s)
	}
	refused("used", err)
	unchanged(Options{})
}

func TestDamagedPagesAreFoundWhereTheFileWasNotClosed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"message", "person", "tombstone", "forgetting", "opted", "pending_deletion", "setting",
		"meta", "segment", "vector", "presence", "record", "message_id", "external_id_name", "fulltext_data",
		"fulltext_docsize"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := written(t)
			unclose(t, dir)
			damage(t, dir, name)
			wantRefused(t, dir, slices.Contains(deletionTables, name))
		})
	}
}

func TestOnlyWhatWasNotClosedIsChecked(t *testing.T) {
	t.Parallel()
	dir := written(t)
	damage(t, dir, "external_id_name") // which nobody asks
	first, beside := open(t, dir), open(t, dir)
	closed(t, first) // isn't the last to use it
	if unclosed, _, err := readOpenMark(t.Context(), filepath.Join(dir, FileName)); !unclosed || err != nil {
		t.Errorf("with one of two still open: %v, %v", unclosed, err)
	}
	closed(t, open(t, dir)) // beside another it isn't checked
	closed(t, beside)
	last := open(t, dir)
	must(t, last.engine.setOpenMark(t.Context(), unchecked)) // as a check that was cut short leaves it
	closed(t, last)
	wantRefused(t, dir, false)
}

func TestAnOlderVersionIsCheckedBeforeItIsChanged(t *testing.T) {
	t.Parallel()
	dir := written(t)
	unclose(t, dir)
	execute(t, raw(t, dir), "PRAGMA user_version = 0")
	damage(t, dir, "external_id_name")
	before := content(t, filepath.Join(dir, FileName))
	if _, err := Open(t.Context(), dir, Options{}); err == nil || !strings.Contains(err.Error(), Rescue) {
		t.Errorf("opened: %v", err)
	}
	if content(t, filepath.Join(dir, FileName)) != before {
		t.Error("the file isn't as it was")
	}
}

// Full text with sound pages and wrong content is rebuilt: at once after a crash and in a restored store,
// else by reindexing.
func TestDamagedFullTextIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, opened := range map[string]func(dir string) *Store{
		"not closed": func(dir string) *Store {
			unclose(t, dir)
			s := open(t, dir)
			must(t, s.Checked(t.Context()))
			return s
		},
		"restored": func(dir string) *Store {
			s, _ := restored(t, t.TempDir(), filepath.Join(dir, FileName))
			return s
		},
		"reindexed": func(dir string) *Store {
			s := open(t, dir)
			if err := sqlstore.Reindex(bg, s.Store, nil); err != nil {
				t.Error(err)
			}
			return s
		},
	} {
		dir := written(t)
		conn := raw(t, dir)
		execute(t, conn, "UPDATE fulltext_data SET block = zeroblob(length(block)) WHERE id > 10")
		execute(t, conn, "PRAGMA wal_checkpoint(TRUNCATE)")
		if err := Check(t.Context(), dir); !errors.Is(err, errFullText) {
			t.Errorf("%s: %v", name, err)
		}
		s := opened(dir)
		if got := find(t, s, in(general), "number12 number13 number14"); len(got) != 3 {
			t.Errorf("%s: found %v", name, got)
		}
		drain(t, s)
		checkSound(t, s)
		if err := Check(t.Context(), s.engine.dir); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// While full text may be damaged, searches find less and don't fail. What is written meanwhile is found
// afterwards.
func TestDamagedFullTextIsUnsureUntilItIsChecked(t *testing.T) {
	t.Parallel()
	dir := written(t)
	execute(t, raw(t, dir), "UPDATE fulltext_data SET block = x'00' WHERE id > 10")
	s := open(t, dir)
	terms := text.QueryTerms("number12 number13")
	search := func() (hits []memory.TextHit, err error) {
		_, _, counting := s.Frequencies(t.Context(), in(general), terms, 10)
		hits, err = s.FullText(t.Context(), in(general), terms, 10)
		return hits, errors.Join(counting, err)
	}
	if _, err := search(); !errors.Is(err, errFullText) {
		t.Errorf("without a check: %v", err)
	}
	s.engine.check = check{stop: func() {}, done: make(chan struct{})}
	if hits, err := search(); err != nil {
		t.Errorf("%v, %v", hits, err)
	}
	close(s.engine.check.done)
	s.checkInBackground(filepath.Join(dir, FileName))
	apply(t, s, posted(general, 9001, "number12 again"))
	must(t, s.Checked(t.Context()))
	if hits, err := search(); len(hits) != 3 || err != nil {
		t.Errorf("%v, %v", hits, err)
	}
}

// A sound file whose check can't be recorded stays in use; the next open checks it again.
func TestACheckThatCannotBeNoted(t *testing.T) {
	t.Parallel()
	dir := written(t)
	s := open(t, dir)
	must(t, s.engine.setOpenMark(bg, unchecked))
	execute(t, s.engine.write, "PRAGMA busy_timeout = 0")
	other := raw(t, dir)
	execute(t, other, "BEGIN IMMEDIATE")
	s.checkInBackground(filepath.Join(dir, FileName))
	must(t, s.Checked(bg))
	execute(t, other, "COMMIT")
	apply(t, s, posted(general, 9000, "pears"))
	s.engine.check.err = errDamagedLog // as if it had found damage: nobody is told that anything was erased
	if err := s.Erase(bg, true); !errors.Is(err, errDamagedLog) {
		t.Error(err)
	}
	closed(t, s)
	for _, want := range []bool{true, false} {
		if unclosed, _, err := readOpenMark(bg, filepath.Join(dir, FileName)); unclosed != want || err != nil {
			t.Error(unclosed, err)
		}
		s = open(t, dir)
		must(t, s.Checked(bg))
		closed(t, s)
	}
}
