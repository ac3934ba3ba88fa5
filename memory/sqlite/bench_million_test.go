package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"hark/internal/embed"
	"hark/internal/text"
	"hark/memory"
)

const indexLimit = 128 << 20 // the default of memory.index_limit

// hybrid asks as a search does: by full text and by vectors, with the surroundings of what is found.
func hybrid(b *testing.B, s *Store, guild memory.GuildID) {
	scope := everywhereIn(b, s, guild)
	terms := text.QueryTerms(sentence(rand.New(rand.NewPCG(uint64(guild), 4))))
	_, _, err := s.Frequencies(bg, scope, terms, 20_000)
	must(b, err)
	hits, err := s.FullText(bg, scope, terms, 200)
	if err != nil || len(hits) == 0 {
		b.Fatalf("%d hits: %v", len(hits), err)
	}
	near, err := s.Nearest(bg, scope, embed.Builtin{}.Space(), vectorOf(terms), 20)
	if err != nil || len(near) != 20 {
		b.Fatalf("%d near: %v", len(near), err)
	}
	ids := map[memory.ChannelID][]memory.MessageID{}
	for _, h := range hits {
		ids[h.Channel] = append(ids[h.Channel], h.ID)
	}
	for channel, ids := range ids {
		if m, err := s.Around(bg, channel, ids, 8, 8); err != nil || len(m) == 0 {
			b.Fatal(err)
		}
	}
}

// BenchmarkMillion opens a million messages in 100 guilds until the first hybrid answer, beside 100,000 in 10 guilds
// of the same size, and asks all guilds with the vectors that are loaded bounded as by default.
func BenchmarkMillion(b *testing.B) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(indexLimit + 64<<20)) // as "hark run" does
	first := map[int]float64{}
	for _, guilds := range []int{10, 100} {
		dir := filled(b, guilds, guildMessages)
		b.Run(fmt.Sprintf("messages=%d", guilds*guildMessages), func(b *testing.B) {
			var opening, answering, unloaded, loaded []time.Duration
			var stats runtime.MemStats
			indexes, size := 0, int64(0)
			for b.Loop() {
				started := time.Now()
				s, err := Open(bg, dir, Options{Space: embed.Builtin{}.Space(), IndexLimit: indexLimit})
				must(b, err)
				opening = append(opening, time.Since(started))
				hybrid(b, s, 5)
				answering, started = append(answering, time.Since(started)), time.Now()
				for g := range guilds {
					hybrid(b, s, memory.GuildID(g+1))
				}
				unloaded, started = append(unloaded, time.Since(started)/time.Duration(guilds)), time.Now()
				for range 20 {
					hybrid(b, s, memory.GuildID(guilds))
				}
				loaded = append(loaded, time.Since(started)/20)
				runtime.GC()
				runtime.ReadMemStats(&stats)
				indexes, size = len(s.engine.vectors.guilds), 0
				for _, x := range s.engine.vectors.guilds {
					size += x.size.Load()
				}
				closed(b, s)
			}
			info, err := os.Stat(filepath.Join(dir, FileName))
			must(b, err)
			first[guilds] = median(answering)
			b.ReportMetric(median(opening), "ms-to-open")
			b.ReportMetric(median(answering), "ms-to-first-answer")
			b.ReportMetric(median(unloaded), "ms-an-unloaded-guild")
			b.ReportMetric(median(loaded), "ms-a-loaded-guild")
			b.ReportMetric(float64(stats.HeapAlloc)/(1<<20), "MiB-heap")
			b.ReportMetric(float64(indexes), "guilds-loaded")
			b.ReportMetric(float64(size)/(1<<20), "MiB-counted")
			b.ReportMetric(float64(info.Size())/float64(guilds*guildMessages), "B/message")
			if guilds > 10 {
				b.ReportMetric(first[guilds]/first[10], "times-a-tenth")
			}
		})
	}
}
