package imports

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hark/internal/golden"
	"hark/memory"
)

// tableShelf is a shelf that knows servers and who has opted out.
type tableShelf struct {
	*shelf
	known map[memory.GuildID]*memory.Guild
	out   map[memory.UserID]bool
	fail  error
}

func newTableShelf() *tableShelf {
	return &tableShelf{shelf: newShelf(), known: map[memory.GuildID]*memory.Guild{}, out: map[memory.UserID]bool{}}
}

func (s *tableShelf) Guilds(context.Context) (ids []memory.GuildID, err error) {
	for id := range s.known {
		ids = append(ids, id)
	}
	return ids, s.fail
}

func (s *tableShelf) Guild(_ context.Context, id memory.GuildID) (*memory.Guild, error) {
	return s.known[id], s.fail
}

func (s *tableShelf) OptedOut(_ context.Context, _ memory.GuildID, user memory.UserID) (bool, error) {
	return s.out[user], s.fail
}

// database makes a database of statements.
func database(t testing.TB, statements string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a memory?.db")
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath())
	if err == nil {
		_, err = db.Exec(statements)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// The tables as two versions of PigPig make them.
const (
	pigpigNow = `
CREATE TABLE users (user_id INTEGER PRIMARY KEY, username TEXT NOT NULL, is_bot INTEGER NOT NULL, created_at REAL NOT NULL);
CREATE TABLE pending_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id INTEGER NOT NULL, channel_id INTEGER NOT NULL, guild_id INTEGER NOT NULL, user_id INTEGER NOT NULL, timestamp REAL NOT NULL, processed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE messages (message_id INTEGER PRIMARY KEY, channel_id INTEGER NOT NULL, guild_id INTEGER NOT NULL, user_id INTEGER NOT NULL, content TEXT NOT NULL, timestamp REAL NOT NULL, reactions TEXT, vectorized INTEGER NOT NULL DEFAULT 0);
INSERT INTO users VALUES (71, 'ada', 0, 1.5), (72, 'piggy', 1, 1.5);
INSERT INTO messages VALUES (1136810734387200001, 5002, 5001, 71, 'The crane is fixed.', 1691107200.25, NULL, 1), (1136810986045440002, 5002, 5001, 72, 'Good news!', 1691107260, NULL, 0),
	(1136810986045440003, 5002, 5001, 71, '', 1691107260, NULL, 0), (1136810986045440004, 77, 0, 71, 'to you alone', 1691107260, NULL, 0);`
	pigpigBefore = `
CREATE TABLE channels (channel_id TEXT PRIMARY KEY, guild_id TEXT NOT NULL, created_at DATETIME, metadata TEXT);
CREATE TABLE messages (message_id TEXT PRIMARY KEY, channel_id TEXT NOT NULL, user_id TEXT NOT NULL, content TEXT NOT NULL, content_processed TEXT, timestamp DATETIME NOT NULL, message_type TEXT DEFAULT 'user', relevance_score REAL, metadata TEXT);
CREATE TABLE users (user_id TEXT PRIMARY KEY, display_name TEXT, user_data TEXT);
INSERT INTO channels VALUES ('5002', '5001', NULL, NULL), ('5003', 'unknown', NULL, NULL), ('5004', 'unknown', NULL, NULL);
INSERT INTO users VALUES ('71', 'Ada', NULL);
INSERT INTO messages (message_id, channel_id, user_id, content, content_processed, timestamp, message_type) VALUES
	('1136810734387200001', '5002', '71', 'The crane is fixed.', 'crane fixed', '2023-08-04 00:00:00.123456+00:00', 'user'),
	('1136810986045440002', '5003', '71', 'In a channel that is known.', NULL, '2023-08-04 08:01:00', 'user'),
	('1136810986045440003', '5004', '71', 'In a channel that nobody knows.', NULL, '2023-08-04T00:01:00Z', 'user'),
	('1136810986045440004', '5004', '72', 'By somebody who has opted out.', NULL, '2023-08-04T00:01:00Z', 'user'),
	('1136810986045440005', '5002', '9', 'As you wish.', NULL, '2023-08-04 00:01:00', 'assistant');`
)

// told are the messages of a shelf, as lines.
func (s *tableShelf) told() map[string]string {
	told := map[string]string{}
	for at, m := range s.messages {
		c := s.channels[at.channel]
		who := s.people[m.Author].Username
		if m.Author == 0 && m.Kind != memory.FromSystem {
			who = "nobody"
		}
		told[m.Content] = fmt.Sprintf("%d %d %s %s", m.Guild, m.Kind, who, m.Time().Format(time.RFC3339))
		if c.Guild != m.Guild {
			told[m.Content] += " of another server than its channel"
		}
	}
	return told
}

func TestTablesOfMessages(t *testing.T) {
	t.Parallel()
	const local, direct = "1", "0"
	for name, c := range map[string]struct {
		file string
		want map[string]string
		sum  Summary
	}{
		"PigPig's now": {pigpigNow, map[string]string{
			"The crane is fixed.": "5001 0 ada 2023-08-04T00:00:00Z", "Good news!": "5001 1 piggy 2023-08-04T00:01:00Z", "to you alone": direct + " 0 ada 2023-08-04T00:01:00Z",
		}, Summary{Channels: 2, Direct: 1, People: 3, Messages: 3}},
		"PigPig's before": {pigpigBefore, map[string]string{
			"The crane is fixed.": "5001 0 Ada 2023-08-04T00:00:00Z", "In a channel that is known.": "6001 0 Ada 2023-08-04T00:01:00Z",
			"In a channel that nobody knows.": local + " 0 Ada 2023-08-04T00:01:00Z", "As you wish.": "5001 1 assistant 2023-08-04T00:01:00Z",
		}, Summary{Channels: 3, People: 4, Messages: 4, Out: 1, Local: 1}},
		"another bot's": {`CREATE TABLE chat_log (id INTEGER PRIMARY KEY, Channel TEXT, server_id INTEGER, author_id INTEGER, author_name TEXT, Message TEXT, created_at INTEGER, reply_to INTEGER, deleted INTEGER);
			INSERT INTO chat_log VALUES (1, '5002', 5001, 71, ' Ada ', 'one', 1691107200, NULL, 0), (2, '5002', 5001, 73, 'Ben', 'two', 1691107201000, 1, 0), (3, '5002', 5001, 71, 'Ada', 'gone', 1691107202, NULL, 1),
			(4, '5002', 5001, 71, 'Ada', 'timeless', NULL, NULL, 0), (5, '5002', 5001, 'ada#1', 'Ada', 'by nobody', 1691107202, NULL, 0), (6, NULL, 5001, 71, 'Ada', 'nowhere', 1691107202, NULL, 0), (7, '5002', 5001, 71, 'Ada', 'ancient', -9e10, NULL, 0);`,
			map[string]string{"one": "5001 0 Ada 2023-08-04T00:00:00Z", "two": "5001 0 Ben 2023-08-04T00:00:01Z"},
			Summary{Channels: 1, People: 2, Messages: 2, Skipped: 4}},
		"without ids": {`CREATE TABLE "odd ""name" (channel_name TEXT, channel TEXT, user TEXT, role TEXT, body TEXT, ts TEXT);
			INSERT INTO "odd ""name" VALUES ('lounge', 'general', '71', 'user', 'hello', '2024-01-02 03:04'), ('lounge', 'general', '', 'assistant', 'hi', '2024-01-02 03:05'), ('lounge', 'general', '71', 'user', 'bye', 'yesterday'), ('lounge', 'general', '', 'system', 'joined', '2024-01-02 03:06:00 UTC');`,
			map[string]string{"hello": local + " 0  2024-01-02T03:04:00Z", "hi": local + " 1 assistant 2024-01-02T03:05:00Z", "joined": local + " 4  2024-01-02T03:06:00Z"},
			Summary{Channels: 1, People: 1, Messages: 3, Skipped: 1, Local: 1}},
		"with whom it answered": {`CREATE TABLE log (id INTEGER PRIMARY KEY, channel_id INTEGER, guild_id INTEGER, user_id INTEGER, user_name TEXT, text TEXT, time INTEGER, role TEXT);
			INSERT INTO log VALUES (1, 5002, 5001, 71, 'Ada', 'when?', 1691107200, 'user'), (2, 5002, 5001, 71, 'Ada', 'on Friday', 1691107201, 'assistant');`,
			map[string]string{"when?": "5001 0 Ada 2023-08-04T00:00:00Z", "on Friday": "5001 1 assistant 2023-08-04T00:00:01Z"},
			Summary{Channels: 1, People: 2, Messages: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := database(t, c.file)
			s := newTableShelf()
			s.known[6001] = &memory.Guild{ID: 6001, Channels: []memory.Channel{{ID: 5003}}}
			s.out[72] = true
			for range 2 {
				var done, total int64
				sum, err := ReadTable(t.Context(), path, s, s.apply, func(d, n int64) { done, total = d, n })
				if err != nil || done != total || total == 0 {
					t.Fatalf("%d of %d rows: %v", done, total, err)
				}
				golden.Seen(t, sum.FirstSkipped)
				sum.FirstSkipped, c.sum.Kind = "", MessageTable
				if diff := cmp.Diff(c.sum, sum); diff != "" {
					t.Errorf("summary (-want +got)\n%s", diff)
				}
				if diff := cmp.Diff(c.want, s.told()); diff != "" {
					t.Errorf("messages (-want +got)\n%s", diff)
				}
			}
			if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
				t.Errorf("it left %v, %v", entries, err)
			}
		})
	}
}

