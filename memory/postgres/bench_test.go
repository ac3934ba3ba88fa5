package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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
	"hark/memory/sqlite"
	"hark/memory/vectors"
)

// figures are what a benchmark measured of an engine.
type figures struct {
	ingest  float64         // messages a second, indexed by meaning as well
	search  []time.Duration // a hybrid search
	forget  []time.Duration // of somebody in a guild, with erasing
	message float64         // bytes
}

// BenchmarkEngines runs both engines side by side: logging and indexing, hybrid search, forgetting with erasing, and
// bytes a message. The first figures are PostgreSQL's, those after them SQLite's. With HARK_LONG=1 it has 100 guilds
// of 10,000 messages, and one of a million.
func BenchmarkEngines(b *testing.B) {
	sizes := []struct{ guilds, messages int }{{3, 10_000}}
	if os.Getenv("HARK_LONG") != "" {
		sizes = []struct{ guilds, messages int }{{100, 10_000}, {1, 1_000_000}}
	}
	for _, size := range sizes {
		b.Run(fmt.Sprintf("guilds=%d/messages=%d", size.guilds, size.guilds*size.messages), func(b *testing.B) {
			var many, one figures
			for b.Loop() {
				url := postgrestest.URL(b)
				index := vectors.Options{Limit: 64 << 20}
				p, err := postgres.Open(b.Context(), url, postgres.Options{Space: embed.Builtin{}.Space(),
					Tokens: tokens.New().Count, Index: index})
				must(b, err)
				many = measure(b, p, size.guilds, size.messages)
				must(b, connect(b, url).QueryRow(b.Context(), "SELECT pg_database_size(current_database())").Scan(&many.message))
				must(b, p.Close())
				dir := b.TempDir()
				s, err := sqlite.Open(b.Context(), dir, sqlite.Options{Space: embed.Builtin{}.Space(), Tokens: tokens.New().Count,
					Index: index})
				must(b, err)
				one = measure(b, s, size.guilds, size.messages)
				must(b, s.Close())
				file, err := os.Stat(filepath.Join(dir, sqlite.FileName))
				must(b, err)
				one.message = float64(file.Size())
			}
			b.ReportMetric(0, "ns/op")
			for name, f := range map[string]figures{"": many, "SQLite-": one} {
				b.ReportMetric(f.ingest, name+"messages/s")
				b.ReportMetric(quantile(f.search, 0.5), name+"p50-ms-search")
				b.ReportMetric(quantile(f.search, 0.95), name+"p95-ms-search")
				b.ReportMetric(quantile(f.forget, 0.5), name+"ms-forget")
				b.ReportMetric(f.message/float64(size.guilds*size.messages), name+"B/message")
			}
			b.ReportMetric(quantile(many.search, 0.5)/quantile(one.search, 0.5), "x-SQLite's-search")
		})
	}
}

func measure(b *testing.B, s memory.Opened, guilds, messages int) (f figures) {
	started := time.Now()
	for g := range guilds {
		ctx, cancel := context.WithCancel(b.Context())
		indexer := memory.Indexer{Queue: s, Embedder: embed.Builtin{}}
		done := make(chan error, 1)
		go func() { done <- indexer.Run(ctx) }()
		for batch := range slices.Chunk(memorytest.Conversations(memory.GuildID(1000+g), messages, 10), 200) {
			must(b, s.Apply(ctx, batch...))
		}
		cancel()
		must(b, <-done)
		must(b, indexer.Drain(b.Context(), nil))
	}
	f.ingest = float64(guilds*messages) / time.Since(started).Seconds()
	for round := range 200 {
		r := rand.New(rand.NewPCG(uint64(round), 4))
		guild, err := s.Guild(b.Context(), memory.GuildID(1000+r.IntN(guilds)))
		must(b, err)
		started = time.Now()
		hybrid(b, s, guild, text.QueryTerms(memorytest.Sentence(r)))
		if round >= 20 { // caches are warm
			f.search = append(f.search, time.Since(started))
		}
	}
	for user := range 5 {
		started = time.Now()
		_, err := s.Forget(b.Context(), memory.Forgetting{Guild: 1000, User: memory.UserID(user + 1), Why: memory.WhyPurge}, nil)
		must(b, err)
		f.forget = append(f.forget, time.Since(started))
	}
	return f
}

func hybrid(b *testing.B, s memory.Opened, guild *memory.Guild, terms []string) {
	var scope memory.Scope
	for _, c := range guild.Channels {
		scope.Channels = append(scope.Channels, c.ID)
	}
	_, _, err := s.Frequencies(b.Context(), scope, terms, 20_000)
	must(b, err)
	hits, err := s.FullText(b.Context(), scope, terms, 200)
	must(b, err)
	_, err = s.Nearest(b.Context(), scope, embed.Builtin{}.Space(),
		embed.Builtin{}.EmbedTerms(terms, func(string) float64 { return 1 }), 20)
	must(b, err)
	reach := map[memory.MessageRef]int{}
	for _, h := range hits {
		reach[memory.MessageRef{Channel: h.Channel, Message: h.ID}] = 8
	}
	_, err = s.Windows(b.Context(), reach)
	must(b, err)
}

// quantile is in milliseconds.
func quantile(all []time.Duration, q float64) float64 {
	slices.Sort(all)
	return float64(all[int(q*float64(len(all)-1))].Microseconds()) / 1000
}
