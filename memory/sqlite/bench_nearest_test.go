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
)

// BenchmarkNearest finds the 20 segments nearest to a question, with their messages, in a guild and in a
// tenth of its channels. For comparison it reports the time without reading messages, and the lower bound:
// choosing the shortlist by sketches.
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
	x, err := s.engine.index(b.Context(), 1, s.engine.options.Space)
	must(b, err)
	filter := scopeFilter(scope, 1, numbersOf(b, s, scope))
	var ours, found, raw []time.Duration
	for b.Loop() {
		vector := vectorOf(text.QueryTerms(memorytest.Sentence(r)))
		raw = append(raw, cpuOf(b, func() { x.table.shortlist(x.table.allowed(filter), vector, limit) }))
		ours = append(ours, cpuOf(b, func() {
			if hits, err := s.Nearest(b.Context(), scope, s.engine.options.Space, vector,
				limit); err != nil || len(hits) != limit {
				b.Fatalf("%d hits, %v", len(hits), err)
			}
		}))
		found = append(found, cpuOf(b, func() {
			near, _, err := x.nearest(b.Context(), s.engine, vector, filter, limit)
			if err != nil || len(near) != limit {
				b.Fatalf("%d near, %v", len(near), err)
			}
		}))
	}
	b.ReportMetric(float64(x.count.Load()), "segments")
	b.ReportMetric(median(ours), "cpu-ms")
	b.ReportMetric(median(found), "finding-cpu-ms")
	b.ReportMetric(median(raw), "raw-cpu-ms")
	b.ReportMetric(median(ours)/median(raw), "times-raw")
	b.ReportMetric(median(found)/median(raw), "finding-times-raw")
}
