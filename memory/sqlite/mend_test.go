package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"hark/memory"
)

// breakStatement makes a statement fail, until it is forgotten.
func breakStatement(t *testing.T, s *Store, query string) {
	t.Helper()
	statement, err := s.write.PrepareContext(bg, "SELECT 1")
	if err == nil {
		err = statement.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if old := s.writer.statements[query]; old != nil {
		old.Close()
	}
	if s.writer.statements == nil {
		s.writer.statements = map[string]*sql.Stmt{}
	}
	s.writer.statements[query] = statement
}

// everyStatementFails has each statement of a transaction fail, checks that this is an error and leaves the file as it
// was, and has it succeed in the end.
func everyStatementFails(t *testing.T, s *Store, do func(*transaction) error) {
	t.Helper()
	scrubbed(t, s)
	if err := s.writer.close(); err != nil {
		t.Fatal(err)
	}
	s.writer.statements = nil
	s.writer.forget()
	learned := errors.New("learned what it does")
	err := s.writing(bg, func(t *transaction) error {
		err := do(t)
		if err == nil {
			err = t.flush()
		}
		return errors.Join(err, learned)
	})
	wantError(t, err, "write to the database: "+learned.Error())
	before := dump(t, s)
	queries := slices.Sorted(maps.Keys(s.writer.statements))
	t.Logf("%d statements", len(queries)-1)
	for _, query := range queries {
		if query == "ROLLBACK" {
			continue
		}
		scrubbed(t, s)
		breakStatement(t, s, query)
		err := s.writing(bg, do)
		if err == nil || dump(t, s) != before {
			t.Fatalf("%s\nfailed: %v", query, err)
		}
		wantError(t, err, "write to the database: ", "statement is closed")
		delete(s.writer.statements, query)
	}
	if err := s.writing(bg, do); err != nil {
		t.Error(err)
	}
}

func TestEveryStatementOfMendingMayFail(t *testing.T) {
	t.Parallel()
	s := populated(t)
	drain(t, s)
	for _, what := range []string{"not deleted", "no segment", "a strange vector", "no words", "miscounted", "not present", "a lost star", "no source"} {
		execute(t, s.write, spoiled[what].sql)
	}
	flaws, err := s.flaws(bg)
	if err != nil || len(flaws) != 8 {
		t.Fatalf("%d flaws, %v", len(flaws), err)
	}
	for _, f := range flaws {
		everyStatementFails(t, s, f.mend)
	}
	if _, err := s.mend(bg); err != nil { // what comes of another's being mended
		t.Error(err)
	}
	drain(t, s)
	checkSound(t, s)
	if got := find(t, s, in(general), "number12 number13 number14"); len(got) != 3 {
		t.Errorf("found %v", got)
	}
}

func TestMendingTellsWhatItFailedAt(t *testing.T) {
	t.Parallel()
	s := populated(t)
	execute(t, s.write, spoiled["miscounted"].sql)
	before := dump(t, s)
	execute(t, s.write, "PRAGMA query_only = 1")
	_, err := s.mend(bg)
	wantError(t, err, "mend the counts of 1 channels: write to the database", "can't be written")
	execute(t, s.write, "PRAGMA query_only = 0")
	if dump(t, s) != before {
		t.Error("the file isn't as it was")
	}
	if n, err := s.mend(bg); n != 1 || err != nil {
		t.Errorf("%d mended, %v", n, err)
	}
	checkSound(t, s)
}

// What doesn't fit where it stands is told, and nothing is made of it.
func TestChecksOfWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	flaws := func(s *Store) error { _, err := s.flaws(bg); return err }
	strange := func(s *Store) error { _, err := s.strange(bg); return err }
	reindex := func(s *Store) error { return s.Reindex(bg, nil) }
	asked := func(s *Store) error { return s.Asked(bg, 3, func(memory.Trace) error { return errors.New("read it") }) }
	wrote := func(s *Store) error {
		return s.Written(bg, 3, func(memory.Message) error { return errors.New("read it") })
	}
	closed := written(t)
	for _, c := range []struct {
		spoil string
		do    func(*Store) error
		want  string
	}{
		{"DELETE FROM fulltext_docsize; UPDATE message SET extra = '{'", flaws, "check the database: unexpected end of JSON"},
		{"UPDATE trace SET body = '{'", flaws, "a trace can't be read"},
		{"DROP TABLE message", flaws, "check the database: "},
		{"DROP TABLE tombstone", flaws, "no such table: tombstone"},
		{"DROP TABLE presence", flaws, "no such table: presence"},
		{"DROP TABLE vector", flaws, "no such table: vector"},
		{"DROP TABLE trace", flaws, "no such table: trace"},
		{"DROP TABLE trace_source", flaws, "no such table: trace_source"},
		{"DROP TABLE fulltext", flaws, "no such table: fulltext_docsize"},
		{"UPDATE message SET extra = '{'", strange, "compare full text: unexpected end of JSON"},
		{"UPDATE message SET kind = 'x'", strange, "compare full text: "},
		{"DROP TABLE fulltext", strange, "compare full text: "},
		{"UPDATE message SET extra = '{'", reindex, "unexpected end of JSON"},
		{"UPDATE message SET kind = 'x'", reindex, "write to the database: "},
		{"INSERT INTO meta VALUES ('reindex', 'x')", reindex, `parsing "x"`},
		{"UPDATE message SET kind = 'x'", wrote, "read what user 3 wrote: "},
		{"DROP VIEW said", wrote, "read what user 3 wrote: "},
		{`UPDATE trace SET body = '{"asker":3,"answer":"x"}'`, asked, "read what user 3 asked: json"},
		{"DROP TABLE trace", asked, "read what user 3 asked: "},
	} {
		dir := copied(t, closed)
		s := open(t, dir)
		execute(t, raw(t, dir), c.spoil)
		wantError(t, c.do(s), c.want)
	}
}

