package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hark/internal/fixture"
	"hark/internal/text"
	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/sqlstore"
)

// long says that the tests that take minutes are asked for.
var long = os.Getenv("HARK_LONG") != ""

// words are counted as tokens by the stores of these tests.
func words(s string) int { return len(strings.Fields(s)) }

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s := openOnce(t, dir)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func emptyDir(t testing.TB) string {
	t.Helper()
	return fixture.Dir(t, "empty", func(dir string) { closed(t, openOnce(t, dir)) })
}

func openOnce(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(bg, dir, Options{Space: memorytest.Embedder{}.Space(), Tokens: words})
	must(t, err)
	return s
}

func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func closed(t rapid.TB, s *Store) {
	t.Helper()
	must(t, s.Close())
}

func forget(t testing.TB, s *Store, f memory.Forgetting) memory.DeletionReport {
	t.Helper()
	r, err := s.Forget(bg, f, nil)
	must(t, err)
	return r
}

func apply(t testing.TB, s *Store, events ...memory.Event) {
	t.Helper()
	must(t, s.Apply(context.Background(), events...))
}

func drain(t testing.TB, s *Store) {
	t.Helper()
	must(t, (&memory.Indexer{Queue: s, Embedder: memorytest.Embedder{}}).Drain(context.Background(), nil))
}

// id is that of the nth message of these tests, ten seconds after the one before.
func id(n int) memory.MessageID {
	return memory.FirstMessageID(time.Date(2026, 5, 1, 0, 0, 10*n, 0, time.UTC))
}

const (
	guild   memory.GuildID   = 100
	general memory.ChannelID = 1000
	secret  memory.ChannelID = 2000
)

func posted(channel memory.ChannelID, n int, content string) memory.Posted {
	return memory.Posted{Message: memory.Message{ID: id(n), Guild: guild, Channel: channel,
		Author: memory.UserID(1 + n%3), Content: content}}
}

// from are messages of a channel as sources that an answer repeats.
func from(channel memory.ChannelID, ns ...int) (all []memory.Source) {
	for _, n := range ns {
		all = append(all, memory.Source{Kind: memory.SourceMessage, Channel: channel, ID: int64(id(n)), Repeats: true})
	}
	return all
}

// fromFacts and fromLore are facts and lore as sources that an answer repeats.
func fromFacts(ids ...int64) []memory.Source { return fromKind(memory.SourceFact, ids) }
func fromLore(ids ...int64) []memory.Source  { return fromKind(memory.SourceLore, ids) }

func fromKind(kind memory.SourceKind, ids []int64) (all []memory.Source) {
	for _, id := range ids {
		all = append(all, memory.Source{Kind: kind, ID: id, Repeats: true})
	}
	return all
}

func deleted(channel memory.ChannelID, ns ...int) memory.Deleted {
	d := memory.Deleted{Guild: guild, Channel: channel}
	for _, n := range ns {
		d.IDs = append(d.IDs, id(n))
	}
	return d
}

func edited(channel memory.ChannelID, n int, content string) memory.Edited {
	return memory.Edited{Guild: guild, Channel: channel, ID: id(n), Content: content, At: id(n).Time().Add(time.Hour)}
}

// condensed tells what the session of a channel was condensed to up to the last of the messages with these
// numbers, which were never edited.
func condensed(channel memory.ChannelID, text string, numbers ...int) memory.SessionCondensed {
	c := memory.Condensed{Guild: guild, Channel: channel, Until: id(numbers[len(numbers)-1]), Text: text,
		Made: id(numbers[len(numbers)-1]).Time(), Model: "toy"}
	for _, n := range numbers {
		c.Sources = append(c.Sources, memory.SummarySource{Message: id(n)})
	}
	return memory.SessionCondensed{Condensed: c}
}

// summed tells of a summary that ends with the nth message and is made from it, which was never edited.
func summed(channel memory.ChannelID, n int) memory.Summarised {
	return memory.Summarised{Guild: guild, Channel: channel, After: id(n) - 1, Until: id(n), Summary: &memory.Summary{
		ID: id(n), Guild: guild, Channel: channel, Text: fmt.Sprintf("summary%dq of it",
			n), Topics: []string{fmt.Sprintf("topic%dq", n)},
		Kind: memory.SummaryTalk, Model: "toy", Made: id(n).Time(), Sources: []memory.SummarySource{{Message: id(n)}},
	}}
}

