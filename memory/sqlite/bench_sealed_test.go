package sqlite

import (
	"context"
	"slices"
	"testing"
	"time"

	"hark/internal/embed"
	"hark/internal/tokens"
	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/seal"
	"hark/search"
)

// BenchmarkSealed logs, indexes and searches the same messages in a plain and in a sealed store, batch by batch and
// question by question in turn, and reports how many times as much CPU the sealed one takes.
func BenchmarkSealed(b *testing.B) {
	const n, asked = 20_000, 200
	events := memorytest.Conversations(1, n, guildChannels)
	var ingest, find, size [2][]float64
	for b.Loop() {
		var stores [2]*Store
		for i, secret := range []*seal.Secret{nil, secretOf(b, oneKey)} {
			s, err := Open(bg, b.TempDir(), Options{Space: embed.Builtin{}.Space(), Tokens: tokens.New().Count, Secret: secret})
			must(b, err)
			stores[i] = s
		}
		var cpu [2][2]time.Duration
		turn := 0
		inTurn := func(what int, do func(s *Store)) {
			for _, i := range [][2]int{{0, 1}, {1, 0}}[turn%2] {
				cpu[what][i] += cpuOf(b, func() { do(stores[i]) })
			}
			turn++
		}
		for batch := range slices.Chunk(events, batchSize) {
			inTurn(0, func(s *Store) {
				must(b, s.Apply(bg, batch...))
				must(b, (&memory.Indexer{Queue: s, Embedder: embed.Builtin{}}).Drain(context.Background(), nil))
			})
		}
		var engines [2]*search.Engine
		for i, s := range stores {
			engines[i] = search.New(s, s, embed.Builtin{})
		}
		ask := func(q string) func(s *Store) {
			return func(s *Store) {
				_, err := engines[slices.Index(stores[:], s)].Search(bg, search.Query{Text: q, Guilds: []memory.GuildID{1},
					Now: time.Date(2034, 1, 1, 0, 0, 0, 0, time.UTC), Scope: everywhereIn(b, s, 1)})
				must(b, err)
			}
		}
		for _, s := range stores {
			ask(questions(1)[0])(s) // which loads the vectors
		}
		for _, q := range questions(asked) {
			inTurn(1, ask(q))
		}
		for i, s := range stores {
			ingest[i], find[i] = append(ingest[i], float64(cpu[0][i])), append(find[i], float64(cpu[1][i]))
			bytes, err := s.engine.Size(bg)
			must(b, err)
			size[i] = append(size[i], float64(bytes))
			closed(b, s)
		}
	}
	ratio := func(all [2][]float64) float64 { return sum(all[1]) / sum(all[0]) }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(sum(ingest[0])/float64(len(ingest[0])*n)/1e3, "µs-CPU/message")
	b.ReportMetric(ratio(ingest), "ingest-sealed/plain")
	b.ReportMetric(sum(find[0])/float64(len(find[0])*asked)/1e6, "ms-CPU/search")
	b.ReportMetric(ratio(find), "search-sealed/plain")
	b.ReportMetric(ratio(size), "bytes-sealed/plain")
}

func sum(all []float64) (total float64) {
	for _, x := range all {
		total += x
	}
	return total
}