// What restoring took over in part, because a statement failed, is taken over by the next in full.
func TestEveryStatementOfTakingOverMayFail(t *testing.T) {
	t.Parallel()
	s := populated(t)
	version := func(id int64, n int) memory.LoreTold {
		return memory.LoreTold{Lore: memory.Lore{ID: id, Guild: guild, Name: "Project Z", Text: fmt.Sprintf("version %d", n), By: 2, At: idAt(n), Sources: []memory.Spot{{Channel: general, Message: memory.FirstMessageID(idAt(3))}}}}
	}
	apply(t, s, version(21, 1), version(22, 1), version(23, 1), summed(general, 14), summed(general, 15))
	backup := t.TempDir()
	if _, err := s.Backup(bg, backup+"/"+FileName, false, nil); err != nil {
		t.Fatal(err)
	}
	apply(t, s, version(21, 2), memory.LoreGone{Guild: guild, ID: 22})
	apply(t, s, notes()...)
	apply(t, s, deleted(general, 10), edited(general, 12, "quinces"), memory.Chose{Guild: 300, Choice: memory.Remember, At: id(9).Time()})
	if _, err := s.Forget(bg, memory.Forgetting{Guild: guild, Channel: secret, Why: memory.WhyPurge}, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	old := s.dir + "/" + FileName
	model := open(t, copied(t, backup))
	model.writer.statements = nil
	var r Restored
	if err := model.takeOver(bg, old, &r); err != nil || r.Deleted == 0 || r.Edited != 1 || r.OptOuts == 0 || r.Choices == 0 || r.Facts == 0 || r.Lore < 2 || r.Summaries == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	want := dump(t, model)
	for _, query := range slices.Sorted(maps.Keys(model.writer.statements)) {
		s := open(t, copied(t, backup))
		breakStatement(t, s, query)
		wantError(t, s.takeOver(bg, old, &r), "write to the database: ", "statement is closed")
		delete(s.writer.statements, query)
		if err := s.takeOver(bg, old, &r); err != nil {
			t.Error(err)
		}
		if got := dump(t, s); got != want {
			t.Errorf("%s\nfailed, and after it the file is\n%s\nwithout\n%s", query, got, want)
		}
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if err := model.takeOver(ctx, old, &r); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestEveryStatementOfReindexMayFail(t *testing.T) {
	t.Parallel()
	s := populated(t)
	drain(t, s)
	want := dump(t, s)
	everyStatementFails(t, s, (*transaction).beginReindex)
	more := func(t *transaction) error { _, err := t.indexMore(); return err }
	for range 3 { // the second finds nothing more, and the third not even where to go on
		everyStatementFails(t, s, more)
	}
	if got := dump(t, s); got != want {
		t.Errorf("the file is now\n%s\nand was\n%s", got, want)
	}
	everyStatementFails(t, s, (*transaction).embedAgain)
	drain(t, s)
	checkSound(t, s)
}
