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

// overAll are the statements that may run over all guilds: a part of each, and why.
var overAll = []struct{ part, why string }{
	{"= -1)", "in one guild, or what is cached of all, or forgetting everywhere: the statement itself tells"},
	{"FROM opted WHERE out = 1", "decisions of all guilds, which the writer holds; the terminal names people of any"},
	{"(SELECT max(id) FROM message WHERE channel = no)", "the newest message"},
	{"owner, unplaced FROM channel WHERE id = $1", "the channel isn't known yet"},
	{"FROM question ORDER BY id, channel", "open questions of all guilds"},
	{"DELETE FROM question WHERE channel = $1", "the channel isn't known"},
	{"FROM external_id WHERE channel = $1", "the channel isn't known"},
	{"INSERT INTO external_id", "the channel isn't known"},
	{"t.channel = $1 AND t.answer", "the channel isn't known"},
	{"t.channel = $1 AND t.parts", "the channel isn't known"},
	{"FROM withdrawn ORDER BY no", "withdrawn answers of all guilds"},
	{"sweep, fetched FROM gap", "gaps of all guilds"},
	{"SELECT call, body FROM record WHERE channel IN", "not yet: calls in channels of some guilds"},
	{"FROM record WINDOW", "retention"},
	{"FROM record r CROSS JOIN LATERAL (SELECT * FROM derived", "retention"},
	{"WHERE built < $1", "retention"},
	{"DELETE FROM spent WHERE question < $1", "retention"},
	{"FROM segment WHERE pending = 1", "the indexer's queue"},
	{"s.pending = 1 ORDER BY s.id", "the indexer's queue"},
	{"UPDATE segment SET pending = 1", "another space of vectors"},
	{"SELECT 1 FROM embedding LIMIT 1", "another space of vectors"},
	{"FROM summary s JOIN channel c", "the backlog of summaries"},
	{"FROM condensed c JOIN derived", "sessions of all guilds"},
	{"FROM trace k WHERE answer < $1", "answers of all guilds, or in a channel that isn't known"},
	{"FROM pending_deletion d CROSS JOIN LATERAL", "not yet: what every forgetting has left to delete"},
	{"FROM channel) FROM pending_deletion", "not yet: what every forgetting has left to delete"},
	{"DELETE FROM pending_deletion", "not yet: what every forgetting has left to delete"},
	{"DELETE FROM message WHERE row IN", "not yet: what every forgetting has left to delete"},
	{"WHERE channel IN (SELECT value FROM json_each($1)) AND id < $2", "forgetting everywhere"},
	{"FROM channel c CROSS JOIN LATERAL (SELECT * FROM said m", "forgetting everywhere"},
	{"FROM json_each($1) j CROSS JOIN LATERAL (SELECT * FROM said m", "forgetting everywhere"},
	{"WHERE name <> '' AND id IN", "forgetting everywhere"},
	{"FROM derived WHERE no IN", "not yet: what the terminal was told, from any guild"},
	{"SELECT s.source, s.derived, s.repeats", "not yet: what the terminal was told, from any guild"},
	{"(SELECT d.place, d.id FROM source s", "not yet: what the terminal was told, from any guild"},
	{"SELECT d.guild, d.no, s.repeats FROM source s", "not yet: what the terminal was told, from any guild"},
	{"DELETE FROM source WHERE kind = 0", "not yet: what the terminal was told, from any guild"},
	{"o.version, s.repeats FROM derived a", "not yet: what the terminal was told, from any guild"},
	{"FROM lore WHERE id = $1", "lore by its id, which is unique over all guilds"},
	{"DELETE FROM guild WHERE", "a guild of which nothing is left"},
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

var (
	casts     = regexp.MustCompile(`::(?:bigint|text)\b`)
	orAll     = regexp.MustCompile(`guild = (\$\d+) OR \$\d+ = -1`)
	tables    = regexp.MustCompile(`(?:FROM|JOIN|INTO|UPDATE) (\w+)`)
	condition = regexp.MustCompile(`\bguild = (?:\$\d|\w+\.guild)|^INSERT INTO \w+ \([^)]*\bguild\b`)
)

// lacks reports whether a statement names more tables that are keyed by guild than it has conditions on guild.
func lacks(statement string) bool {
	n := 0
	for _, m := range tables.FindAllStringSubmatch(statement, -1) {
		if postgres.IsDistributed(m[1]) {
			n++
		}
	}
	return n > len(condition.FindAllString(orAll.ReplaceAllString(statement, ""), -1))
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
