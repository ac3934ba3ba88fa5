package postgres_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"hark/internal/embed"
	"hark/internal/text"
	"hark/internal/tokens"
	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/postgres"
	"hark/memory/postgres/postgrestest"
	"hark/memory/seal"
)

// BenchmarkSealed logs, indexes and searches the same messages of ten channels in a plain and in a sealed database, in
// turn, and reports how many times as long the sealed one takes. The time by meaning grows with the vectors in the
// channels that are searched.
func BenchmarkSealed(b *testing.B) {
	const n, asked = 20_000, 100
	events := memorytest.Conversations(1, n, 10)
	var ingest, words, meaning [2]time.Duration
	vectors := 0
	for b.Loop() {
		var stores [2]memory.Opened
		urls := [2]string{postgrestest.URL(b), postgrestest.URL(b)}
		secret, err := seal.ParseSecret(oneKey)
		must(b, err)
		for i, secret := range []*seal.Secret{nil, secret} {
			stores[i], err = postgres.Open(b.Context(), urls[i], postgres.Options{Space: embed.Builtin{}.Space(),
				Tokens: tokens.New().Count, Secret: secret})
			must(b, err)
		}
		turn := 0
		inTurn := func(took *[2]time.Duration, do func(s memory.Opened) error) {
			for _, i := range [][2]int{{0, 1}, {1, 0}}[turn%2] {
				began := time.Now()
				must(b, do(stores[i]))
				took[i] += time.Since(began)
			}
			turn++
		}
		for batch := range slices.Chunk(events, 200) {
			inTurn(&ingest, func(s memory.Opened) error {
				if err := s.Apply(b.Context(), batch...); err != nil {
					return err
				}
				return (&memory.Indexer{Queue: s, Embedder: embed.Builtin{}}).Drain(b.Context(), nil)
			})
		}
		guild, err := stores[0].Guild(b.Context(), 1)
		must(b, err)
		var scope memory.Scope
		for _, c := range guild.Channels {
			scope.Channels = append(scope.Channels, c.ID)
		}
		for round := range asked + 1 {
			terms := text.QueryTerms(memorytest.Sentence(rand.New(rand.NewPCG(uint64(round), 4))))
			vector := embed.Builtin{}.EmbedTerms(terms, func(string) float64 { return 1 })
			var spent [2]time.Duration
			inTurn(&spent, func(s memory.Opened) error {
				_, err := s.Nearest(b.Context(), scope, embed.Builtin{}.Space(), vector, 20)
				return err
			})
			if round > 0 { // else caches are cold
				meaning[0], meaning[1] = meaning[0]+spent[0], meaning[1]+spent[1]
			}
			inTurn(&words, func(s memory.Opened) error {
				_, err := s.FullText(b.Context(), scope, terms, 200)
				return err
			})
		}
		for i, s := range stores {
			must(b, connect(b, urls[i]).QueryRow(b.Context(), "SELECT count(*) FROM embedding").Scan(&vectors))
			must(b, s.Close())
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(vectors), "vectors")
	ms := func(took time.Duration, n int) float64 { return took.Seconds() * 1000 / float64(n*b.N) }
	both := [2]time.Duration{words[0] + meaning[0], words[1] + meaning[1]}
	for what, took := range map[string][2]time.Duration{"ingest": ingest, "words": words, "meaning": meaning, "both": both} {
		runs := asked
		if what == "ingest" {
			runs = n
		}
		b.ReportMetric(ms(took[0], runs), "ms-plain-"+what)
		b.ReportMetric(ms(took[1], runs), "ms-sealed-"+what)
		b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "sealed/plain-"+what)
	}
}
