package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hark/internal/embed"
	"hark/memory"
	"hark/search"
)

// openFilled opens a store of guilds with so many messages each, made unless it is there.
func openFilled(b *testing.B, guilds, messages int) *Store {
	b.Helper()
	dir := os.Getenv(millionDir)
	if dir == "" {
		dir = b.TempDir()
	}
	dir = filepath.Join(dir, fmt.Sprintf("%dx%d", guilds, messages))
	fill(b, dir, guilds, messages)
	s, err := Open(b.Context(), dir, Options{Space: embed.Builtin{}.Space()})
	must(b, err)
	b.Cleanup(func() { s.Close() })
	return s
}

// questions are made of the words that are said there, rare and common ones: three to eight of them, as people's questions
// have beside stop words.
func questions(n int) []string {
	r := rand.New(rand.NewPCG(4, 4))
	all := make([]string, n)
	for i := range all {
		words := strings.Fields(sentence(r))
		all[i] = strings.Join(words[:min(3+r.IntN(6), len(words))], " ")
	}
	return all
}

func everywhereIn(b testing.TB, s *Store, guild memory.GuildID) memory.Scope {
	b.Helper()
	g, err := s.Guild(b.Context(), guild)
	must(b, err)
	var scope memory.Scope
	for _, c := range g.Channels {
		scope.Channels = append(scope.Channels, c.ID)
	}
	return scope
}

// BenchmarkSearch searches a guild.
func BenchmarkSearch(b *testing.B) {
	for _, messages := range []int{100_000, 1_000_000} {
		b.Run("messages="+strconv.Itoa(messages), func(b *testing.B) {
			if messages > 100_000 && os.Getenv(millionDir) == "" {
				b.Skip("takes long to fill: name a directory to keep it in with " + millionDir)
			}
			s := openFilled(b, 1, messages)
			engine := search.New(s, s, embed.Builtin{})
			scope := everywhereIn(b, s, 1)
			ctx := context.Background()
			var whole, wall []time.Duration
			for b.Loop() {
				for _, q := range questions(60) {
					query := search.Query{Text: q, Now: time.Date(2034, 1, 1, 0, 0, 0, 0, time.UTC), Guilds: []memory.GuildID{1}, Scope: scope, Skip: []memory.MessageID{memory.MessageID(1 + len(whole))}} // another each time, or the cache answers
					started := time.Now()
					used := cpuOf(b, func() {
						if r, err := engine.Search(ctx, query); err != nil || len(r.Hits) == 0 {
							b.Fatalf("%d hits, %v", len(r.Hits), err)
						}
					})
					whole, wall = append(whole, used), append(wall, time.Since(started))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(wall), "ms-p50")
			b.ReportMetric(median(whole), "ms-CPU")
		})
	}
}
