package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hark/internal/text"
	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/postgres/postgrestest"
	"hark/memory/sqlstore"
)

const harbour, garden memory.GuildID = 3001, 3002

// began is when the servers of these tests began, and moment the nth moment after it.
var began = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

func moment(n int) memory.MessageID {
	return memory.FirstMessageID(began.Add(time.Duration(n) * time.Minute))
}

// with runs f on an open memory.
func with(t testing.TB, p Place, f func(s *sqlstore.Store)) {
	t.Helper()
	s, err := p.Open(t.Context(), Options{Space: memorytest.Embedder{}.Space()})
	if err != nil {
		t.Fatal(err)
	}
	f(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func apply(t testing.TB, s *sqlstore.Store, events ...memory.Event) {
	t.Helper()
	if err := s.Apply(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
	if err := (&memory.Indexer{Queue: s, Embedder: memorytest.Embedder{}}).Drain(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

// settle is a server with a channel in which three people said ten things each, an answer made from the first, and lore.
func settle(guild memory.GuildID) (events []memory.Event) {
	channel := memory.ChannelID(guild) + 10
	events = append(events, memory.GuildSeen{Guild: memory.Guild{ID: guild, Name: fmt.Sprint("server ", guild),
		Channels: []memory.Channel{{ID: channel, Guild: guild, Name: "general"}}}})
	for n := range 30 {
		events = append(events, memory.Posted{Message: memory.Message{ID: moment(n), Guild: guild, Channel: channel,
			Author: memory.UserID(1 + n%3), Content: fmt.Sprintf("boat number%d sails to harbour%d", n, guild)}})
	}
	return append(events,
		memory.Posted{Message: memory.Message{ID: moment(40), Guild: guild, Channel: channel, Author: 99, Kind: memory.FromHark,
			Content: "It sails."}},
		memory.Answered{Trace: memory.Trace{Guild: guild, Channel: channel, Answer: moment(40), Question: moment(29), Asker: 3,
			Sources: []memory.Source{{Kind: memory.SourceMessage, Channel: channel, ID: int64(moment(0))}}}},
		memory.LoreTold{Lore: memory.Lore{ID: int64(moment(41)) + int64(guild), Guild: guild, Name: "quay", Text: "The quay is long",
			By: 1, At: began.Add(time.Hour)}},
		memory.SettingChosen{Guild: guild, Key: memory.SettingPersona, Value: "captain", At: began.Add(time.Hour)})
}

// tell describes what a memory knows of a server, as its users see it.
func tell(t testing.TB, s *sqlstore.Store, guild memory.GuildID) string {
	t.Helper()
	var b strings.Builder
	g, err := s.Guild(t.Context(), guild)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&b, g.Name, g.Settings)
	scope := memory.Scope{}
	for _, c := range g.Channels {
		scope.Channels = append(scope.Channels, c.ID)
		for n := range 60 {
			found, err := s.Around(t.Context(), c.ID, []memory.MessageID{moment(n)}, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range found {
				if m.ID == moment(n) {
					fmt.Fprintln(&b, n, m.Author, m.Content)
				}
			}
		}
		traces, err := s.Traces(t.Context(), memory.TraceQuery{Channel: c.ID, Answer: moment(40)})
		fmt.Fprintln(&b, len(traces), err)
	}
	hits, err := s.FullText(t.Context(), scope, text.Terms("boat"), 100)
	fmt.Fprintln(&b, len(hits), err)
	near, err := s.Nearest(t.Context(), scope, memorytest.Embedder{}.Space(), embedded(t, "boat sails"), 100)
	fmt.Fprintln(&b, len(near), err)
	lore, err := s.Lore(t.Context(), guild)
	for _, l := range lore {
		fmt.Fprintln(&b, l.Name, l.Text)
	}
	fmt.Fprintln(&b, err)
	return b.String()
}

func embedded(t testing.TB, text string) []float32 {
	t.Helper()
	v, err := memorytest.Embedder{}.Embed(t.Context(), memory.ForSearch, []string{text})
	if err != nil {
		t.Fatal(err)
	}
	return v[0]
}

// A server that is restored is as it was, but for what was forgotten, deleted and edited since. Others stay as they are.
func TestAServerIsBackedUpAndRestored(t *testing.T) {
	t.Parallel()
	p, other := Place{Dir: t.TempDir(), URL: postgrestest.URL(t)}, Place{Dir: t.TempDir(), URL: postgrestest.URL(t)}
	file := filepath.Join(t.TempDir(), "harbour.db")
	channel := memory.ChannelID(harbour) + 10
	var before string
	with(t, p, func(s *sqlstore.Store) {
		apply(t, s, append(settle(garden), settle(harbour)...)...)
		before = tell(t, s, harbour)
		info, err := p.BackUpGuild(t.Context(), harbour, file, false, quietly) // while others use it
		if err != nil || info.Messages != 31 || info.Guilds != 1 {
			t.Fatal(info, err)
		}
	})

	// Elsewhere, where servers and derived things have other numbers.
	with(t, other, func(s *sqlstore.Store) {
		apply(t, s, settle(garden)...)
		apply(t, s, settle(5000)...)
		apply(t, s, memory.Posted{Message: memory.Message{ID: moment(1), Guild: memory.LocalGuild, Channel: 7, Author: 1,
			Content: "at the terminal, from where anything may be cited"}})
	})
	if _, err := other.Restore(t.Context(), file, "", quietly); err != nil {
		t.Fatal(err)
	}
	with(t, other, func(s *sqlstore.Store) {
		if got := tell(t, s, harbour); got != before {
			t.Errorf("it became\n%s\nbut was\n%s", got, before)
		}
		// What was derived knows its sources still: an answer goes with its source, and only that one.
		left := map[memory.GuildID]int{harbour: 1, garden: 1, 5000: 1}
		for _, in := range []memory.GuildID{5000, harbour} {
			apply(t, s, memory.Deleted{Guild: in, Channel: memory.ChannelID(in) + 10, IDs: []memory.MessageID{moment(0)}})
			left[in] = 0
			for guild, want := range left {
				traces, err := s.Traces(t.Context(), memory.TraceQuery{Channel: memory.ChannelID(guild) + 10, Answer: moment(40)})
				if err != nil || len(traces) != want {
					t.Errorf("server %d has %d traces, %v; want %d", guild, len(traces), err, want)
				}
			}
		}
	})

	// In the same place, some days later.
	var elsewhere string
	with(t, p, func(s *sqlstore.Store) {
		apply(t, s, memory.Deleted{Guild: harbour, Channel: channel, IDs: []memory.MessageID{moment(4)}},
			memory.Edited{Guild: harbour, Channel: channel, ID: moment(5), Content: "a ship", At: time.Now()},
			memory.SettingChosen{Guild: harbour, Key: memory.SettingPersona, Value: "cook", At: time.Now()},
			memory.Posted{Message: memory.Message{ID: moment(50), Guild: harbour, Channel: channel, Author: 1, Content: "new boat"}})
		if _, err := s.Forget(t.Context(), memory.Forgetting{Guild: harbour, User: 2, Why: memory.WhyMember, At: time.Now()},
			nil); err != nil {
			t.Fatal(err)
		}
		elsewhere = tell(t, s, garden)
	})
	r, err := p.Restore(t.Context(), file, "", quietly)
	if err != nil || len(r.Forgettings) != 1 || r.Edited != 1 {
		t.Fatal(r, err)
	}
	with(t, p, func(s *sqlstore.Store) {
		got := tell(t, s, harbour)
		for _, gone := range []string{" 2 boat", "number4 ", "number5 ", "captain", "new boat"} {
			if strings.Contains(got, gone) {
				t.Errorf("%q came back:\n%s", gone, got)
			}
		}
		for _, there := range []string{"number0 ", "number29 ", "5 3 a ship", "cook", "quay The quay is long"} {
			if !strings.Contains(got, there) {
				t.Errorf("%q is missing:\n%s", there, got)
			}
		}
		if got := tell(t, s, garden); got != elsewhere {
			t.Errorf("the other server became\n%s\nbut was\n%s", got, elsewhere)
		}
	})
	for _, place := range []Place{p, other} {
		if left, err := os.ReadDir(place.Dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

// backedUp is a database with a server, and a backup of that.
func backedUp(t *testing.T, events ...memory.Event) (p Place, file string) {
	t.Helper()
	p, file = Place{Dir: t.TempDir(), URL: postgrestest.URL(t)}, filepath.Join(t.TempDir(), "harbour.db")
	with(t, p, func(s *sqlstore.Store) {
		apply(t, s, append(settle(harbour), events...)...)
		if _, err := p.BackUpGuild(t.Context(), harbour, file, false, quietly); err != nil {
			t.Fatal(err)
		}
	})
	return p, file
}

// there returns how many of the server's messages with the numbers are remembered.
func there(t testing.TB, s *sqlstore.Store, numbers ...int) (n int) {
	t.Helper()
	for _, number := range numbers {
		found, err := s.Around(t.Context(), memory.ChannelID(harbour)+10, []memory.MessageID{moment(number)}, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		n += len(found)
	}
	return n
}

func record(guild memory.GuildID, n int) memory.Event {
	return memory.Recorded{Record: memory.Record{CallID: fmt.Sprintf("%d-%d", guild, n), Timestamp: began, Speaker: memory.SpeakerUser,
		Method: "ask", Args: []any{"secret"}, Guild: guild, Channel: memory.ChannelID(guild) + 10, Question: moment(n), Asker: 3}}
}

func TestARestoredRecordGoesWithItsQuestion(t *testing.T) {
	t.Parallel()
	_, file := backedUp(t, record(harbour, 28), record(harbour, 29))
	other := Place{Dir: t.TempDir(), URL: postgrestest.URL(t)}
	with(t, other, func(s *sqlstore.Store) {
		apply(t, s, append(settle(garden), record(garden, 25), record(garden, 26))...)
	})
	if r, err := other.Restore(t.Context(), file, "", quietly); err != nil || r.Known {
		t.Fatal(r, err)
	}
	with(t, other, func(s *sqlstore.Store) {
		channel := memory.ChannelID(harbour) + 10
		apply(t, s, memory.Deleted{Guild: harbour, Channel: channel, IDs: []memory.MessageID{moment(28)}})
		all, err := s.Records(t.Context(), memory.RecordQuery{Channels: []memory.ChannelID{channel}})
		if err != nil || len(all) != 1 || all[0].Question != moment(29) {
			t.Errorf("left are %v, %v", all, err)
		}
	})
}

// What the backup's Hark was told to forget stays away from the database to which it is restored.
func TestTheRulesOfABackupHold(t *testing.T) {
	t.Parallel()
	channel := memory.ChannelID(harbour) + 10
	p, _ := backedUp(t)
	file := filepath.Join(t.TempDir(), "later.db")
	with(t, p, func(s *sqlstore.Store) {
		for _, f := range []memory.Forgetting{{Guild: harbour, User: 2, Why: memory.WhyMember, At: time.Now()},
			{Guild: harbour, Channel: channel, Before: began.Add(5 * time.Minute), Why: memory.WhyPurge, At: time.Now()}} {
			if _, err := s.Forget(t.Context(), f, nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.BackUpGuild(t.Context(), harbour, file, false, quietly); err != nil {
			t.Fatal(err)
		}
	})
	other := Place{Dir: t.TempDir(), URL: postgrestest.URL(t)}
	if _, err := other.Restore(t.Context(), file, "", quietly); err != nil {
		t.Fatal(err)
	}
	with(t, other, func(s *sqlstore.Store) {
		for n, author := range []memory.UserID{1, 2} { // as from Discord, once more
			apply(t, s, memory.Posted{Message: memory.Message{ID: moment(n), Guild: harbour, Channel: channel, Author: author,
				Content: "came back"}})
		}
		if n := there(t, s, 0, 1); n > 0 {
			t.Errorf("%d messages came back", n)
		}
	})
}

// What is forgotten while a restore runs stays forgotten: the restore gives up.
func TestARestoreGivesUpWhenSomebodyWrites(t *testing.T) {
	t.Parallel()
	p, file := backedUp(t)
	done := false
	_, err := p.Restore(t.Context(), file, "", func(what string, _, _ int) {
		if done || what != "reading what was decided" {
			return
		}
		done = true
		with(t, p, func(s *sqlstore.Store) { // "hark forget" in another terminal
			if _, err := s.Forget(t.Context(), memory.Forgetting{Guild: harbour, User: 2, Why: memory.WhyPurge, At: time.Now()},
				nil); err != nil {
				t.Error(err)
			}
		})
	})
	if err == nil || !strings.Contains(err.Error(), "something was written") || !done {
		t.Error(done, err)
	}
	with(t, p, func(s *sqlstore.Store) {
		if n := there(t, s, 1, 4); n > 0 {
			t.Errorf("%d messages came back", n)
		}
	})
}

func TestAServerThatWasForgottenSinceStaysSo(t *testing.T) {
	t.Parallel()
	p, file := backedUp(t)
	with(t, p, func(s *sqlstore.Store) {
		apply(t, s, memory.GuildLeft{Guild: harbour, At: time.Now()})
		if _, err := s.Forget(t.Context(), memory.Forgetting{Guild: harbour, Why: memory.WhyLeft, At: time.Now()}, nil); err != nil {
			t.Fatal(err)
		}
	})
	if r, err := p.Restore(t.Context(), file, "", quietly); err != nil || !r.Known || len(r.Forgettings) != 1 {
		t.Fatal(r, err)
	}
	with(t, p, func(s *sqlstore.Store) {
		if n := there(t, s, 0, 1, 2, 3, 4); n > 0 {
			t.Errorf("%d messages came back", n)
		}
	})
}

// After a restore, shards begin new sessions, in which Discord tells who may read what now.
func TestARestoreEndsSessions(t *testing.T) {
	t.Parallel()
	p, file := backedUp(t)
	shard := []string{"shard 0/1"}
	with(t, p, func(s *sqlstore.Store) {
		held, err := s.Leases().Claim(t.Context(), shard, 1)
		if err == nil {
			err = s.Leases().Release(t.Context(), held[0], `{"id":"session"}`)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	if _, err := p.Restore(t.Context(), file, "", quietly); err != nil {
		t.Fatal(err)
	}
	with(t, p, func(s *sqlstore.Store) {
		held, err := s.Leases().Claim(t.Context(), shard, 1)
		if err != nil || held[0].Note != "" {
			t.Errorf("the next owner resumes %v, %v", held, err)
		}
	})
}

// A backup that was killed while it wrote its file leaves nothing.
func TestInterruptedBackupsAreRemoved(t *testing.T) {
	t.Parallel()
	dir, part := t.TempDir(), filepath.Join(t.TempDir(), "harbour.db.part")
	left := filepath.Join(dir, "one-server-1")
	old := time.Now().Add(-time.Hour)
	for _, err := range []error{os.Mkdir(left, 0o700), os.WriteFile(part, []byte("text"), 0o600),
		os.WriteFile(filepath.Join(left, "backing-up-1"), []byte(part), 0o600), os.Chtimes(left, old, old), DropTemporary(dir)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{left, part} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
}

// A file of its own may have known other servers. What it was told of them stays out.
func TestARestoreTakesNothingOfOtherServers(t *testing.T) {
	t.Parallel()
	file, p := Place{Dir: t.TempDir()}, Place{Dir: t.TempDir(), URL: postgrestest.URL(t)}
	with(t, file, func(s *sqlstore.Store) {
		apply(t, s, append(append(settle(harbour), settle(garden)...),
			memory.GuildLeft{Guild: garden, At: began.Add(2 * time.Hour)},
			memory.Opted{Guild: garden, User: 2, Out: true, At: began.Add(2 * time.Hour)})...)
		if _, err := s.Forget(t.Context(), memory.Forgetting{Guild: garden, Why: memory.WhyLeft, At: began.Add(10 * time.Hour)},
			nil); err != nil {
			t.Fatal(err)
		}
	})
	with(t, p, func(s *sqlstore.Store) { apply(t, s, settle(garden)...) })
	if _, err := p.Restore(t.Context(), filepath.Join(file.Dir, "hark.db"), "", quietly); err != nil {
		t.Fatal(err)
	}
	with(t, p, func(s *sqlstore.Store) {
		if out, err := memory.HasOptedOut(t.Context(), s, garden, 2); out || err != nil {
			t.Errorf("a decision of another server was taken: %v", err)
		}
		apply(t, s, memory.Posted{Message: memory.Message{ID: moment(45), Guild: harbour, Channel: memory.ChannelID(harbour) + 10,
			Author: 3, Content: "new"}})
		if there(t, s, 45) != 1 {
			t.Error("a new message counts as forgotten")
		}
	})
}

func TestRestoreRefusesABackupOfSeveralServers(t *testing.T) {
	t.Parallel()
	file, p := Place{Dir: t.TempDir()}, Place{Dir: t.TempDir(), URL: postgrestest.URL(t)}
	with(t, file, func(s *sqlstore.Store) { apply(t, s, append(settle(garden), settle(harbour)...)...) })
	_, err := p.Restore(context.Background(), filepath.Join(file.Dir, "hark.db"), "", quietly)
	if err == nil || !strings.Contains(err.Error(), "it holds 2 servers") {
		t.Error(err)
	}
}
