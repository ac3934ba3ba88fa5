package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"hark/internal/text"
	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/sqlstore"
	"hark/memory/vectors"
)

// BenchmarkNearest finds the 20 segments nearest to a question, with their messages, in a guild and in a
// tenth of its channels. For comparison it reports the time without reading messages.
func BenchmarkNearest(b *testing.B) {
	for _, messages := range []int{1_000, 10_000, 100_000, 1_000_000} {
		if messages > 100_000 && os.Getenv(keptDir) == "" { // takes long to fill
			break
		}
		s := openBench(b, filled(b, 1, messages))
		for _, channels := range []int{guildChannels, 1} {
			b.Run(fmt.Sprintf("messages=%d/channels=%d", messages, channels), func(b *testing.B) {
				benchNearest(b, s, channels)
			})
		}
	}
}

func benchNearest(b *testing.B, s *Store, channels int) {
	const limit = 20
	var scope memory.Scope
	for c := range channels {
		scope.Channels = append(scope.Channels, memory.ChannelID(1000+c))
	}
	r := rand.New(rand.NewPCG(5, 6))
	search, err := sqlstore.Index(s.Store).Search(b.Context(), s.engine.options.Space, scopesOf(numbersOf(b, s, scope)))
	must(b, err)
	defer search.Close()
	var ours, found []time.Duration
	for b.Loop() {
		vector := vectorOf(text.QueryTerms(memorytest.Sentence(r)))
		ours = append(ours, cpuOf(b, func() {
			hits, err := s.Nearest(b.Context(), scope, s.engine.options.Space, vector, limit)
			if err != nil || len(hits) != limit {
				b.Fatalf("%d hits, %v", len(hits), err)
			}
		}))
		found = append(found, cpuOf(b, func() {
			near, _, err := search.Nearest(b.Context(), vector, limit)
			if err != nil || len(near) != limit {
				b.Fatalf("%d near, %v", len(near), err)
			}
		}))
	}
	b.ReportMetric(float64(sqlstore.Index(s.Store).Stats().Rows), "segments")
	b.ReportMetric(median(ours), "cpu-ms")
	b.ReportMetric(median(found), "finding-cpu-ms")
}

// scopesOf is everything in channels of guild 1, by their numbers.
func scopesOf(nos []int64) []vectors.Scope {
	since, until := vectors.Always()
	scope := vectors.Scope{Guild: 1, Since: since, Until: until}
	for _, no := range nos {
		scope.Channels = append(scope.Channels, uint32(no&(1<<sqlstore.ChannelBits-1)))
	}
	return []vectors.Scope{scope}
}