func in(channels ...memory.ChannelID) memory.Scope { return memory.Scope{Channels: channels} }

func find(t testing.TB, s *Store, scope memory.Scope, query string) []memory.MessageID {
	t.Helper()
	hits, err := s.FullText(context.Background(), scope, text.QueryTerms(query), 100)
	must(t, err)
	ids := make([]memory.MessageID, len(hits))
	for i, hit := range hits {
		ids[i] = hit.ID
	}
	return ids
}

func nearest(t testing.TB, s *Store, scope memory.Scope, query string) []memory.MessageID {
	t.Helper()
	vectors, err := memorytest.Embedder{}.Embed(context.Background(), memory.ForSearch, []string{query})
	must(t, err)
	hits, err := s.Nearest(context.Background(), scope, s.engine.options.Space, vectors[0], 100)
	must(t, err)
	var ids []memory.MessageID
	for _, hit := range hits {
		if !slices.Contains(scope.Channels, hit.Channel) {
			t.Errorf("found something in channel %d", hit.Channel)
		}
		ids = append(ids, hit.Messages...)
	}
	return ids
}

// tables are all that hold something, by what orders their rows; meta's name of the last writer isn't told.
var tables = []string{"guild", "role", "channel", "person", "message", "early_edit", "tombstone", "external_id", "presence",
	"segment", "vector", "vector_next", "trace", "derived", "source", "named", "prompt", "record",
	"fulltext_docsize", "opted", "fact", "lore", "summary", "condensed", "star", "question", "gap", "forgetting",
	"withdrawn", "taken", "shown", "learn", "connection", "pending_deletion", "setting", "role_limit", "spent",
	"meta WHERE key NOT IN ('writer', 'open', 'zeroed', 'fingerprints')"}

func dump(t testing.TB, s *Store) string {
	t.Helper()
	var b strings.Builder
	for _, table := range tables {
		rows, err := s.engine.read.Query("SELECT * FROM " + table + " ORDER BY 1, 2")
		must(t, err)
		columns, err := rows.Columns()
		must(t, err)
		fmt.Fprintf(&b, "%s\n", table)
		for rows.Next() {
			row, to := make([]any, len(columns)), make([]any, len(columns))
			for i := range row {
				to[i] = &row[i]
			}
			must(t, rows.Scan(to...))
			fmt.Fprintln(&b, row...)
		}
		must(t, errors.Join(rows.Err(), rows.Close()))
	}
	return b.String()
}

