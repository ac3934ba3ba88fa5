package sqlite

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/text"
	"hark/memory"
	"hark/memory/memorytest"
)

// Whichever statement of a write fails, the write is an error, nothing of it is in the file, and the same write
// succeeds afterwards, as if nothing had been.
func TestEveryStatementMayFail(t *testing.T) {
	t.Parallel()
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := populated(t)
			scrubbed(t, model)
			model.writer.statements = nil
			model.writer.forget()
			if err := write(model); err != nil {
				t.Fatal(err)
			}
			want := dump(t, model)
			queries := slices.Sorted(maps.Keys(model.writer.statements))
			t.Logf("%d statements", len(queries))
			s := populated(t)
			populated := dump(t, s)
			for i, query := range queries {
				if i > 0 && dump(t, s) != populated {
					t.Fatal("the file isn't as it was")
				}
				scrubbed(t, s)
				s.writer.forget()
				failing(t, s, query)
				err := write(s)
				if err == nil || !strings.Contains(err.Error(), "write to the database: ") {
					t.Fatalf("%s\nfailed, and the error is %v", query, err)
				}
				delete(s.writer.statements, query)
				if name == "make full text again" || name == "change the space" { // the caller changed meta itself
					repopulate(t, s, populated)
				}
			}
			if err := write(s); err != nil {
				t.Fatal(err)
			}
			if got := dump(t, s); got != want {
				t.Errorf("after failures the file is\n%s\nwithout\n%s", got, want)
			}
			if name != "store vectors" { // of which some found nothing to embed
				checkSound(t, s)
			}
		})
	}
}

// scrubbed has the next write that removes text say so in the file.
func scrubbed(t *testing.T, s *Store) {
	t.Helper()
	if err := s.EmptyLog(bg); err != nil {
		t.Fatal(err)
	}
}

// repopulate undoes what a write changed outside its transaction.
func repopulate(t *testing.T, s *Store, want string) {
	t.Helper()
	for key, value := range map[string]string{"terms": fmt.Sprint(text.Version), "space": nameOf(s.options.Space)} {
		execute(t, s.write, "UPDATE meta SET value = ? WHERE key = ?", value, key)
	}
	if dump(t, s) != want {
		t.Fatal("the file isn't as it was")
	}
}

