package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hark/internal/fixture"
	"hark/internal/golden"
	"hark/memory"
)

// unclose lets the file in dir look as if a process that had it open had died.
func unclose(t *testing.T, dir string) {
	t.Helper()
	conn := raw(t, dir)
	execute(t, conn, "INSERT OR REPLACE INTO meta VALUES (?, '')", openMark)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
}

// written is the directory of a closed store that has something of everything.
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

// reopen opens dir and tells what was made again.
func reopen(t *testing.T, dir string) (*Store, []string, error) {
	t.Helper()
	var mended []string
	s, err := Open(t.Context(), dir, Options{Tokens: words, Mended: func(what string) { mended = append(mended, what) }})
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, mended, err
}

func TestOnlyWhatWasNotClosedIsChecked(t *testing.T) {
	t.Parallel()
	dir := written(t)
	execute(t, raw(t, dir), "UPDATE channel SET messages = 77 WHERE id = ?", int64(general))
	s, mended, err := reopen(t, dir)
	if err != nil || s.checked || len(mended) > 0 {
		t.Fatalf("checked %v, mended %q, %v", s.checked, mended, err)
	}
	if wrong, err := s.Check(t.Context()); err != nil || len(wrong) != 1 {
		t.Errorf("wrong: %q, %v", wrong, err)
	}
	s.opened = false // so that closing it doesn't tell
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, mended, err = reopen(t, dir); err != nil || !s.checked || len(mended) != 1 {
		t.Fatalf("checked %v, mended %q, %v", s.checked, mended, err)
	}
	checkSound(t, s)
	beside, mended, err := reopen(t, dir)
	if err != nil || beside.checked || len(mended) > 0 {
		t.Errorf("beside another it is checked: %v, %q, %v", beside.checked, mended, err)
	}
	// The first to close isn't the last to use it.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if unclosed, err := isUnclosed(t.Context(), dir); !unclosed || err != nil {
		t.Errorf("with one of two still open: %v, %v", unclosed, err)
	}
	if err := beside.Close(); err != nil {
		t.Fatal(err)
	}
	if unclosed, err := isUnclosed(t.Context(), dir); unclosed || err != nil {
		t.Errorf("with both closed: %v, %v", unclosed, err)
	}
}

// spoiled is what may go wrong with what is made of the log.
var spoiled = map[string]string{
	"no segment":        "DELETE FROM segment WHERE id = (SELECT max(id) FROM segment)",
	"a segment too far": "INSERT INTO segment SELECT max(id) + 1, channel, 1, 2, 1, 1, 1, 0 FROM segment",
	"a wrong size":      "UPDATE segment SET size = size + 1",
	"a wrong span":      "UPDATE segment SET first = last",
	"in no segment":     "UPDATE message SET segment = 0 WHERE row = (SELECT max(row) FROM message)",
	"no vector":         "DELETE FROM vector",
	"a strange vector":  "INSERT INTO vector VALUES (77, x'00')",
	"a short vector":    "UPDATE vector SET steps = x'01'",
	"no words":          "INSERT INTO fulltext (fulltext) VALUES ('delete-all')",
	"too many words":    "INSERT INTO fulltext (rowid, content) VALUES (77, 'aaaaaaaa')",
	"half the words":    "DELETE FROM fulltext_docsize WHERE id % 2 = 0",
	"miscounted":        "UPDATE channel SET messages = messages - 1",
	"not present":       "DELETE FROM presence WHERE author = 1",
	"present too long":  "UPDATE presence SET last = last + 1",
	"a lost star":       "INSERT INTO star SELECT c.id, m.id, 1, 5 FROM message m JOIN channel c ON c.no = m.channel LIMIT 2",
	"not deleted":       "INSERT INTO tombstone SELECT c.id, m.id FROM message m JOIN channel c ON c.no = m.channel LIMIT 2",
}

func TestWhatIsMadeOfTheLogIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, sql := range spoiled {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := written(t)
			execute(t, raw(t, dir), sql)
			e, err := Examine(t.Context(), dir, Options{Tokens: words})
			if err != nil || len(e.Mended) == 0 || e.Strange != 0 {
				t.Errorf("%+v, %v", e, err)
			}
			golden.Seen(t, strings.Join(e.Mended, "\n"))
			s := open(t, dir)
			drain(t, s)
			checkSound(t, s)
			if name != "not deleted" && len(find(t, s, in(general), "number12 number13 number14 number15 number16")) != 5 {
				t.Error("not everything is found")
			}
			if e, err := Examine(t.Context(), dir, Options{}); err != nil || len(e.Mended)+len(e.Wrong)+e.Strange > 0 {
				t.Errorf("afterwards it is still %+v, %v", e, err)
			}
		})
	}
}

