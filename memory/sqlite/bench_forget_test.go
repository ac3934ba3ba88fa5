package sqlite

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"hark/internal/embed"
	"hark/internal/text"
	"hark/memory"
)

// BenchmarkForget forgets a member with 10,000 messages among a million while searches run, and prints how long the others'
// searches waited, and beside it how long they did before.
func BenchmarkForget(b *testing.B) {
	const messages = 1_000_000
	s, err := Open(b.Context(), b.TempDir(), Options{Space: embed.Builtin{}.Space()})
	must(b, err)
	defer s.Close()
	events := conversations(1000, messages)
	for i, e := range events {
		p := e.(memory.Posted)
		p.Message.Author = (p.Message.Author + 1) / 2 // a hundred people
		events[i] = p
	}
	logAndIndex(b, s, events)
	channels := make([]memory.ChannelID, guildChannels)
	for i := range channels {
		channels[i] = memory.ChannelID(1_000_000 + i)
	}
	end := time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC) // the talk goes on for years
	b.ResetTimer()
	for user := memory.UserID(1); b.Loop(); user++ {
		quiet := searches(b, s, channels, 40)
		ctx, stop := context.WithCancel(b.Context())
		waits := make(chan []time.Duration)
		go func() {
			var all []time.Duration
			for ctx.Err() == nil {
				all = append(all, searches(b, s, channels, 1)...)
			}
			waits <- all
		}()
		started := time.Now()
		var begun time.Duration
		r, err := s.Forget(b.Context(), memory.Forgetting{Guild: 1000, User: user, Why: memory.WhyMember, At: end}, func(int, int) {
			if begun == 0 {
				begun = time.Since(started)
			}
		})
		took := time.Since(started)
		stop()
		must(b, err)
		b.ReportMetric(float64(r.Messages), "messages")
		b.ReportMetric(took.Seconds(), "s-to-forget")
		b.ReportMetric(begun.Seconds(), "s-to-the-first-step")
		b.ReportMetric(milliseconds(at(<-waits, 0.95)), "ms-search-p95-meanwhile")
		b.ReportMetric(milliseconds(at(quiet, 0.95)), "ms-search-p95-before")
	}
}

// searches times n searches by words.
func searches(b *testing.B, s *Store, channels []memory.ChannelID, n int) []time.Duration {
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	var took []time.Duration
	for range n {
		started := time.Now()
		if _, err := s.FullText(b.Context(), memory.Scope{Channels: channels}, text.Terms(sentence(r))[:2], 50); err != nil {
			b.Error(err)
			return took
		}
		took = append(took, time.Since(started))
	}
	return took
}

// at is the quantile q of some times.
func at(all []time.Duration, q float64) time.Duration {
	slices.Sort(all)
	return all[int(q*float64(len(all)-1))]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
