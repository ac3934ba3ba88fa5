package sqlite

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"hark/internal/embed"
	"hark/internal/text"
	"hark/memory"
	"hark/memory/sqlstore"
	"hark/search"
)

// BenchmarkFullText looks for questions in one of 100 guilds with a million messages, beside the same
// statement prepared over the guild's range of rows, and beside one that filters by a join.
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
	join := prepare(`SELECT m.row, bm25(fulltext) FROM fulltext JOIN message m ON m.row = fulltext.rowid JOIN channel c ON c.no = m.channel
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

// BenchmarkSearch searches a guild.
func BenchmarkSearch(b *testing.B) {
	for _, messages := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("messages=%d", messages), func(b *testing.B) {
			if messages > 100_000 && os.Getenv(keptDir) == "" {
				b.Skip("takes long to fill: name a directory to keep it in with " + keptDir)
			}
			s := openBench(b, filled(b, 1, messages))
			engine := search.New(s, s, embed.Builtin{})
			scope := everywhereIn(b, s, 1)
			var whole, wall []time.Duration
			for b.Loop() {
				for _, q := range questions(60) {
					// another each time, or the cache answers
					query := search.Query{Text: q, Now: time.Date(2034, 1, 1, 0, 0, 0, 0, time.UTC), Scope: scope,
						Guilds: []memory.GuildID{1}, Skip: []memory.MessageID{memory.MessageID(1 + len(whole))}}
					started := time.Now()
					whole = append(whole, cpuOf(b, func() {
						if r, err := engine.Search(bg, query); err != nil || len(r.Hits) == 0 {
							b.Fatalf("%d hits, %v", len(r.Hits), err)
						}
					}))
					wall = append(wall, time.Since(started))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(wall), "ms-p50")
			b.ReportMetric(median(whole), "ms-CPU")
		})
	}
}