// failing makes a statement fail.
func failing(t *testing.T, s *Store, query string) {
	t.Helper()
	statement, err := (&transaction{ctx: bg, store: s}).statement(query)
	if err == nil {
		err = statement.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Each read whose table can't be read says so, and answers nothing.
func writeAnew(s *Store) (any, error) {
	return nil, s.Apply(bg, memory.Rewritten{Guild: guild, Channel: general, IDs: []memory.MessageID{id(71)}})
}

func keepTraceAgain(s *Store) (any, error) {
	return nil, s.KeepTrace(bg, memory.Trace{Guild: guild, Channel: general, Answer: id(71), Question: id(6), Asker: 1})
}

func TestReadsThatFail(t *testing.T) {
	t.Parallel()
	vector := make([]float32, memorytest.Embedder{}.Space().Dimensions)
	vector[0] = 1
	ids := []memory.MessageID{id(1)}
	timed := in(general)
	timed.Since = id(0).Time()
	for _, c := range []struct {
		spoil string // what is done to the file
		read  func(*Store) (any, error)
		want  string
	}{
		{"DROP TABLE person", func(s *Store) (any, error) { return s.People(bg, guild) }, "read the people of guild 100"},
		{"UPDATE person SET roles = '{'", func(s *Store) (any, error) { return s.People(bg, guild) }, "read the people of guild 100"},
		{"UPDATE person SET bot = 'x'", func(s *Store) (any, error) { return s.People(bg, guild) }, "read the people of guild 100"},
		{"DROP TABLE message", func(s *Store) (any, error) { return s.Messages(bg, general, ids) }, "read messages of channel 1000"},
		{"UPDATE message SET extra = '{'", func(s *Store) (any, error) { return s.Messages(bg, general, ids) }, "read messages of channel 1000"},
		{"UPDATE message SET author = 'x'", func(s *Store) (any, error) { return s.Around(bg, general, ids, 1, 1) }, "read messages of channel 1000"},
		{"DROP TABLE message", func(s *Store) (any, error) { return s.Around(bg, general, ids, 1, 1) }, "read messages of channel 1000"},
		{"DROP TABLE message", func(s *Store) (any, error) { return s.Starred(bg, in(general), 1) }, "read what is starred"},
		{"DROP TABLE meta", func(s *Store) (any, error) { return s.Starred(bg, in(general), 1) }, "look for the writes of others"},
		{"DROP TABLE called", func(s *Store) (any, error) { return s.NameOf(bg, general, ids) }, "read the names of messages"},
		{"DROP TABLE called", func(s *Store) (any, error) { return s.MessageNamed(bg, general, "one") }, `message "one" of channel 1000`},
		{"DROP TABLE presence", func(s *Store) (any, error) { return s.Presence(bg, in(general), []memory.UserID{1}) }, "read who was here"},
		{"UPDATE presence SET last = 'x'", func(s *Store) (any, error) { return s.Presence(bg, in(general), []memory.UserID{1, 2, 3}) }, ""},
		{"DROP TABLE fulltext", func(s *Store) (any, error) { return s.FullText(bg, in(general), []string{"x"}, 1) }, "search the full text"},
		{"UPDATE message SET id = 'x' || id", func(s *Store) (any, error) { return s.FullText(bg, in(general), []string{"number"}, 5) }, "search the full text"},
		{"DROP TABLE fulltext", func(s *Store) (any, error) {
			_, n, err := s.Frequencies(bg, in(general), []string{"x"}, 1)
			return n, err
		}, "count a term"},
		{"ALTER TABLE channel RENAME messages TO other", func(s *Store) (any, error) { _, n, err := s.Frequencies(bg, in(general), nil, 1); return n, err }, "count messages"},
		{"DROP TABLE trace", func(s *Store) (any, error) { return s.Trace(bg, general, id(71)) }, "trace of answer"},
		{"UPDATE trace SET body = '{'", func(s *Store) (any, error) { return s.Trace(bg, general, id(71)) }, "trace of answer"},
		{"UPDATE trace SET body = '{'", func(s *Store) (any, error) { return nil, s.Apply(bg, deleted(general, 6)) }, "write to the database"},
		{"DROP TABLE trace", func(s *Store) (any, error) { return s.Traces(bg, id(99), 9) }, "read the last traces"},
		{"UPDATE trace SET body = '{'", func(s *Store) (any, error) { return s.Traces(bg, id(99), 9) }, "read the last traces"},
		{"DROP TABLE prompt", func(s *Store) (any, error) { return s.Prompt(bg, general, id(71)) }, "prompt of answer"},
		{"UPDATE prompt SET body = '{'", func(s *Store) (any, error) { return s.Prompt(bg, general, id(71)) }, "prompt of answer"},
		{"UPDATE prompt SET people = '{'", func(s *Store) (any, error) { return s.Prompt(bg, general, id(71)) }, "prompt of answer"},
		{"DROP TABLE prompt", func(s *Store) (any, error) { return s.ForgetPrompts(bg, idAt(99)) }, "forget old prompts: write to the database"},
		{"UPDATE message SET extra = '{'", func(s *Store) (any, error) { return nil, s.Apply(bg, deleted(general, 6)) }, "write to the database"},
		{"UPDATE message SET author = 'x'", func(s *Store) (any, error) { return nil, s.Apply(bg, posted(general, 1001, "z")) }, "write to the database"},
		{"DROP TABLE segment", func(s *Store) (any, error) { return s.Pending(bg, 1) }, "read what is to be embedded"},
		{"UPDATE message SET author = 'x'", func(s *Store) (any, error) { return s.Pending(bg, 9) }, "read what is to be embedded"},
		{"DROP TABLE segment", func(s *Store) (any, error) { return s.Waiting(bg) }, "count what is to be embedded"},
		{"DROP TABLE meta", func(s *Store) (any, error) { return s.Waiting(bg) }, "count what is to be embedded"},
		{"DROP TABLE segment", func(s *Store) (any, error) { return s.WaitingIn(bg, guild) }, "count what is to be embedded"},
		{"DROP TABLE meta", func(s *Store) (any, error) { return s.Space(bg) }, "look for the writes of others"},
		{"INSERT INTO meta VALUES ('sweep', ''); DROP TABLE vector_next", func(s *Store) (any, error) { return s.Pending(bg, 1) }, "no such table: vector_next"},
		{"DROP TABLE vector", func(s *Store) (any, error) { return s.Nearest(bg, in(general), s.options.Space, vector, 1) }, "load the vectors"},
		{"UPDATE vector SET steps = x'01'", func(s *Store) (any, error) { return s.Nearest(bg, in(general), s.options.Space, vector, 1) }, "too few for"},
		{"UPDATE segment SET channel = 'x'", func(s *Store) (any, error) { return s.Nearest(bg, in(general), s.options.Space, vector, 1) }, "load the vectors"},
		{"DROP TABLE guild", func(s *Store) (any, error) { return s.Guilds(bg) }, "read what others wrote"},
		{"UPDATE guild SET owner = 'x'", func(s *Store) (any, error) { return s.Guild(bg, guild) }, "read what others wrote"},
		{"DROP TABLE role", func(s *Store) (any, error) { return s.Messages(bg, general, ids) }, "read what others wrote"},
		{"UPDATE role SET bot = 'x'", func(s *Store) (any, error) { return s.Around(bg, general, ids, 1, 1) }, "read what others wrote"},
		{"DROP TABLE channel", func(s *Store) (any, error) { return s.FullText(bg, in(general), []string{"x"}, 1) }, "read what others wrote"},
		{"UPDATE channel SET kind = 'x'", func(s *Store) (any, error) { return s.Nearest(bg, in(general), s.options.Space, vector, 1) }, "read what others wrote"},
		{"UPDATE channel SET overwrites = '{'", func(s *Store) (any, error) { _, n, err := s.Frequencies(bg, in(general), nil, 1); return n, err }, "others wrote: read the overwrites of channel 1000"},
		{"DROP TABLE guild", func(s *Store) (any, error) { return s.People(bg, guild) }, "read what others wrote"},
		{"DROP TABLE meta", func(s *Store) (any, error) { return s.Guilds(bg) }, "look for the writes of others"},
		{"DROP TABLE guild", func(s *Store) (any, error) { return nil, s.Apply(bg, memory.RoleGone{Guild: guild, Role: 1}) }, "write to the database"},
		{"ALTER TABLE message RENAME author TO x", func(s *Store) (any, error) { return nil, s.Apply(bg, posted(general, 1001, "z")) }, "no such column: author"},
		{"ALTER TABLE channel RENAME no TO x", func(s *Store) (any, error) { return nil, s.Apply(bg, posted(secret, 1, "z")) }, "no such column: c.no"},
		{"DROP TABLE setting", func(s *Store) (any, error) {
			return nil, s.Apply(bg, memory.SettingChosen{Guild: guild, Channel: general, Key: memory.SettingMode, Value: "search"})
		}, "no such table: setting"},
		{"DROP TABLE role_limit", func(s *Store) (any, error) { return nil, s.Apply(bg, memory.LimitChosen{Guild: guild}) }, "no such table: role_limit"},
		{"DROP TABLE role_limit", func(s *Store) (any, error) { return s.Guilds(bg) }, "read what others wrote"},
		{"UPDATE role_limit SET messages = 'x'", func(s *Store) (any, error) { return s.Guilds(bg) }, "read what others wrote"},
		{"DROP TABLE taken", writeAnew, "no such table: taken"},
		{"DROP TABLE fact", writeAnew, "no such table: fact"},
		{"DROP TABLE lore_source", writeAnew, "no such table: lore_source"},
		{"DROP TABLE summary_source", writeAnew, "no such table: summary_source"},
		{"DROP TABLE rewritten", keepTraceAgain, "no such table: rewritten"},
		{fmt.Sprintf("INSERT INTO rewritten VALUES (%d, %d, 'x')", general, id(6)), keepTraceAgain, "converting"},
		{"DROP TABLE spent", func(s *Store) (any, error) { return nil, s.Apply(bg, spent(1, 1, 1)) }, "no such table: spent"},
		{"DROP TABLE forgetting", func(s *Store) (any, error) { return nil, s.Apply(bg, spent(1, 1, 1)) }, "no such table: forgetting"},
		{"DROP TABLE spent", func(s *Store) (any, error) {
			return nil, s.Apply(bg, memory.Opted{Guild: guild, User: 1, Out: true, At: id(9).Time()})
		}, "no such table: spent"},
		{"DROP TABLE spent", func(s *Store) (any, error) {
			return s.Forget(bg, memory.Forgetting{Guild: guild, At: id(9).Time()}, nil)
		}, "no such table: spent"},
		{"DROP TABLE spent", func(s *Store) (any, error) { return s.Spending(bg, guild, idAt(1)) }, "read what was spent in guild 100"},
		{"UPDATE spent SET user = 'x'", func(s *Store) (any, error) { return s.Spending(bg, guild, idAt(1)) }, "read what was spent in guild 100"},
		{"DROP TABLE spent", func(s *Store) (any, error) { return s.ForgetSpending(bg, idAt(1)) }, "forget what was spent long ago"},
		{"ALTER TABLE role RENAME bot TO x", func(s *Store) (any, error) { return nil, s.Apply(bg, memory.RoleSeen{Guild: guild}) }, "write to the database"},
		{"UPDATE message SET extra = '{'", remakeTerms, "unexpected end of JSON"},
		{"UPDATE message SET kind = 'x'", remakeTerms, "converting"},
		{"DROP TABLE meta", func(s *Store) (any, error) { return nil, s.Apply(bg, posted(general, 1001, "z")) }, "no such table: meta"},
		{"DROP TABLE early_edit", func(s *Store) (any, error) { return nil, s.Apply(bg, deleted(general, 1)) }, "no such table: early_edit"},
		{"DROP TABLE tombstone", func(s *Store) (any, error) { return nil, s.Apply(bg, posted(general, 1001, "z")) }, "no such table: tombstone"},
		{"DROP TABLE prompt", func(s *Store) (any, error) { return nil, s.Apply(bg, rewritten(71)) }, "no such table: prompt"},
		{"DROP TABLE taken", func(s *Store) (any, error) { return nil, s.Apply(bg, rewritten(71)) }, "no such table: taken"},
		{"UPDATE trace SET body = '{'", func(s *Store) (any, error) {
			return nil, s.Apply(bg, memory.Edited{Guild: guild, Channel: general, ID: id(6), Content: "another", At: id(900).Time()})
		}, "unexpected end of JSON"},
		{"DROP TABLE taken", func(s *Store) (any, error) { return nil, s.Apply(bg, deleted(general, 6)) }, "no such table: taken"},
		{"DROP TABLE meta", func(s *Store) (any, error) { return nil, s.checkTerms(bg) }, "no such table"},
		{"DROP TABLE meta", func(s *Store) (any, error) { return nil, s.useSpace(bg) }, "no such table"},
		{"DROP TABLE fact", func(s *Store) (any, error) { return s.People(bg, guild) }, "read the people of guild 100"},
		{"UPDATE fact SET by = 'x'", func(s *Store) (any, error) { return s.People(bg, guild) }, "read the people of guild 100"},
		{"DROP TABLE lore", func(s *Store) (any, error) { return s.Lore(bg, guild) }, "read the lore of guild 100"},
		{"UPDATE lore SET own = '{'", func(s *Store) (any, error) { return s.Lore(bg, guild) }, "the aliases of lore 1: "},
		{"UPDATE lore SET by = 'x'", func(s *Store) (any, error) { return s.Lore(bg, guild) }, "read the lore of guild 100"},
		{"DROP TABLE lore", func(s *Store) (any, error) { return s.Extent(bg, memory.Forgetting{Guild: guild}) }, "count what would be forgotten"},
		{"DROP TABLE summary_source", func(s *Store) (any, error) { return s.Summaries(bg, general) }, "read the summaries of channel 1000"},
		{"UPDATE summary SET topics = '{'", func(s *Store) (any, error) { return s.Summaries(bg, general) }, "the topics of summary "},
		{"UPDATE summary SET made = 'x'", func(s *Store) (any, error) { return s.Summaries(bg, general) }, "read the summaries of channel 1000"},
		{"DROP TABLE meta", func(s *Store) (any, error) { return s.Summaries(bg, general) }, "read the summaries of channel 1000"},
		{"DROP TABLE condensed_source", func(s *Store) (any, error) { return s.Condensed(bg, general) }, "read what sessions were condensed to"},
		{"UPDATE condensed SET until = 'x'", func(s *Store) (any, error) { return s.Condensed(bg, general) }, "read what sessions were condensed to"},
		{"DROP TABLE meta", func(s *Store) (any, error) { return s.Condensed(bg, general) }, "read what sessions were condensed to"},
		{"DROP TABLE summary", func(s *Store) (any, error) { return s.Unsummarised(bg, 0) }, "read what is to be summed up"},
		{"UPDATE channel SET guild = 'x'", func(s *Store) (any, error) { return s.Unsummarised(bg, 0) }, "read what is to be summed up"},
		{"DROP TABLE summary", func(s *Store) (any, error) { return s.Extent(bg, memory.Forgetting{Guild: guild}) }, "count what would be forgotten"},
		{"DROP TABLE trace", func(s *Store) (any, error) { return s.Extent(bg, memory.Forgetting{Guild: guild}) }, "count what would be forgotten"},
		{"DROP TABLE trace", func(s *Store) (any, error) { return s.ExtentOf(bg, general, []memory.MessageID{id(6)}) }, "count what goes with messages of channel 1000"},
		{"DROP TABLE doomed", func(s *Store) (any, error) { return s.Wrote(bg, guild, 1) }, "count what user 1 wrote in guild 100"},
		{"UPDATE forgetting SET guild = 100, user = 1, channel = 0, done = 1, receipt = '{'", func(s *Store) (any, error) { return s.Forgotten(bg, guild, 1) }, "read what user 1 had forgotten"},
		{"DROP TABLE learn", func(s *Store) (any, error) { return s.People(bg, guild) }, "read the people of guild 100"},
		{"DROP TABLE gap", func(s *Store) (any, error) { return s.Gaps(bg) }, "read what is missing"},
		{"UPDATE gap SET past = 'x'", func(s *Store) (any, error) { return s.Gaps(bg) }, "read what is missing"},
		{"ALTER TABLE channel RENAME heard TO x", func(s *Store) (any, error) { return s.HeardUntil(bg, guild) }, "read what was heard in guild 100"},
		{"UPDATE channel SET heard = 'x'", func(s *Store) (any, error) { return s.HeardUntil(bg, guild) }, "read what was heard in guild 100"},
		{"DROP TABLE opted", func(s *Store) (any, error) { return s.OptedOut(bg, guild, 1) }, "whether user 1 has opted out"},
		{"DROP TABLE withdrawn", func(s *Store) (any, error) { return s.Withdrawn(bg, 9) }, "read which answers were withdrawn"},
		{"UPDATE withdrawn SET first = 'x'", func(s *Store) (any, error) { return s.Withdrawn(bg, 9) }, "read which answers were withdrawn"},
		{"DROP VIEW said", func(s *Store) (any, error) { return s.Log(bg, general, 0, id(9), 9) }, "read messages of channel 1000"},
		{"DROP TABLE forgetting", func(s *Store) (any, error) { return s.Unfinished(bg) }, "read what is to be forgotten"},
		{"UPDATE forgetting SET guild = 'x'", func(s *Store) (any, error) { return s.Unfinished(bg) }, "read what is to be forgotten"},
		{"UPDATE forgetting SET guild = 'x'", func(s *Store) (any, error) { return nil, s.Apply(bg, posted(general, 1001, "z")) }, "write to the database"},
		{"UPDATE opted SET guild = 'x'", func(s *Store) (any, error) { return nil, s.Apply(bg, posted(general, 1001, "z")) }, "write to the database"},
		{"UPDATE forgetting SET receipt = '{'", func(s *Store) (any, error) { _, err := s.CarryOut(bg, 1, nil); return nil, err }, "carry out forgetting 1: "},
		{"DROP VIEW said; DROP TABLE doomed", func(s *Store) (any, error) { _, err := s.CarryOut(bg, 1, nil); return nil, err }, "no such table: doomed"},
		{"UPDATE message SET extra = '{'", func(s *Store) (any, error) { _, err := s.CarryOut(bg, 1, nil); return nil, err }, "unexpected end of JSON"},
		{"DROP TABLE forgetting", func(s *Store) (any, error) {
			_, err := s.Forget(bg, memory.Forgetting{Guild: guild}, nil)
			return nil, err
		}, "begin to forget: write to the database"},
		{"UPDATE channel SET overwrites = '{'", func(s *Store) (any, error) { return nil, s.Apply(bg, memory.RoleGone{Guild: guild, Role: 1}) }, "read the overwrites of channel 1000"},
	} {
		t.Run(c.spoil+"/"+c.want, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := open(t, dir)
			apply(t, s, posted(general, 1, "number one"), posted(general, 6, "number six"), posted(general, 71, "an answer"),
				memory.RoleSeen{Guild: guild, Role: memory.Role{ID: 1}}, memory.PersonSeen{Person: memory.Person{Guild: guild, ID: 1, RolesKnown: true}},
				memory.LoreTold{Lore: memory.Lore{ID: 1, Guild: guild, Name: "number", Text: "number three", At: idAt(1)}},
				memory.FactTold{Guild: guild, User: 1, Fact: memory.Fact{ID: 1}}, memory.GapFound{Gap: memory.Gap{Channel: general, Until: 5}},
				memory.Heard{Guild: guild, Channel: general, ID: id(3)}, memory.Opted{Guild: guild, User: 9, Out: true, At: id(1).Time()},
				posted(doomed, 1, "number of a channel that goes"),
				memory.LimitChosen{Guild: guild, At: idAt(1)}, spent(2, 1, 5), memory.ChannelDeleted{Guild: guild, Channel: doomed, At: id(1).Time()})
			execute(t, s.write, "INSERT INTO withdrawn VALUES (1, 1, 1, 1, 1, 0)")
			if err := s.KeepTrace(bg, memory.Trace{Channel: general, Answer: id(71), Question: id(6), Prompt: &memory.Prompt{Messages: []memory.PromptMessage{{Content: "number six"}}}}); err != nil {
				t.Fatal(err)
			}
			drain(t, s)
			apply(t, s, posted(general, 200, "number two"), summed(general, 1), condensed(general, "number nine", 1))
			other := raw(t, dir) // as another process would
			execute(t, other, c.spoil)
			if strings.Contains(c.want, "others wrote") { // and says that it wrote
				execute(t, other, "UPDATE meta SET value = 'another' WHERE key = 'writer'")
			}
			if err := s.writer.close(); err != nil {
				t.Fatal(err)
			}
			s.writer.statements = nil // so that some can't be prepared
			answer, err := c.read(s)
			wantError(t, err, c.want)
			if b := fmt.Sprint(answer); err == nil || strings.Contains(b, "number") {
				t.Errorf("answered %s", b)
			}
		})
	}
}

// doomed is a channel of which everything is being forgotten.
const doomed memory.ChannelID = 3500

func remakeTerms(s *Store) (any, error) {
	if _, err := s.write.ExecContext(bg, "DELETE FROM meta WHERE key = 'terms'"); err != nil {
		return nil, err
	}
	return nil, s.checkTerms(bg)
}

// A file whose structure can't be read isn't opened.
func TestOpenWithoutStructure(t *testing.T) {
	t.Parallel()
	dir := stored(t, 1)
	execute(t, raw(t, dir), "UPDATE guild SET owner = 'x'")
	_, err := Open(t.Context(), dir, Options{})
	wantError(t, err, "open "+dir, "owner")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Open(ended, t.TempDir(), Options{})
	wantError(t, err, "context canceled")
}

// A file that turned read-only refuses writes, with advice.
func TestAReadOnlyFile(t *testing.T) {
	t.Parallel()
	s := populated(t)
	execute(t, s.write, "PRAGMA query_only = 1")
	wantError(t, s.Apply(bg, posted(general, 1001, "z")), "can't be written", "check their owner and permissions")
	execute(t, s.write, "PRAGMA query_only = 0")
	apply(t, s, posted(general, 1001, "z"))
}

// Reads whose check of others' writes passed may still fail: the file may close in between.
func TestReadsOfAClosedFile(t *testing.T) {
	t.Parallel()
	s := populated(t)
	if err := s.watch.conn.Close(); err != nil {
		t.Fatal(err)
	}
	vector := make([]float32, memorytest.Embedder{}.Space().Dimensions)
	vector[0] = 1
	scope := in(general)
	scope.Until = time.Now()
	for name, read := range map[string]func() error{
		"people":      func() error { _, err := s.People(bg, guild); return err },
		"lore":        func() error { _, err := s.Lore(bg, guild); return err },
		"summaries":   func() error { _, err := s.Summaries(bg, general); return err },
		"presence":    func() error { _, err := s.Presence(bg, scope, nil); return err },
		"messages":    func() error { _, err := s.Messages(bg, general, nil); return err },
		"full text":   func() error { _, err := s.FullText(bg, scope, []string{"x"}, 1); return err },
		"frequencies": func() error { _, _, err := s.Frequencies(bg, scope, nil, 1); return err },
		"nearest":     func() error { _, err := s.Nearest(bg, scope, s.options.Space, vector, 1); return err },
		"guild":       func() error { _, err := s.Guild(bg, guild); return err },
		"guilds":      func() error { _, err := s.Guilds(bg); return err },
		"structure":   func() error { return s.Apply(bg, memory.RoleGone{Guild: guild, Role: 9}) },
	} {
		if err := read(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := s.read.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Pending(bg, 1)
	wantError(t, err, "read what is to be embedded")
	s.watch.conn = nil // closed already
}
