package sqlite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/philippgille/chromem-go"

	"hark/internal/text"
	"hark/memory"
)

// BenchmarkNearest finds the 20 segments nearest to a question, with their messages, among all of a guild and
// among those of a tenth of its channels, and prints beside it what finding them takes without reading their
// messages, and what chromem-go's own query takes among all of the same vectors.
func BenchmarkNearest(b *testing.B) {
	for _, segments := range []int{3_000, 10_000, 80_000} {
		s, raw := talkedOf(b, segments)
		for _, channels := range []int{guildChannels, 1} {
			b.Run(fmt.Sprintf("segments=%d/channels=%d", segments, channels), func(b *testing.B) {
				benchNearest(b, s, raw, channels)
			})
		}
	}
}

// talkedOf is a store of a guild with so many segments, with its vectors loaded, and the same vectors in
// chromem-go alone.
func talkedOf(b *testing.B, segments int) (*Store, *chromem.Collection) {
	s := openBench(b, b.TempDir())
	logAndIndex(b, s, conversations(1, segments*5, guildChannels))
	x, err := s.engine.index(b.Context(), 1, s.engine.options.Space)
	must(b, err)
	raw, err := newCollection()
	must(b, err)
	if len(x.table.rows) < segments {
		b.Fatalf("%d segments are too few", len(x.table.rows))
	}
	for i, r := range x.table.rows[:segments] {
		must(b, raw.AddDocument(b.Context(), chromem.Document{ID: fmt.Sprint(i), Embedding: r.vector}))
	}
	for _, r := range slices.Clone(x.table.rows[segments:]) {
		x.remove(r.segment)
	}
	return s, raw
}

func benchNearest(b *testing.B, s *Store, raw *chromem.Collection, channels int) {
	const limit = 20
	var scope memory.Scope
	for c := range channels {
		scope.Channels = append(scope.Channels, memory.ChannelID(1000+c))
	}
	r := rand.New(rand.NewPCG(5, 6))
	x, err := s.engine.index(b.Context(), 1, s.engine.options.Space)
	must(b, err)
	filter := scopeFilter(scope, 1, numbersOf(b, s, scope))
	var ours, found, theirs []time.Duration
	askRaw := func(vector []float32) { // before each of ours, so that neither finds its own in the processor's cache
		theirs = append(theirs, cpuOf(b, func() {
			if found, err := raw.QueryEmbedding(b.Context(), vector, limit, nil, nil); err != nil ||
				len(found) != limit {
				b.Fatalf("%d found, %v", len(found), err)
			}
		}))
	}
	for b.Loop() {
		vector := vectorOf(text.QueryTerms(sentence(r)))
		askRaw(vector)
		ours = append(ours, cpuOf(b, func() {
			if hits, err := s.Nearest(b.Context(), scope, s.engine.options.Space, vector,
				limit); err != nil || len(hits) != limit {
				b.Fatalf("%d hits, %v", len(hits), err)
			}
		}))
		askRaw(vector)
		found = append(found, cpuOf(b, func() {
			if near, err := x.nearest(b.Context(), vector, filter, limit); err != nil || len(near) != limit {
				b.Fatalf("%d near, %v", len(near), err)
			}
		}))
	}
	b.ReportMetric(median(ours), "cpu-ms")
	b.ReportMetric(median(found), "finding-cpu-ms")
	b.ReportMetric(median(theirs), "raw-cpu-ms")
	b.ReportMetric(median(ours)/median(theirs), "times-raw")
	b.ReportMetric(median(found)/median(theirs), "finding-times-raw")
}
