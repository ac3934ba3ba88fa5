package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hark/internal/embed"
	"hark/internal/text"
	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/sqlstore"
	"hark/search"
)

// BenchmarkFullText searches one of 100 guilds with a million messages. It compares the same statement
// prepared over the guild's range of rows, and one that filters by a join.
func BenchmarkFullText(b *testing.B) {
	s := openBench(b, filled(b, 100, guildMessages))
	const guild = 42
	scope := everywhereIn(b, s, guild)
	nos := numbersOf(b, s, scope)
	first := nos[0] << sqlstore.SequenceBits
	last := nos[len(nos)-1]<<sqlstore.SequenceBits | (1<<sqlstore.SequenceBits - 1)
	prepare := func(query string) func(match string, args ...any) {
		statement, err := s.engine.read.PrepareContext(bg, query)
		must(b, err)
		return func(match string, args ...any) {
			rows, err := statement.QueryContext(bg, append([]any{match}, args...)...)
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
	join := prepare(`SELECT m.row, bm25(fulltext) FROM fulltext JOIN message m ON m.row = fulltext.rowid
		JOIN channel c ON c.no = m.channel
		WHERE fulltext MATCH ? AND c.guild = ? ORDER BY bm25(fulltext) LIMIT 120`)
	var ours, raws, joins []time.Duration
	for b.Loop() {
		for _, q := range questions(40) {
			terms := text.QueryTerms(q)
			match := strings.ReplaceAll(sqlstore.Hashes(terms), " ", " OR ")
			ours = append(ours, cpuOf(b, func() {
				_, err := s.FullText(bg, scope, terms, 120)
				must(b, err)
			}))
			raws = append(raws, cpuOf(b, func() { raw(match, first, last) }))
			joins = append(joins, cpuOf(b, func() { join(match, guild) }))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(ours), "ms-CPU")
	b.ReportMetric(median(ours)/median(raws), "times-raw")
	b.ReportMetric(median(joins)/median(ours), "times-quicker-than-a-join")
}

// BenchmarkSearch searches a guild, one of its ten channels, and a guild of 20,000 people. For comparison
// it runs what no search can avoid, with the same terms and vector: the prepared statement that finds the
// best 120 messages in the guild's rows by full text, and the ranking of vectors, by sketches if there are
// many. Counting terms, reading hits with their surroundings, and scoring are Hark's own part.
func BenchmarkSearch(b *testing.B) {
	for _, messages := range []int{1000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("messages=%d", messages), func(b *testing.B) {
			if messages > 100_000 && os.Getenv(keptDir) == "" {
				b.Skip("takes long to fill: name a directory to keep it in with " + keptDir)
			}
			benchSearch(b, filled(b, 1, messages), guildChannels)
		})
	}
	b.Run("messages=100000/channels=1", func(b *testing.B) { benchSearch(b, filled(b, 1, 100_000), 1) })
	b.Run("messages=10000/people=20000", func(b *testing.B) { benchSearch(b, kept(b, "people", crowd), guildChannels) })
}

// crowd fills a guild of 20,000 people with two-word names.
func crowd(b *testing.B, s *Store) {
	r := rand.New(rand.NewPCG(20, 24))
	var people []memory.Event
	for i := range 20_000 {
		words := strings.Fields(memorytest.Sentence(r))
		people = append(people, memory.PersonSeen{Person: memory.Person{ID: memory.UserID(1 + i), Guild: 1,
			Username: fmt.Sprint(words[0], i), Name: words[1] + " " + words[2], RolesKnown: true}})
	}
	must(b, s.Apply(bg, people...))
	logAndIndex(b, s, memorytest.Conversations(1, guildMessages, guildChannels))
}

// noted records what a search asks the store.
type noted struct {
	*Store
	terms  []string
	vector []float32
	read   atomic.Int64 // messages
}

func (a *noted) FullText(ctx context.Context, scope memory.Scope, terms []string, n int) ([]memory.TextHit, error) {
	a.terms = terms
	return a.Store.FullText(ctx, scope, terms, n)
}

func (a *noted) Nearest(ctx context.Context, scope memory.Scope, space memory.Space, vector []float32,
	n int) ([]memory.VectorHit, error) {
	a.vector = vector
	return a.Store.Nearest(ctx, scope, space, vector, n)
}

func (a *noted) Windows(ctx context.Context, reach map[memory.MessageRef]int) ([][]memory.Message, error) {
	windows, err := a.Store.Windows(ctx, reach)
	for _, messages := range windows {
		a.read.Add(int64(len(messages)))
	}
	return windows, err
}

func benchSearch(b *testing.B, dir string, channels int) {
	s := openBench(b, dir)
	log := &noted{Store: s}
	engine := search.New(log, s, embed.Builtin{})
	scope := everywhereIn(b, s, 1)
	scope.Channels = scope.Channels[:channels]
	raw := rawSearch(b, s, scope)
	var whole, bare, wall []time.Duration
	ask := func(q string) {
		query := search.Query{Text: q, Now: time.Date(2034, 1, 1, 0, 0, 0, 0, time.UTC), Scope: scope,
			Guilds: []memory.GuildID{1}}
		if r, err := engine.Search(bg, query); err != nil || len(r.Hits) == 0 {
			b.Fatalf("%d hits, %v", len(r.Hits), err)
		}
	}
	ask(questions(1)[0]) // which loads the vectors
	log.read.Store(0)
	for b.Loop() {
		for _, q := range questions(60) {
			started := time.Now()
			whole = append(whole, cpuOf(b, func() { ask(q) }))
			wall = append(wall, time.Since(started))
			bare = append(bare, cpuOf(b, func() { raw(log.terms, log.vector) }))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(wall), "ms-p50")
	b.ReportMetric(median(whole), "ms-CPU")
	b.ReportMetric(median(bare), "raw-ms-CPU")
	b.ReportMetric(median(whole)/median(bare), "times-raw")
	scored := float64(log.read.Load()) / float64(len(whole))
	b.ReportMetric(scored, "messages-scored")
	b.ReportMetric((median(whole)-median(bare))/scored*1000, "µs-a-message-over-raw")
}

func rawSearch(b *testing.B, s *Store, scope memory.Scope) func(terms []string, vector []float32) {
	nos := numbersOf(b, s, scope)
	statement, err := s.engine.read.PrepareContext(bg, `SELECT rowid, bm25(fulltext) FROM fulltext
		WHERE fulltext MATCH ? AND rowid BETWEEN ? AND ? ORDER BY bm25(fulltext) LIMIT 120`)
	must(b, err)
	b.Cleanup(func() { statement.Close() })
	index := sqlstore.Index(s.Store)
	scopes := scopesOf(nos)
	return func(terms []string, vector []float32) {
		rows, err := statement.QueryContext(bg, strings.ReplaceAll(sqlstore.Hashes(terms), " ", " OR "),
			nos[0]<<sqlstore.SequenceBits, (nos[len(nos)-1]+1)<<sqlstore.SequenceBits)
		must(b, err)
		defer rows.Close()
		for rows.Next() {
			must(b, rows.Scan(new(int64), new(float64)))
		}
		must(b, rows.Err())
		near, err := index.Search(bg, s.engine.options.Space, scopes)
		must(b, err)
		defer near.Close()
		_, _, err = near.Nearest(bg, vector, 20)
		must(b, err)
	}
}