// What replies to what is found by a bot's own numbers.
func TestTableReplies(t *testing.T) {
	t.Parallel()
	path := database(t, `CREATE TABLE messages (id INTEGER PRIMARY KEY, channel_id INTEGER, guild_id INTEGER, user_id INTEGER, text TEXT, time INTEGER, reply_to TEXT);
		INSERT INTO messages VALUES (1, 5002, 5001, 71, 'when?', 1691107200, NULL), (2, 5002, 5001, 72, 'on Friday', 1691107201, '1'),
		(1136810734387200005, 5002, 5001, 71, 'where?', NULL, NULL), (1136810986045440005, 5002, 5001, 72, 'at home', NULL, '1136810734387200005')`)
	s := newTableShelf()
	if _, err := ReadTable(t.Context(), path, s, s.apply, nil); err != nil {
		t.Fatal(err)
	}
	byText := map[string]memory.Message{}
	for _, m := range s.messages {
		byText[m.Content] = m
	}
	for answer, question := range map[string]string{"on Friday": "when?", "at home": "where?"} {
		if byText[answer].ReplyTo == 0 || byText[answer].ReplyTo != byText[question].ID {
			t.Errorf("%q replies to %d, want %d", answer, byText[answer].ReplyTo, byText[question].ID)
		}
	}
}

