package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/sqlstore"
	"hark/memory/vectors"
)

// Whichever statement of a write fails, the write returns an error and changes nothing, and the same write
// then succeeds. The short form tries the largest writes.
func TestEveryStatementMayFail(t *testing.T) {
	t.Parallel()
	for name, write := range writes {
		if !long && name != "apply" && name != "store vectors" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := populated(t)
			zeroed(t, model)
			model.engine.writer.statements = nil
			model.engine.writer.forget()
			must(t, write(model))
			want := dump(t, model)
			queries := slices.Sorted(maps.Keys(model.engine.writer.statements))
			t.Logf("%d statements", len(queries))
			s := populated(t)
			before := dump(t, s)
			for i, query := range queries {
				if i > 0 && dump(t, s) != before {
					t.Fatal("the file isn't as it was")
				}
				zeroed(t, s)
				s.engine.writer.forget()
				breakStatement(t, s, query)
				if err := write(s); err == nil {
					t.Fatalf("%s\nfailed, and the write didn't", query)
				}
				delete(s.engine.writer.statements, query)
			}
			must(t, write(s))
			if got := dump(t, s); got != want {
				t.Errorf("after failures the file is\n%s\nwithout\n%s", got, want)
			}
			if name != "store vectors" { // of which some found nothing to embed
				checkSound(t, s)
			}
		})
	}
}

func zeroed(t *testing.T, s *Store) {
	t.Helper()
	must(t, s.engine.erase(bg))
}

// Whichever statement of a write in several transactions fails, it returns an error, and a repetition
// reaches the same end.
func TestEveryStatementOfLongWorkMayFail(t *testing.T) {
	t.Parallel()
	for name, work := range works {
		if !long && name != "take what was restored out" && name != "forget somebody" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun := func() *Store {
				s := populated(t)
				must(t, work.before(s))
				zeroed(t, s)
				s.engine.writer.forget()
				return s
			}
			model := begun()
			model.engine.writer.statements = nil
			must(t, work.do(model))
			want := dump(t, model)
			for _, query := range slices.Sorted(maps.Keys(model.engine.writer.statements)) {
				s := begun()
				breakStatement(t, s, query)
				if err := work.do(s); err == nil {
					t.Fatalf("%s\nfailed, and nobody is told", query)
				}
				delete(s.engine.writer.statements, query)
				must(t, work.do(s))
				if got := dump(t, s); got != want {
					t.Fatalf("after\n%s\nfailed the file is\n%s\nwithout\n%s", query, got, want)
				}
				must(t, s.Close())
			}
		})
	}
}

// breakStatement makes a statement fail, until it is forgotten.
func breakStatement(t *testing.T, s *Store, query string) {
	t.Helper()
	statement, err := s.engine.write.PrepareContext(bg, "SELECT 1")
	if err == nil {
		err = statement.Close()
	}
	must(t, err)
	if old := s.engine.writer.statements[query]; old != nil {
		old.Close()
	}
	if s.engine.writer.statements == nil {
		s.engine.writer.statements = map[string]*sql.Stmt{}
	}
	s.engine.writer.statements[query] = statement
}

