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
	"hark/memory/memorytest"
	"hark/memory/sqlstore"
	"hark/memory/vectors"
)

const indexLimit = 64 << 20 // the default of memory.index_limit

func hybrid(b *testing.B, s *Store, guild memory.GuildID) {
	scope := everywhereIn(b, s, guild)
	terms := text.QueryTerms(memorytest.Sentence(rand.New(rand.NewPCG(uint64(guild), 4))))
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

// BenchmarkMillion opens a million messages, of 100 guilds and of one, and 100,000 of 10 guilds, until the
// first hybrid answer, and then searches all guilds with the default limit for vectors. It reports how long
// vectors take to load, and resident memory: as it is, and less what the runtime could return.
func BenchmarkMillion(b *testing.B) {
	for _, of := range []struct{ guilds, messages int }{{10, guildMessages}, {100, guildMessages}, {1, 1_000_000}} {
		if of.guilds == 1 && os.Getenv(keptDir) == "" {
			break // takes long to fill
		}
		dir := filled(b, of.guilds, of.messages)
		b.Run(fmt.Sprintf("guilds=%d/messages=%d", of.guilds, of.guilds*of.messages), func(b *testing.B) {
			var opening, answering, loading, unloaded, loaded []time.Duration
			var stats, before runtime.MemStats
			var size int64
			var resident, least, collections float64
			for b.Loop() {
				debug.FreeOSMemory()
				started := time.Now()
				s, err := Open(bg, dir, Options{Space: embed.Builtin{}.Space(), Index: vectors.Options{Limit: indexLimit}})
				must(b, err)
				opening = append(opening, time.Since(started))
				hybrid(b, s, 1)
				answering, started = append(answering, time.Since(started)), time.Now()
				for g := range of.guilds {
					hybrid(b, s, memory.GuildID(g+1))
				}
				unloaded, started = append(unloaded, time.Since(started)/time.Duration(of.guilds)), time.Now()
				runtime.ReadMemStats(&before)
				for range 20 {
					hybrid(b, s, memory.GuildID(of.guilds))
				}
				loaded = append(loaded, time.Since(started)/20)
				runtime.ReadMemStats(&stats)
				collections = float64(stats.NumGC-before.NumGC) / 20
				resident = residentMemory(b)
				debug.FreeOSMemory()
				least = residentMemory(b)
				runtime.ReadMemStats(&stats)
				index := sqlstore.Index(s.Store)
				size = index.Stats().Bytes
				index.Drop(1)
				loading = append(loading, cpuOf(b, func() { loadGuild(b, s) }))
				closed(b, s)
			}
			info, err := os.Stat(filepath.Join(dir, FileName))
			must(b, err)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(opening), "ms-to-open")
			b.ReportMetric(median(answering), "ms-to-first-answer")
			b.ReportMetric(median(loading), "ms-CPU-to-load-a-guild")
			b.ReportMetric(median(unloaded), "ms-an-unloaded-guild")
			b.ReportMetric(median(loaded), "ms-a-loaded-guild")
			b.ReportMetric(collections, "collections/search")
			b.ReportMetric(float64(stats.HeapAlloc)/(1<<20), "MiB-heap")
			b.ReportMetric(resident, "MiB-resident")
			b.ReportMetric(least, "MiB-resident-at-least")
			b.ReportMetric(float64(size)/(1<<20), "MiB-counted")
			b.ReportMetric(float64(info.Size())/float64(of.guilds*of.messages), "B/message")
		})
	}
}

// loadGuild loads the vectors of guild 1.
func loadGuild(b *testing.B, s *Store) {
	search, err := sqlstore.Index(s.Store).Search(bg, s.engine.options.Space, []vectors.Scope{{Guild: 1}})
	must(b, err)
	search.Close()
}

func residentMemory(b *testing.B) float64 {
	b.Helper()
	told, err := os.ReadFile("/proc/self/statm")
	must(b, err)
	var all, resident int
	_, err = fmt.Sscan(string(told), &all, &resident)
	must(b, err)
	return float64(resident*os.Getpagesize()) / (1 << 20)
}