// unsound are questions to a file, by what is wrong when one has an answer.
var unsound = map[string]string{
	"a message that is recalled lies in no segment": "SELECT id FROM said WHERE kind IN (0, 1, 2) AND segment = 0",
	"a message that isn't recalled lies in one":     "SELECT id FROM said WHERE kind NOT IN (0, 1, 2) AND segment <> 0",
	"a message lies outside its segment": `SELECT m.id FROM said m LEFT JOIN segment s ON s.id = m.segment
		WHERE m.segment <> 0 AND (s.id IS NULL OR s.channel <> m.channel OR m.id NOT BETWEEN s.first AND s.last)`,
	"a segment has another size than its messages": `SELECT s.id FROM segment s
		WHERE s.size <> (SELECT count(*) FROM said m WHERE m.channel = s.channel AND m.segment = s.id)`,
	"a segment is empty or too large": fmt.Sprintf(
		"SELECT id FROM segment WHERE size NOT BETWEEN 1 AND %d", memory.MaxSegment),
	"a segment is neither pending nor embedded": `SELECT id FROM segment WHERE pending = 0
		AND id NOT IN (SELECT segment FROM vector)`,
	"a vector has no segment": `SELECT segment FROM vector WHERE segment NOT IN (SELECT id
		FROM segment)`,
	"a vector of the next space has no segment": `SELECT segment FROM vector_next
		WHERE segment NOT IN (SELECT id FROM segment)`,
	"a segment lacks a vector in no space": `SELECT id FROM segment WHERE next = 1 AND NOT EXISTS (SELECT 1
		FROM meta WHERE key = 'next')`,
	"a segment is left out of the next space": `SELECT id FROM segment WHERE next = 0
		AND EXISTS (SELECT 1 FROM meta WHERE key = 'next') AND id NOT IN (SELECT segment FROM vector_next)`,
	"vectors of no space are left": `SELECT segment FROM vector_next WHERE NOT EXISTS (SELECT 1 FROM meta
		WHERE key IN ('next', 'sweep'))`,
	"a channel miscounts its messages": `SELECT c.id FROM channel c
		WHERE c.messages <> (SELECT count(*) FROM said m WHERE m.channel = c.no AND m.kind IN (0, 1, 2))`,
	"somebody's presence is wrong": `SELECT 1 FROM (SELECT channel, author, count(*) AS n, max(id) AS last FROM said
			WHERE kind IN (0, 1, 2) GROUP BY 1, 2) m
		FULL JOIN presence p ON p.channel = m.channel AND p.author = m.author
		WHERE p.messages IS NOT m.n OR p.last IS NOT m.last`,
	"full text holds what the log doesn't": `SELECT id FROM fulltext_docsize
		WHERE id NOT IN (SELECT row FROM message)`,
	"something has a source that was deleted": `SELECT s.derived FROM source s
		JOIN tombstone d ON d.channel = s.place AND d.id = s.id
		WHERE s.kind = 0 AND s.derived NOT IN (SELECT derived FROM shown)`,
	"a source or a name is of nothing": `SELECT derived FROM (SELECT derived FROM source UNION ALL
		SELECT derived FROM named) WHERE derived NOT IN (SELECT no FROM derived)`,
	"something lacks its sources, or they it": `SELECT coalesce(m.id, d.id) FROM (SELECT * FROM derived WHERE kind <> 8) d
		FULL JOIN (SELECT 1 AS kind, channel AS place, answer AS id FROM trace
			UNION ALL SELECT 2, guild, id FROM fact WHERE text IS NOT NULL
			UNION ALL SELECT 3, guild, id FROM lore WHERE text IS NOT NULL
			UNION ALL SELECT 4, channel, id FROM summary WHERE text IS NOT NULL
			UNION ALL SELECT 5, channel, 0 FROM condensed UNION ALL SELECT 6, channel, no FROM record
			UNION ALL SELECT 7, channel, min(id) FROM shown GROUP BY derived) m
		ON m.kind = d.kind AND m.place = d.place AND m.id = d.id WHERE m.id IS NULL OR d.id IS NULL`,
	"a copy's source is kept, and it isn't there": `SELECT id FROM derived d WHERE kind = 8
		AND NOT EXISTS (SELECT 1 FROM channel c JOIN message m ON m.channel = c.no AND m.id = d.id WHERE c.id = d.place)`,
	"a summary has a source that isn't there": `SELECT s.id FROM derived d JOIN source s ON s.derived = d.no
		LEFT JOIN channel c ON c.id = s.place LEFT JOIN said m ON m.channel = c.no AND m.id = s.id
		WHERE d.kind IN (4, 5) AND m.id IS NULL`,
	"a summary has no source": `SELECT id FROM derived d WHERE kind IN (4, 5)
		AND NOT EXISTS (SELECT 1 FROM source s WHERE s.derived = d.no)`,
	"a summary that is gone left more than that": `SELECT id FROM summary WHERE text IS NULL
		AND (kind <> '' OR topics <> '' OR model <> '' OR made <> 0)`,
	"an answer that Discord shows is kept, or withdrawn": `SELECT id FROM shown s
		WHERE (channel, id) NOT IN (SELECT channel, id FROM taken)
		OR (channel, id) IN (SELECT channel, message FROM withdrawn)`,
	"a prompt has no trace": `SELECT p.answer FROM prompt p LEFT JOIN trace t ON t.channel = p.channel
		AND t.answer = p.answer WHERE t.answer IS NULL`,
	"a prompt has a source that isn't in the log": `SELECT p.answer FROM prompt p
		JOIN derived d ON d.kind = 1 AND d.place = p.channel AND d.id = p.answer
		JOIN source s ON s.derived = d.no AND s.kind = 0 LEFT JOIN channel c ON c.id = s.place
		LEFT JOIN said m ON m.channel = c.no AND m.id = s.id WHERE m.id IS NULL`,
	"something is kept beside a message that is gone, or was forgotten with its channel": `SELECT n.id
		FROM (SELECT channel, id FROM star UNION ALL SELECT channel, id FROM external_id
		UNION ALL SELECT channel, id FROM rewritten UNION ALL SELECT channel, id FROM early_edit
		UNION ALL SELECT channel, id FROM question) n
		WHERE EXISTS (SELECT 1 FROM forgetting f WHERE f.user = 0 AND f.channel = n.channel AND n.id < f.before)
		OR EXISTS (SELECT 1 FROM tombstone d WHERE d.channel = n.channel AND d.id = n.id)`,
	"a deleted message is there": `SELECT m.id FROM said m JOIN channel c ON c.no = m.channel
		JOIN tombstone d ON d.channel = c.id AND d.id = m.id`,
}

