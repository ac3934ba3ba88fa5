package store

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/postgres"
	"hark/memory/postgres/postgrestest"
	"hark/memory/sqlite"
	"hark/memory/sqlstore"
)

// TestMain makes fewer checks of random operations than is usual: each of them moves memories.
func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv("HARK_LONG") == "" {
		_ = flag.Set("rapid.checks", "8")
	}
	m.Run()
}

func quietly(string, int, int) {}

// interrupted ends after some looks at whether it has.
type interrupted struct {
	context.Context
	left atomic.Int64
}

func (i *interrupted) Err() error {
	if i.left.Add(-1) < 0 {
		return context.Canceled
	}
	return i.Context.Err()
}

// moves moves a memory, with some interruptions.
func moves(t testing.TB, from, to Place, interruptions int) {
	t.Helper()
	for range interruptions {
		ctx := &interrupted{Context: context.Background()}
		ctx.left.Store(int64(5 + rand.IntN(80)))
		if _, err := from.Move(ctx, to, quietly); err == nil {
			return
		} else if !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted: %v", err)
		}
		if s, err := to.Open(context.Background(), Options{}); err == nil { // nothing was copied yet
			_ = s.Close()
		} else if !errors.Is(err, sqlstore.ErrMoving) {
			t.Fatalf("a half-moved store: %v", err)
		}
	}
	if _, err := from.Move(context.Background(), to, quietly); err != nil {
		t.Fatal(err)
	}
}