func TestDatabasesThatHoldNoMessages(t *testing.T) {
	t.Parallel()
	many := "CREATE TABLE a_wide (c0"
	for i := range 20 {
		many += fmt.Sprintf(", c%d", i+1)
	}
	many += ");"
	for i := range 9 {
		many += fmt.Sprintf("CREATE TABLE t%d (x);", i)
	}
	for name, file := range map[string]string{
		"nothing":    "CREATE TABLE x (y); DROP TABLE x;",
		"others":     "CREATE TABLE songs (title, artist);",
		"without id": "CREATE TABLE messages (channel_id, user_id, content);",
		"many":       many,
		"a view":     "CREATE TABLE a (b); CREATE VIEW messages AS SELECT 1 message_id, 2 channel_id, 3 user_id, 'x' content;",
		"Hark's own": "CREATE TABLE message (id, channel, author, content); CREATE TABLE tombstone (x); CREATE TABLE forgetting (x); CREATE TABLE segment (x);",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTableShelf()
			_, err := ReadTable(t.Context(), database(t, file), s, s.apply, nil)
			golden.Seen(t, fmt.Sprint(err))
		})
	}
}

// A database that is damaged, or whose bot runs still, and one that is interrupted.
func TestTablesThatCantBeRead(t *testing.T) {
	t.Parallel()
	whole := database(t, pigpigNow)
	data, err := os.ReadFile(whole)
	if err != nil || !IsTable(data) || IsTable(data[:10]) || IsTable(nil) {
		t.Fatalf("it isn't known as a database: %v", err)
	}
	read := func(ctx context.Context, data []byte, s *tableShelf) error {
		path := filepath.Join(t.TempDir(), "x.db")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadTable(ctx, path, s, s.apply, nil)
		return err
	}
	for _, size := range []int{20, 100, 4096, len(data) - 4096} {
		if err := read(t.Context(), data[:size], newTableShelf()); err == nil {
			t.Errorf("of %d bytes: %v", size, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := read(ended, data, newTableShelf()); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	s := newTableShelf()
	s.fail = errShelf
	before, err := os.ReadFile(database(t, pigpigBefore))
	if err != nil {
		t.Fatal(err)
	}
	if err := read(t.Context(), before, s); !errors.Is(err, errShelf) {
		t.Errorf("of a memory that fails: %v", err)
	}
	s = newTableShelf()
	s.shelf.fail = errShelf
	if err := read(t.Context(), data, s); !errors.Is(err, errShelf) {
		t.Errorf("of a memory that takes nothing: %v", err)
	}
}

// What a bot has written and not yet moved out of its log is read too.
func TestTableWithALogBesideIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bot.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0;" + pigpigNow); err != nil {
		t.Fatal(err)
	}
	s := newTableShelf()
	if sum, err := ReadTable(t.Context(), path, s, s.apply, nil); err != nil || sum.Messages != 3 {
		t.Errorf("%+v, %v", sum, err)
	}
}

func TestMoments(t *testing.T) {
	t.Parallel()
	at := time.Date(2023, 8, 4, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"1691107200": at, "1691107200.5": at.Add(500 * time.Millisecond), "1691107200000": at, "1691107200000000": at, "1691107200000000000": at, " 1.6911072e9 ": at,
		"2023-08-04 00:00:00": at, "2023-08-04T00:00:00": at, "2023-08-04T02:00:00+02:00": at, "2023-08-04 02:00:00+0200": at, "2023-08-04 02:00:00 +0200": at,
		"2023-08-04 00:00:00.250000": at.Add(250 * time.Millisecond), "2023-08-04 00:00:00 UTC": at, "2023-08-04 00:00": at,
		"": {}, "0": {}, "soon": {}, "NaN": {}, "Inf": {}, "1e300": {},
	} {
		if got, ok := moment(text); ok == want.IsZero() || ok && !got.Equal(want) {
			t.Errorf("%q is %v, %v; want %v", text, got, ok, want)
		}
	}
}

func FuzzReadTable(f *testing.F) {
	f.Add("1136810734387200001", "5002", "5001", "71", "The crane", "1691107200.5", "user", "ada", "")
	f.Add("7", "general", "unknown", "", "\xff\x00", "2024-01-02 03:04:05+00:00", "assistant", "", "3")
	f.Add("-1", "0", "0", "9223372036854775807", "x", "-9e18", "system", "a\x00b", "9223372036854775807")
	f.Fuzz(func(t *testing.T, id, channel, guild, user, content, at, role, name, reply string) {
		path := database(t, "CREATE TABLE messages (message_id, channel_id, guild_id, user_id, content, timestamp, role, username, reply_to)")
		db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath())
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec("INSERT INTO messages VALUES (?,?,?,?,?,?,?,?,?)", id, channel, guild, user, content, at, role, name, reply)
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		s := newTableShelf()
		count := -1
		for range 2 {
			sum, err := ReadTable(t.Context(), path, s, func(events []memory.Event) error {
				for _, e := range events {
					checkEvent(t, s.shelf, e)
					if err := s.apply([]memory.Event{e}); err != nil {
						return err
					}
				}
				return nil
			}, nil)
			if err != nil && sum.Skipped == 0 || sum.Messages+sum.Skipped+sum.Out > 1 {
				t.Errorf("%+v, %v", sum, err)
			}
			if count >= 0 && len(s.messages) != count {
				t.Errorf("the second time made %d messages of %d", len(s.messages), count)
			}
			count = len(s.messages)
		}
	})
}