func checkSound(t testing.TB, s *Store) {
	t.Helper()
	for wrong, query := range unsound {
		var what int64
		if ok, err := sqlstore.Found(s.engine.read.QueryRow(query).Scan(&what)); ok || err != nil {
			t.Errorf("%s: %d (%v)", wrong, what, err)
		}
	}
	for _, check := range []string{"INSERT INTO fulltext (fulltext) VALUES ('integrity-check')",
		"PRAGMA integrity_check"} {
		if _, err := s.engine.write.ExecContext(context.Background(), check); err != nil {
			t.Errorf("%s: %v", check, err)
		}
	}
}

var bg = context.Background()

func ofHark(n int) memory.Posted {
	p := posted(general, n, "an answer")
	p.Message.Kind, p.Message.Author = memory.FromHark, harks
	return p
}

// answered is the answer that is the nth message of general, and how it came about.
func answered(n int, trace memory.Trace) []memory.Event {
	trace.Guild, trace.Channel, trace.Answer = guild, general, id(n)
	return []memory.Event{ofHark(n), memory.Answered{Trace: trace}}
}

// forgetting has a store forget what is ordered late in a test.
func forgetting(f memory.Forgetting) func(*testing.T, *Store) {
	return func(t *testing.T, s *Store) {
		t.Helper()
		f.At = idAt(900)
		forget(t, s, f)
	}
}

// telling tells a store of events, and carries out what they begin.
func telling(events ...memory.Event) func(*testing.T, *Store) {
	return func(t *testing.T, s *Store) { t.Helper(); apply(t, s, events...); carryOutAll(t, s) }
}

func numbersOf(t testing.TB, s *Store, scope memory.Scope) (nos []int64) {
	t.Helper()
	must(t, sqlstore.Each(bg, s.engine, func(scan sqlstore.Scanner) error {
		nos = append(nos, 0)
		return scan(&nos[len(nos)-1])
	}, "SELECT no FROM channel WHERE id IN (SELECT value FROM json_each(?)) ORDER BY no", jsonList(scope.Channels)))
	return nos
}

func allSegments(t testing.TB, s *Store) (segments []memory.Segment) {
	t.Helper()
	must(t, sqlstore.Each(bg, s.engine, func(scan sqlstore.Scanner) error {
		segments = append(segments, memory.Segment{})
		last := &segments[len(segments)-1]
		return scan(&last.ID, &last.Version)
	}, "SELECT id, version FROM segment ORDER BY id"))
	return segments
}

// inGuild is a message in a guild's only channel, which has the guild's id.
func inGuild(g memory.GuildID, n int, content string) memory.Posted {
	p := posted(memory.ChannelID(g), n, content)
	p.Message.Guild = g
	return p
}

func spent(user memory.UserID, n, tokens int) memory.Spent {
	return memory.Spent{Guild: guild, User: user, Question: id(n), Tokens: tokens}
}
