package sqlite

import (
	"context"
	"fmt"
	"testing"
	"time"

	"hark/internal/embed"
	"hark/memory"
)

// BenchmarkScrub overwrites unused parts of pages in a file of 240,000 messages, of which 2,000 were deleted one by one, while
// others log a message every few milliseconds, and prints the longest wait of those, and beside it how long the longest took
// when nobody scrubbed, and how long it takes to read the pages at all.
func BenchmarkScrub(b *testing.B) {
	const messages = 240_000
	s, err := Open(b.Context(), b.TempDir(), Options{Space: embed.Builtin{}.Space()})
	must(b, err)
	defer s.Close()
	events := talk(messages, 50)
	logAndIndex(b, s, events)
	gone := func(i int) memory.Deleted {
		m := events[i].(memory.Posted).Message
		return memory.Deleted{Guild: m.Guild, Channel: m.Channel, IDs: []memory.MessageID{m.ID}}
	}
	next, oldest := 10_000_000, 0
	log := func(ctx context.Context) (waits []time.Duration) {
		for ctx.Err() == nil {
			started := time.Now()
			if err := s.Apply(b.Context(), posted(general, next, fmt.Sprintf("message %d of those that are said meanwhile", next))); err != nil {
				b.Error(err)
				return waits
			}
			waits = append(waits, time.Since(started))
			next++
			time.Sleep(5 * time.Millisecond)
		}
		return waits
	}
	b.ResetTimer()
	for b.Loop() {
		for ; oldest%2000 < 1999; oldest++ {
			apply(b, s, gone(oldest))
		}
		ctx, stop := context.WithTimeout(b.Context(), time.Second)
		quiet := log(ctx)
		stop()
		started := time.Now()
		must(b, s.Apply(b.Context(), gone(oldest)))
		b.ReportMetric(milliseconds(time.Since(started)), "ms-one-deletion")
		oldest++
		started = time.Now()
		stains, err := stainsIn(b.Context(), s.read)
		must(b, err)
		read := time.Since(started)
		ctx, stop = context.WithCancel(b.Context())
		all := make(chan []time.Duration)
		go func() { all <- log(ctx) }()
		started = time.Now()
		err = s.EmptyLog(b.Context())
		took := time.Since(started)
		stop()
		waits := <-all
		must(b, err)
		b.ReportMetric(took.Seconds(), "s-to-scrub")
		b.ReportMetric(float64(len(stains)), "pages-stained")
		b.ReportMetric(float64(len(waits)), "logs-meanwhile")
		b.ReportMetric(milliseconds(at(waits, 1)), "ms-longest-log-meanwhile")
		b.ReportMetric(milliseconds(at(quiet, 1)), "ms-longest-log-before")
		b.ReportMetric(milliseconds(read), "ms-to-read-the-pages")
	}
}
