package postgres_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/postgres"
	"hark/memory/postgres/postgrestest"
)

// overAll are the statements that run over all guilds: a part of each, and why.
var overAll = []struct{ part, why string }{
	{"FROM opted WHERE out = 1", "decisions of all guilds, which the writer holds; the terminal names people of any"},
	{"AS newest FROM channel c", "the newest message"},
	{"FROM question ORDER BY id, channel", "open questions"},
	{"FROM withdrawn ORDER BY no", "withdrawn answers"},
	{"sweep, fetched FROM gap WHERE sweep", "gaps of all guilds"},
	{"SELECT call, body FROM record WHERE channel IN", "calls in channels of some guilds"},
	{"FROM record WINDOW", "retention"},
	{"FROM prompt WHERE built < $1", "retention"},
	{"DELETE FROM spent WHERE question < $1", "retention"},
	{"s.pending = 1 AND c.guild", "the indexer's queue"},
	{"FROM segment WHERE pending = 1", "the indexer's queue"},
	{"UPDATE segment SET pending = 1", "another space of vectors"},
	{"SELECT 1 FROM embedding LIMIT 1", "another space of vectors"},
	{"FROM summary s CROSS JOIN channel c", "the backlog of summaries"},
	{"FROM pending_deletion d CROSS JOIN message m", "what every forgetting has left to delete"},
	{"SELECT count(*) FROM pending_deletion", "what every forgetting has left to delete"},
	{"SELECT coalesce(sum(messages), 0) FROM channel", "how much that is of all"},
	{"DELETE FROM pending_deletion", "nothing is left to delete"},
}

// recorder keeps every statement that the server is sent.
type recorder struct {
	mu   sync.Mutex
	sent map[string]int
}

// TraceQueryStart implements pgx.QueryTracer.
func (r *recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent[strings.Join(strings.Fields(q.SQL), " ")]++
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (r *recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// distributed are the tables and views that are keyed by guild.
var distributed = strings.Fields(`role channel person message said early_edit tombstone external_id presence fulltext
	text_size segment embedding embedding_next trace opted fact star question gap withdrawn learn connection
	pending_deletion lore summary prompt setting role_limit spent record condensed derived source named shown taken
	rewritten`)

var (
	casts     = regexp.MustCompile(`::(?:bigint|text)\b`)
	tables    = regexp.MustCompile(`(?:FROM|JOIN|INTO|UPDATE) (\w+)`)
	condition = regexp.MustCompile(`\bguild = (?:\$?\d|\w+\.guild)|\bguild IN \(|^INSERT INTO \w+ \([^)]*\bguild\b`)
)

// lacks reports whether a statement names more tables that are keyed by guild than it has conditions on guild.
func lacks(statement string) bool {
	n := 0
	for _, m := range tables.FindAllStringSubmatch(statement, -1) {
		if slices.Contains(distributed, m[1]) {
			n++
		}
	}
	return n > len(condition.FindAllString(statement, -1))
}

// open opens a store whose statements r records.
func (r *recorder) open(t testing.TB) memory.Opened {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgrestest.URL(t),
		postgres.Options{Space: memorytest.Embedder{}.Space()}.Traced(r))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every statement of the suite has its guild, except those over all guilds.
func TestConformanceInEachGuild(t *testing.T) {
	t.Parallel()
	r := &recorder{sent: map[string]int{}}
	t.Run("suite", func(t *testing.T) { memorytest.Run(t, r.open) }) // ends when all of it has
	for statement := range r.sent {
		statement = casts.ReplaceAllString(statement, "")
		if lacks(statement) && !slices.ContainsFunc(overAll, func(o struct{ part, why string }) bool {
			return strings.Contains(statement, o.part)
		}) {
			t.Errorf("without its guild: %s", statement)
		}
	}
}
