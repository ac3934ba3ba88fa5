package sqlite

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/internal/embed"
	"hark/internal/text"
	"hark/memory"
	"hark/memory/sqlstore"
	"hark/search"
)

// openFilled opens a store of guilds with so many messages each, made unless it is there.
func openFilled(b *testing.B, guilds, messages int) *Store {
	b.Helper()
	dir := os.Getenv(millionDir)
	if dir == "" {
		dir = b.TempDir()
	}
	dir = filepath.Join(dir, fmt.Sprintf("%dx%d", guilds, messages))
	fill(b, dir, guilds, messages)
	s, err := Open(b.Context(), dir, Options{Space: embed.Builtin{}.Space()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}

// questions are made of the words that are said there, rare and common ones: three to eight of them, as
// people's questions have beside stop words.
func questions(n int) []string {
	r := rand.New(rand.NewPCG(4, 4))
	all := make([]string, n)
	for i := range all {
		words := strings.Fields(sentence(r))
		all[i] = strings.Join(words[:min(3+r.IntN(6), len(words))], " ")
	}
	return all
}

func everywhereIn(b testing.TB, s *Store, guild memory.GuildID) memory.Scope {
	b.Helper()
	g, err := s.Guild(b.Context(), guild)
	if err != nil {
		b.Fatal(err)
	}
	var scope memory.Scope
	for _, c := range g.Channels {
		scope.Channels = append(scope.Channels, c.ID)
	}
	return scope
}

// BenchmarkFullText looks for questions in one of 100 guilds with a million messages, beside the same
// statement prepared over the guild's range of rows, and beside one that filters by a join.
func BenchmarkFullText(b *testing.B) {
	s := openFilled(b, 100, guildMessages)
	ctx := context.Background()
	const guild = 42
	scope := everywhereIn(b, s, guild)
	nos := numbersOf(b, s, scope)
	prepare := func(query string) func(match string, args ...any) {
		statement, err := s.engine.read.PrepareContext(ctx, query)
		if err != nil {
			b.Fatal(err)
		}
		return func(match string, args ...any) {
			rows, err := statement.QueryContext(ctx, append([]any{match}, args...)...)
			must(b, err)
			defer rows.Close()
			for rows.Next() {
				must(b, rows.Scan(new(int64), new(float64)))
			}
			must(b, rows.Err())
		}
	}
	raw := prepare(`SELECT rowid, bm25(fulltext) FROM fulltext WHERE fulltext MATCH ? AND rowid BETWEEN ?
		AND ? ORDER BY bm25(fulltext) LIMIT 120`)
	join := prepare(`SELECT m.row, bm25(fulltext) FROM fulltext JOIN message m ON m.row = fulltext.rowid JOIN channel c ON c.no = m.channel
		WHERE fulltext MATCH ? AND c.guild = ? ORDER BY bm25(fulltext) LIMIT 120`)
	var ours, raws, joins []time.Duration
	for b.Loop() {
		for _, q := range questions(40) {
			terms := text.QueryTerms(q)
			match := strings.ReplaceAll(sqlstore.Hashes(terms), " ", " OR ")
			used := cpuOf(b, func() {
				if _, err := s.FullText(ctx, scope, terms, 120); err != nil {
					b.Fatal(err)
				}
			})
			ours = append(ours, used)
			used = cpuOf(b, func() {
				raw(match, nos[0]<<sqlstore.SequenceBits,
					nos[len(nos)-1]<<sqlstore.SequenceBits|(1<<sqlstore.SequenceBits-1))
			})
			raws = append(raws, used)
			used = cpuOf(b, func() { join(match, guild) })
			joins = append(joins, used)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(ours), "ms-CPU")
	b.ReportMetric(median(ours)/median(raws), "times-raw")
	b.ReportMetric(median(joins)/median(ours), "times-quicker-than-a-join")
}

// BenchmarkSearch searches a guild, beside the sum of what it can't do without: the prepared statement over full text,
// chromem-go's query or the exact ranking of a shortlist, and the reading of the messages that are scored.
func BenchmarkSearch(b *testing.B) {
	for _, messages := range []int{100_000, 1_000_000} {
		b.Run("messages="+strconv.Itoa(messages), func(b *testing.B) {
			if messages > 100_000 && os.Getenv(millionDir) == "" {
				b.Skip("takes long to fill: name a directory to keep it in with " + millionDir)
			}
			s := openFilled(b, 1, messages)
			log := &watched{Store: s}
			engine := search.New(log, s, embed.Builtin{})
			scope := everywhereIn(b, s, 1)
			ctx := context.Background()
			var whole, wall, sum []time.Duration
			for b.Loop() {
				for _, q := range questions(60) {
					// another each time, or the cache answers
					query := search.Query{Text: q, Now: time.Date(2034, 1, 1, 0, 0, 0, 0, time.UTC),
						Guilds: []memory.GuildID{1}, Scope: scope, Skip: []memory.MessageID{memory.MessageID(1 + len(whole))}}
					started := time.Now()
					used := cpuOf(b, func() {
						if r, err := engine.Search(ctx, query); err != nil || len(r.Hits) == 0 {
							b.Fatalf("%d hits, %v", len(r.Hits), err)
						}
					})
					whole, wall = append(whole, used), append(wall, time.Since(started))
					sum = append(sum, log.again(b))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(wall), "ms-p50")
			b.ReportMetric(median(whole), "ms-CPU")
			b.ReportMetric(median(whole)/median(sum), "times-the-raw-sum")
		})
	}
}

// watched notes what a search asks of a store, to ask for the least of it again.
type watched struct {
	*Store
	mu     sync.Mutex
	terms  []string
	scope  memory.Scope
	vector []float32
	ids    map[memory.ChannelID][]memory.MessageID
}

func (w *watched) FullText(ctx context.Context, scope memory.Scope, terms []string,
	limit int) ([]memory.TextHit, error) {
	w.terms, w.scope, w.ids = terms, scope, map[memory.ChannelID][]memory.MessageID{}
	return w.Store.FullText(ctx, scope, terms, limit)
}

func (w *watched) Nearest(ctx context.Context, scope memory.Scope, space memory.Space, vector []float32,
	limit int) ([]memory.VectorHit, error) {
	w.vector = vector
	return w.Store.Nearest(ctx, scope, space, vector, limit)
}

func (w *watched) Around(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID,
	before, after int) ([]memory.Message, error) {
	found, err := w.Store.Around(ctx, channel, ids, before, after)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range found {
		w.ids[channel] = append(w.ids[channel], m.ID)
	}
	return found, err
}

// again is the CPU time of the least that finds what was asked last.
func (w *watched) again(b *testing.B) time.Duration {
	ctx := context.Background()
	nos := numbersOf(b, w.Store, w.scope)
	x, err := w.engine.index(ctx, 1, embed.Builtin{}.Space())
	if err != nil {
		b.Fatal(err)
	}
	return cpuOf(b, func() {
		err := sqlstore.Each(ctx, w.engine.read,
			func(scan func(...any) error) error { return scan(new(int64), new(float64)) },
			`SELECT rowid, bm25(fulltext) FROM fulltext WHERE fulltext MATCH ? AND rowid BETWEEN ? AND ?
				ORDER BY bm25(fulltext) LIMIT 120`,
			strings.ReplaceAll(sqlstore.Hashes(w.terms), " ",
				" OR "), nos[0]<<sqlstore.SequenceBits,
			nos[len(nos)-1]<<sqlstore.SequenceBits|(1<<sqlstore.SequenceBits-1))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := x.collection.QueryEmbedding(ctx, w.vector, 20, nil, nil); err != nil {
			b.Fatal(err)
		}
		for _, channel := range slices.Sorted(maps.Keys(w.ids)) {
			no := numbersOf(b, w.Store, memory.Scope{Channels: []memory.ChannelID{channel}})[0]
			err := sqlstore.Each(ctx, w.engine.read,
				func(scan func(...any) error) error { return sqlstore.ScanMessage(scan, new(memory.Message)) },
				"SELECT "+sqlstore.MessageColumns+
					" FROM message WHERE channel = ? AND id IN (SELECT value FROM json_each(?))", no, listOf(w.ids[channel]))
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