// Many bots keep what they said under the id of whom they answered.
func TestBotsWordsAreNoMembers(t *testing.T) {
	t.Parallel()
	path := database(t, `CREATE TABLE chat_history (id INTEGER PRIMARY KEY, guild_id INTEGER, channel_id INTEGER, user_id INTEGER, user_name TEXT, role TEXT, content TEXT, timestamp TEXT);
		INSERT INTO chat_history VALUES (1, 1100000000000000009, 1100000000000000002, 1100000000000000001, 'anna', 'assistant', 'It is nutmeg', '2024-05-31 12:00:01'),
			(2, 1100000000000000009, 1100000000000000002, 1100000000000000001, 'anna', 'user', 'what is the secret?', '2024-05-31 12:00:00')`)
	s := newTableShelf()
	sum, err := ReadTable(t.Context(), path, s, s.apply, nil)
	if err != nil || sum.Messages != 2 {
		t.Fatal(sum, err)
	}
	for _, m := range s.messages {
		if m.Content == "It is nutmeg" && (m.Author == 0 || m.Author == 1100000000000000001 || m.Kind != memory.FromBot) || m.Content != "It is nutmeg" && m.Author != 1100000000000000001 {
			t.Errorf("%+v", m)
		}
	}
	for _, p := range s.people {
		if p.Bot {
			t.Errorf("%+v", p)
		}
	}
}

func TestTablesOfWhichNothingCanBeTaken(t *testing.T) {
	t.Parallel()
	path := database(t, `CREATE TABLE log (id INTEGER PRIMARY KEY, author TEXT, channel TEXT, text TEXT, time TEXT);
		INSERT INTO log VALUES (1, 'anna', 'general', 'hello', '2024-05-31 12:00:00')`)
	s := newTableShelf()
	_, err := ReadTable(t.Context(), path, s, s.apply, nil) // it has names for authors
	golden.Seen(t, fmt.Sprint(err))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)-100], 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = ReadTable(t.Context(), path, s, s.apply, nil)
	golden.Seen(t, fmt.Sprint(err))
}