// After a replay failed half-way, the next one does everything.
func TestEveryStatementOfAReplayMayFail(t *testing.T) {
	t.Parallel()
	if !long {
		t.Skip("HARK_LONG=1 runs it")
	}
	s := populated(t)
	version := func(id int64, n int) memory.LoreTold {
		return memory.LoreTold{Lore: memory.Lore{ID: id, Guild: guild, Name: "Project Z",
			Text: fmt.Sprintf("version %d", n), By: 2, At: idAt(n), Sources: []memory.MessageRef{{Channel: general,
				Message: memory.FirstMessageID(idAt(3))}}}}
	}
	apply(t, s, version(21, 1), version(22, 1), version(23, 1), summed(general, 14), summed(general, 15))
	backup := t.TempDir()
	if _, err := Backup(bg, s.engine.dir, backup+"/"+FileName, false, nil); err != nil {
		t.Fatal(err)
	}
	apply(t, s, version(21, 2), memory.LoreGone{Guild: guild, ID: 22})
	apply(t, s, notes()...)
	apply(t, s, deleted(general, 10), edited(general, 12, "quinces"),
		memory.Chose{Guild: 300, Choice: memory.Remember, At: id(9).Time()})
	forget(t, s, memory.Forgetting{Guild: guild, Channel: secret, Why: memory.WhyPurge})
	closed(t, s)
	old := replacedFile{path: s.engine.dir + "/" + FileName, version: len(migrations)}
	model := open(t, copied(t, backup))
	must(t, model.Checked(bg))
	model.engine.writer.statements = nil
	var r Restored
	if err := old.replay(bg, model, &r); err != nil || r.Deleted == 0 || r.Edited != 1 ||
		r.OptOuts == 0 || r.Choices == 0 || r.Facts == 0 || r.Lore < 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	want := dump(t, model)
	for _, query := range slices.Sorted(maps.Keys(model.engine.writer.statements)) {
		s := open(t, copied(t, backup))
		must(t, s.Checked(bg))
		breakStatement(t, s, query)
		if err := old.replay(bg, s, &r); err == nil {
			t.Errorf("%s\nfailed, and the replay didn't", query)
		}
		delete(s.engine.writer.statements, query)
		if err := old.replay(bg, s, &r); err != nil {
			t.Error(err)
		}
		if got := dump(t, s); got != want {
			t.Errorf("%s\nfailed, and after it the file is\n%s\nwithout\n%s", query, got, want)
		}
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if err := old.replay(ctx, model, &r); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

var reads = map[string]func(context.Context, *Store) (any, error){
	"Amounts": func(ctx context.Context, s *Store) (any, error) { return sqlstore.Count(ctx, s.Store) },
	"Apply":   func(ctx context.Context, s *Store) (any, error) { return nil, s.Apply(ctx, deleted(general, 6)) },
	"Around": func(ctx context.Context, s *Store) (any, error) {
		return s.Around(ctx, general, []memory.MessageID{id(1)}, 1, 1)
	},
	"FingerprintKey": func(ctx context.Context, s *Store) (any, error) { return s.FingerprintKey(ctx) },
	"Frequencies": func(ctx context.Context, s *Store) (any, error) {
		_, all, err := s.Frequencies(ctx, in(general), []string{"number"}, 1)
		return all, err
	},
	"FullText": func(ctx context.Context, s *Store) (any, error) {
		return s.FullText(ctx, in(general), []string{"number"}, 5)
	},
	"Guild": func(ctx context.Context, s *Store) (any, error) { return s.Guild(ctx, guild) },
	"Lore":  func(ctx context.Context, s *Store) (any, error) { return s.Lore(ctx, guild) },
	"Nearest": func(ctx context.Context, s *Store) (any, error) {
		return s.Nearest(ctx, in(general), s.engine.options.Space, unit(), 1)
	},
	"Member":  func(ctx context.Context, s *Store) (any, error) { return s.Member(ctx, guild, 1) },
	"Pending": func(ctx context.Context, s *Store) (any, error) { return s.Pending(ctx, 9) },
	"People":  func(ctx context.Context, s *Store) (any, error) { return s.People(ctx, guild) },
	"Prompts": func(ctx context.Context, s *Store) (any, error) {
		return s.Traces(ctx, memory.TraceQuery{Prompts: true})
	},
	"Records": func(ctx context.Context, s *Store) (any, error) {
		return s.Records(ctx, memory.RecordQuery{Channels: []memory.ChannelID{general}})
	},
	"Starred": func(ctx context.Context, s *Store) (any, error) { return s.Starred(ctx, in(general), 1) },
	"Windows": func(ctx context.Context, s *Store) (any, error) {
		return s.Windows(ctx, map[memory.MessageRef]int{{Channel: general, Message: id(1)}: 1})
	},
	"Summaries": func(ctx context.Context, s *Store) (any, error) { return s.Summaries(ctx, general) },
	"Trace":     func(ctx context.Context, s *Store) (any, error) { return memory.TraceOf(ctx, s, general, id(71)) },
}

func TestReadsStopWithTheirContext(t *testing.T) {
	t.Parallel()
	s := populated(t)
	done, cancel := context.WithCancel(bg)
	cancel()
	for _, name := range []string{"Amounts", "Around", "Frequencies", "FullText", "Nearest", "Records", "Starred",
		"Windows"} {
		for range 2 { // before its statements are prepared, and after
			if _, err := reads[name](done, s); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, cancelled: %v", name, err)
			}
			if _, err := reads[name](bg, s); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Unreadable data gives an error and no partial results.
func TestReadsThatFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ damage, read string }{ // what is done to the file, and asked then
		{"UPDATE person SET roles = '{'", "People"},
		{"UPDATE message SET extra = '{'", "Around"},
		{"UPDATE message SET author = 'x'", "Around"},
		{"UPDATE message SET author = 'x'", "Windows"},
		{"DROP TABLE fulltext", "FullText"},
		{"UPDATE vector SET steps = x'01'", "Nearest"},
		{"UPDATE trace SET body = json('{\"asker\":\"x\"}')", "Trace"},
		{"UPDATE trace SET body = '{\"recalled\":[[1]],\"channels\":[1000]}'", "Trace"},
		{"UPDATE trace SET body = '{\"recalled\":[[0,1,0,0,-1]],\"channels\":[1000]}'", "Trace"},
		{"UPDATE prompt SET body = '{'", "Prompts"},
		{"UPDATE message SET author = 'x'", "Pending"},
		{"UPDATE message SET extra = '{'", "Apply"},
		{"UPDATE record SET body = '{'", "Records"},
		{"UPDATE meta SET value = 'ab' WHERE key = 'fingerprints'", "FingerprintKey"},
		{"UPDATE meta SET value = 'no' WHERE key = 'fingerprints'", "FingerprintKey"},
		{"DROP VIEW said", "Nearest"},
		{"UPDATE lore SET own = '{'", "Lore"},
		{"UPDATE summary SET topics = '{'", "Summaries"},
		{"DROP TABLE opted", "Member"},
		{"UPDATE channel SET overwrites = '{'; UPDATE meta SET value = 'another' WHERE key = 'writer'", "Guild"},
	} {
		t.Run(c.read+" after "+c.damage, func(t *testing.T) {
			t.Parallel()
			s := populated(t)
			drain(t, s)
			apply(t, s, recorded("one", 0, 1))
			apply(t, s, notes()...)
			apply(t, s, answered(71, memory.Trace{Question: id(8), Sources: from(general, 8),
				Prompt: sentPrompt("number")})[1])
			_, err := s.FingerprintKey(bg)
			must(t, err)
			execute(t, raw(t, s.engine.dir), c.damage) // as another process would
			if answer, err := reads[c.read](bg, s); err == nil || strings.Contains(fmt.Sprint(answer), "number") {
				t.Errorf("answered %v, %v", answer, err)
			}
		})
	}
}

// A damaged sketch is an error where only sketches are in memory.
func TestASketchThatIsDamaged(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), emptyDir(t), Options{Space: memorytest.Embedder{}.Space(), Index: vectors.Options{Limit: 1}})
	must(t, err)
	defer s.Close()
	apply(t, s, posted(general, 1, "apples"), posted(general, 1000, "pears"))
	drain(t, s)
	if got := nearest(t, s, in(general), "apples"); len(got) != 2 {
		t.Errorf("found %v", got)
	}
	sqlstore.Index(s.Store).Drop(1)
	execute(t, s.engine.write, "UPDATE vector SET sketch = x'01'")
	hits, err := s.Nearest(bg, in(general), s.engine.options.Space, unit(), 10)
	if err == nil || len(hits) > 0 {
		t.Errorf("found %v, %v", hits, err)
	}
}

func TestForgettingThatCannotRead(t *testing.T) {
	t.Parallel()
	s := populated(t)
	apply(t, s, posted(general, 1001, "z")) // so that it doesn't look what others wrote
	must(t, s.engine.read.Close())
	if _, err := s.Forget(bg, memory.Forgetting{Guild: guild, User: 1, Why: memory.WhyPurge}, nil); err == nil {
		t.Error("it was forgotten unread")
	}
}

// A file that turned read-only refuses writes, with advice.
func TestAReadOnlyFile(t *testing.T) {
	t.Parallel()
	s := populated(t)
	execute(t, s.engine.write, "PRAGMA query_only = 1")
	err := s.Apply(bg, posted(general, 1001, "z"))
	if wantError(t, err); errors.Is(err, memory.ErrRefused) {
		t.Error("what may pass is taken for refused")
	}
	execute(t, s.engine.write, "PRAGMA query_only = 0")
	apply(t, s, posted(general, 1001, "z"))
}