// A memory that moves to and fro between the engines, with interruptions, answers as the model does.
func TestMovedStoresAnswerTheSame(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	at := map[string]Place{}
	open := func(t testing.TB, p Place) memory.Opened {
		space := memorytest.Embedder{}.Space() // the model counts no tokens
		var s memory.Opened
		var err error
		if p.IsFile() {
			s, err = sqlite.Open(context.Background(), p.Dir, sqlite.Options{Space: space})
		} else {
			s, err = postgres.Open(context.Background(), p.URL, postgres.Options{Space: space})
		}
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	n := 0
	memorytest.Reopen(t, func(tb testing.TB) string {
		n++
		return filepath.Join(t.TempDir(), fmt.Sprint(n))
	}, func(t testing.TB, dir string) memory.Opened {
		from, moved := at[dir]
		switch to := (Place{Dir: dir, URL: url}); {
		case !moved:
			at[dir] = Place{Dir: filepath.Join(dir, "first")}
		case from.IsFile():
			empty(t, url)
			moves(t, from, to, rand.IntN(3))
			at[dir] = to
		default:
			n++
			file := Place{Dir: filepath.Join(dir, fmt.Sprint(n))}
			moves(t, from, file, rand.IntN(3))
			at[dir] = file
		}
		return open(t, at[dir])
	})
}

// empty empties a database.
func empty(t testing.TB, url string) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err == nil {
		_, err = db.Exec("TRUNCATE meta, fulltext, text_size, embedding, embedding_next, " +
			strings.ReplaceAll(strings.Join(sqlstore.MovedTables(), ", "), "user", `"user"`))
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Every table is copied, or is an engine's own, and has the same columns in both engines, but for the guild.
func TestEveryTableIsMoved(t *testing.T) {
	t.Parallel()
	file := Place{Dir: t.TempDir()}
	s, err := file.Open(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	own := map[bool][]string{
		true: {"vector", "vector_next", "vector_version", "sqlite_sequence", "sqlite_stat1"},
		false: {"embedding", "embedding_next", "vector_version", "text_size", "turn", "changed", "erasable", "process",
			"lease", "identify"},
	}
	schemas := map[bool]map[string][]string{
		true: columns(t, "sqlite", filepath.Join(file.Dir, sqlite.FileName),
			`SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table'`),
		false: columns(t, "pgx", postgrestest.URL(t), `SELECT c.table_name, c.column_name FROM information_schema.columns c
			JOIN information_schema.tables t USING (table_schema, table_name)
			WHERE t.table_schema = 'public' AND t.table_type = 'BASE TABLE'`),
	}
	for isFile, schema := range schemas {
		for table, columns := range schema {
			isOwn := slices.Contains(own[isFile], table) || strings.HasPrefix(table, "fulltext") ||
				strings.HasPrefix(table, "goose_")
			if moved := slices.Contains(sqlstore.MovedTables(), table); moved == isOwn {
				t.Errorf("add the table %s to movedTables in sqlstore, or to this test if it is the engine's own", table)
			} else if other := schemas[!isFile][table]; moved && !slices.Equal(withoutGuild(columns), withoutGuild(other)) {
				t.Errorf("the columns of %s: %v and %v", table, columns, other)
			}
		}
	}
}

// withoutGuild leaves out the column that only PostgreSQL has in most tables.
func withoutGuild(columns []string) []string {
	return slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return name == "guild" })
}

// columns returns the sorted columns of a database's tables.
func columns(t *testing.T, driver, source, query string) map[string][]string {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all := map[string][]string{}
	if err := sqlstore.Each(t.Context(), db, func(scan sqlstore.Scanner) error {
		var table, column string
		err := scan(&table, &column)
		all[table] = append(all[table], column)
		slices.Sort(all[table])
		return err
	}, query); err != nil {
		t.Fatal(err)
	}
	return all
}

// A move goes to an empty place only, refuses while somebody uses the memory, and notices what is written meanwhile.
// Then it begins again.
func TestMoveRefuses(t *testing.T) {
	t.Parallel()
	database, file := Place{Dir: t.TempDir(), URL: postgrestest.URL(t)}, Place{Dir: t.TempDir()}
	says := func(p Place, id memory.MessageID) {
		t.Helper()
		s, err := p.Open(t.Context(), Options{})
		if err == nil {
			channel := memory.Channel{ID: 11, Guild: 1, Name: "general"}
			err = errors.Join(s.Apply(t.Context(), memory.ChannelSeen{Channel: channel}, memory.Posted{
				Message: memory.Message{ID: id, Guild: 1, Channel: 11, Author: 7, Content: "apples"}}), s.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	refused := func(from, to Place, want string) {
		t.Helper()
		if _, err := from.Move(t.Context(), to, quietly); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	says(file, 5)
	refused(file, file, "already")
	refused(file, Place{Dir: filepath.Join(file.Dir, "..", filepath.Base(file.Dir))}, "already")
	s, err := file.Open(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	refused(file, database, "in use")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	release, err := file.LockRunning(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	refused(file, database, "runs on it")
	if err := release(); err != nil {
		t.Fatal(err)
	}
	other := Place{Dir: t.TempDir()}
	says(other, 6)
	refused(other, file, "something is remembered there already")
	decided := Place{Dir: t.TempDir()}
	with(t, decided, func(s *sqlstore.Store) {
		apply(t, s, memory.Opted{Guild: 1, User: 7, Out: true, At: time.Now()})
		if _, err := s.Forget(t.Context(), memory.Forgetting{Guild: 1, Why: memory.WhyLeft, At: time.Now()}, nil); err != nil {
			t.Fatal(err)
		}
		if guilds, err := s.Guilds(t.Context()); err != nil || len(guilds) > 0 {
			t.Fatalf("servers %v are known, %v", guilds, err)
		}
	})
	refused(other, decided, "something is remembered there already")

	rename := func(name string) {
		execute(t, filepath.Join(file.Dir, sqlite.FileName), "UPDATE guild SET name = '"+name+"'")
	}
	change := sync.OnceFunc(func() { rename("meanwhile") })
	_, err = file.Move(t.Context(), database, func(string, int, int) { change() })
	if err == nil || !strings.Contains(err.Error(), "has changed since the move began") {
		t.Errorf("somebody wrote meanwhile: %v", err)
	}
	if _, err := database.Open(t.Context(), Options{}); !errors.Is(err, sqlstore.ErrMoving) {
		t.Error(err)
	}
	refused(database, Place{Dir: t.TempDir()}, sqlstore.ErrMoving.Error())
	rename("renamed")
	moves(t, file, database, 0)
	with(t, database, func(s *sqlstore.Store) {
		if g, err := s.Guild(t.Context(), 1); err != nil || g.Name != "renamed" {
			t.Errorf("the server is %q, %v", g.Name, err)
		}
	})
	refused(other, database, "something is remembered there already")
}

// A deletion holds after a move, even in a channel of which Hark knew nothing else.
func TestDeletionsInUnknownChannelsAreMoved(t *testing.T) {
	t.Parallel()
	file, database := Place{Dir: t.TempDir()}, Place{Dir: t.TempDir(), URL: postgrestest.URL(t)}
	channel := memory.ChannelID(harbour) + 10
	ids := []memory.MessageID{moment(3), moment(4)}
	with(t, file, func(s *sqlstore.Store) {
		apply(t, s, memory.Starred{Guild: harbour, Channel: channel, ID: ids[0], On: true, At: time.Now()},
			memory.Deleted{Guild: harbour, Channel: channel, IDs: ids[:1]},
			memory.Deleted{Guild: harbour, Channel: channel + 1, IDs: ids[1:]})
	})
	moves(t, file, database, 0)
	with(t, database, func(s *sqlstore.Store) {
		for i, id := range ids {
			at := channel + memory.ChannelID(i)
			apply(t, s, memory.ChannelSeen{Channel: memory.Channel{ID: at, Guild: harbour, Name: "thread"}},
				memory.Posted{Message: memory.Message{ID: id, Guild: harbour, Channel: at, Author: 1, Content: "deleted"}})
			if found, err := s.Around(t.Context(), at, []memory.MessageID{id}, 0, 0); err != nil || len(found) > 0 {
				t.Errorf("a deleted message came back: %v, %v", found, err)
			}
		}
	})
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.Exec(statement)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}