func TestBesideAnotherNothingIsMended(t *testing.T) {
	t.Parallel()
	dir := written(t)
	open(t, dir)
	execute(t, raw(t, dir), "UPDATE channel SET messages = 77")
	e, err := Examine(t.Context(), dir, Options{})
	if err != nil || len(e.Mended) > 0 || len(e.Wrong) != 1 {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestWhatOnlyTheLogKnowsIsNotMadeUp(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{
		"UPDATE message SET channel = channel + 1 WHERE row = (SELECT max(row) FROM message)",
	} {
		dir := written(t)
		conn := raw(t, dir)
		execute(t, conn, sql)
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		unclose(t, dir)
		_, _, err := reopen(t, dir)
		wantError(t, err)
		if _, _, err := reopen(t, dir); !errors.Is(err, ErrDamaged) { // and again: it isn't taken for closed
			t.Errorf("%v", err)
		}
	}
}

// A text that isn't what full text was made of shows, though SQLite finds nothing wrong.
func TestChangedTextIsStrange(t *testing.T) {
	t.Parallel()
	dir := written(t)
	execute(t, raw(t, dir), "UPDATE message SET content = replace(content, 'number7', 'number8')")
	e, err := Examine(t.Context(), dir, Options{})
	if err != nil || e.Strange != 1 || len(e.Mended) > 0 {
		t.Errorf("%+v, %v", e, err)
	}
}

// damage overwrites the page on which a table or an index begins.
func damage(t *testing.T, dir, name string) {
	t.Helper()
	conn := raw(t, dir)
	var root, size int64
	if err := conn.QueryRowContext(t.Context(), "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = ?", name).Scan(&root, &size); err != nil {
		t.Fatal(err)
	}
	execute(t, conn, "PRAGMA wal_checkpoint(TRUNCATE)")
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, FileName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(strings.Repeat("damage", 20)), (root-1)*size); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedPages(t *testing.T) {
	t.Parallel()
	for table, derived := range map[string]bool{
		"segment": true, "vector": true, "vector_next": true, "presence": true, "prompt": true, "record": true, "fulltext_data": true, "fulltext_idx": true,
		"fulltext_docsize": true, "fulltext_config": true, "message_id": true, "segment_pending": true, "called_name": true,
		"message": false, "person": false, "channel": false, "forgetting": false, "tombstone": false, "opted": false, "fact": false, "lore": false, "source": false, "meta": false,
	} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			dir := written(t)
			unclose(t, dir)
			damage(t, dir, table)
			before, err := os.ReadFile(filepath.Join(dir, FileName))
			if err != nil {
				t.Fatal(err)
			}
			s, mended, err := reopen(t, dir)
			if !derived {
				after, readErr := os.ReadFile(filepath.Join(dir, FileName))
				if err == nil || readErr != nil || !slices.Equal(before, after) {
					t.Errorf("opened: %v; the file is as it was: %v", err, slices.Equal(before, after))
				}
				return
			}
			if err != nil || len(mended) == 0 {
				t.Fatalf("mended %q, %v", mended, err)
			}
			drain(t, s)
			checkSound(t, s)
			if got := find(t, s, in(general), "number12 number13 number14"); len(got) != 3 {
				t.Errorf("found %v", got)
			}
			files, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 || strings.Contains(f.Name(), "remaking") {
					t.Errorf("%s is left, %v, %v", f.Name(), info.Mode(), err)
				}
			}
		})
	}
}

// Where there is nothing to embed there is no vector, and none is missed: neither in the space in use nor in the one after it.
func TestSegmentsWithoutTextLackNoVector(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	sails := pointing(1).vector("sails", 2)
	for i, vectors := range [][][]float32{{nil, sails, nil}, {sails, nil, nil}} { // as two embedders see it
		name := []string{"first", "second"}[i]
		s := openIn(t, dir, memory.Space{Name: name, Dimensions: 2})
		if i == 0 {
			apply(t, s, posted(general, 1, ""), posted(general, 200, "sails"), posted(general, 500, ""))
		}
		segments, err := s.Pending(bg, 10)
		if err != nil || len(segments) != 3 {
			t.Fatalf("%d segments, %v", len(segments), err)
		}
		if err := s.Embedded(bg, segments, vectors); err != nil {
			t.Fatal(err)
		}
		if wrong, err := s.Check(bg); err != nil || len(wrong) > 0 {
			t.Errorf("%s: %q, %v", name, wrong, err)
		}
		execute(t, s.write, "CREATE TEMP TABLE kept AS SELECT * FROM vector")
		execute(t, s.write, "DELETE FROM vector")
		if wrong, err := s.Check(bg); err != nil || len(wrong) != 1 {
			t.Errorf("%s without any vector: %q, %v", name, wrong, err)
		}
		execute(t, s.write, "INSERT INTO vector SELECT * FROM kept")
		s.Close()
	}
}
