package sqlite

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hark/internal/embed"
	"hark/internal/text"
	"hark/memory"
)

const (
	millionDir    = "HARK_BENCH_DIR"   // keeps the stores of BenchmarkMillion from one run to the next
	millionStore  = "HARK_BENCH_STORE" // tells the process that BenchmarkMillion starts which store to ask
	millionGuilds = "HARK_BENCH_GUILDS"
	guildMessages = 10_000
	guildChannels = 10
	indexLimit    = 128 << 20 // the default of memory.index_limit
)

// conversations are n messages in a guild: two to four people talk in one of its channels, then others in another.
func conversations(guild memory.GuildID, n int) []memory.Event {
	r := rand.New(rand.NewPCG(uint64(guild), 7))
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	events := make([]memory.Event, 0, n)
	for len(events) < n {
		channel := memory.ChannelID(int64(guild)*1000) + memory.ChannelID(r.IntN(guildChannels))
		first, people := r.IntN(200), 2+r.IntN(3)
		for range min(4+r.IntN(24), n-len(events)) {
			at = at.Add(time.Duration(5+r.IntN(90)) * time.Second)
			events = append(events, memory.Posted{Message: memory.Message{
				ID: memory.FirstMessageID(at) + memory.MessageID(len(events)%1000), Guild: guild, Channel: channel,
				Author: memory.UserID(1 + (first+r.IntN(people))%200), Content: sentence(r),
			}})
		}
		at = at.Add(time.Duration(1+r.IntN(60)) * time.Minute)
	}
	return events
}

// fill makes a store of guilds with so many messages each in dir unless it is there.
func fill(b *testing.B, dir string, guilds, messages int) {
	done := filepath.Join(dir, "done")
	if _, err := os.Stat(done); err == nil {
		return
	}
	s, err := Open(b.Context(), dir, Options{Space: embed.Builtin{}.Space()})
	must(b, err)
	for g := range guilds {
		logAndIndex(b, s, conversations(memory.GuildID(g+1), messages))
	}
	closed(b, s)
	must(b, os.WriteFile(done, nil, 0o600))
}

// logAndIndex logs events in large commits, and embeds what they say.
func logAndIndex(b *testing.B, s *Store, events []memory.Event) {
	for chunk := range slices.Chunk(events, 2000) {
		must(b, s.Apply(b.Context(), chunk...))
	}
	must(b, (&memory.Indexer{Queue: s, Embedder: embed.Builtin{}}).Drain(b.Context(), nil))
}

// figures are what a process measured of itself.
type figures struct {
	Open, First  float64 // milliseconds to open, and from then to the first hybrid answer
	Resident     float64 // MiB once all guilds were asked
	Peak, File   float64 // MiB, at most; and those of them that mirror the file
	Guild        float64 // milliseconds a hybrid answer of a guild whose vectors are to be loaded
	Again        float64 // and of one whose are there
	Loaded, Size int     // guilds, and what they count as, in bytes
	Heap         float64 // MiB after a collection
}

// TestMillionChild is the process that BenchmarkMillion starts: it opens a store, asks every guild, and prints figures.
func TestMillionChild(t *testing.T) {
	dir := os.Getenv(millionStore)
	if dir == "" {
		t.Skip("is run by BenchmarkMillion")
	}
	guilds, err := strconv.Atoi(os.Getenv(millionGuilds))
	must(t, err)
	debug.SetMemoryLimit(indexLimit + 64<<20) // as "hark run" does
	var f figures
	started := time.Now()
	s, err := Open(t.Context(), dir, Options{Space: embed.Builtin{}.Space(), IndexLimit: indexLimit})
	must(t, err)
	defer s.Close()
	f.Open = millisSince(started)
	hybrid(t, s, 5)
	f.First = millisSince(started) - f.Open
	started = time.Now()
	for g := range guilds {
		hybrid(t, s, memory.GuildID(g+1))
	}
	f.Guild = millisSince(started) / float64(guilds)
	started = time.Now()
	for range 20 {
		hybrid(t, s, memory.GuildID(guilds))
	}
	f.Again = millisSince(started) / 20
	f.Resident, f.Peak, f.File = status(t, "VmRSS"), status(t, "VmHWM"), status(t, "RssFile")
	for _, x := range s.engine.vectors.guilds {
		f.Loaded++
		f.Size += int(x.size.Load())
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.Heap = float64(m.HeapAlloc) / (1 << 20)
	out, err := json.Marshal(f)
	must(t, err)
	fmt.Printf("figures %s\n", out)
}

func millisSince(t time.Time) float64 { return float64(time.Since(t).Microseconds()) / 1000 }

// hybrid asks as a search does: by full text and by vectors, with the surroundings of what is found.
func hybrid(t *testing.T, s *Store, guild memory.GuildID) {
	ctx := context.Background()
	scope := everywhereIn(t, s, guild)
	terms := text.QueryTerms(sentence(rand.New(rand.NewPCG(uint64(guild), 4))))
	if _, _, err := s.Frequencies(ctx, scope, terms, 20_000); err != nil {
		t.Fatal(err)
	}
	hits, err := s.FullText(ctx, scope, terms, 200)
	if err != nil || len(hits) == 0 {
		t.Fatalf("%d hits: %v", len(hits), err)
	}
	vector := embed.Builtin{}.EmbedTerms(terms, func(string) float64 { return 1 })
	near, err := s.Nearest(ctx, scope, embed.Builtin{}.Space(), vector, 20)
	if err != nil || len(near) != 20 {
		t.Fatalf("%d near: %v", len(near), err)
	}
	ids := map[memory.ChannelID][]memory.MessageID{}
	for _, h := range hits {
		ids[h.Channel] = append(ids[h.Channel], h.ID)
	}
	for channel, ids := range ids {
		if m, err := s.Around(ctx, channel, ids, 8, 8); err != nil || len(m) == 0 {
			t.Fatal(err)
		}
	}
}

// status is a line of the process's status, in MiB.
func status(t *testing.T, name string) float64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		t.Skip("there is no /proc")
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+":"); ok {
			n, err := strconv.Atoi(strings.Fields(value)[0])
			must(t, err)
			return float64(n) / 1024
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

// BenchmarkMillion opens a million messages in 100 guilds until the first hybrid answer, beside 100,000 in 10 guilds
// of the same size, and asks all guilds with the vectors that are loaded bounded as by default.
func BenchmarkMillion(b *testing.B) {
	dir := os.Getenv(millionDir)
	if dir == "" {
		dir = b.TempDir()
	}
	first := map[int]float64{}
	for _, guilds := range []int{10, 100} {
		store := filepath.Join(dir, fmt.Sprintf("%dx%d", guilds, guildMessages))
		fill(b, store, guilds, guildMessages)
		b.Run(fmt.Sprintf("messages=%d", guilds*guildMessages), func(b *testing.B) {
			var all []figures
			for b.Loop() {
				all = append(all, ask(b, store, guilds))
			}
			slices.SortFunc(all, func(a, b figures) int { return cmp.Compare(a.Open+a.First, b.Open+b.First) })
			median := all[len(all)/2] // others may be using the machine
			info, err := os.Stat(filepath.Join(store, FileName))
			must(b, err)
			first[guilds] = median.Open + median.First
			b.ReportMetric(median.Open, "ms-to-open")
			b.ReportMetric(median.Open+median.First, "ms-to-first-answer")
			b.ReportMetric(median.Guild, "ms-an-unloaded-guild")
			b.ReportMetric(median.Again, "ms-a-loaded-guild")
			b.ReportMetric(median.Resident, "MiB-resident")
			b.ReportMetric(median.Peak, "MiB-peak")
			b.ReportMetric(median.File, "MiB-of-the-file")
			b.ReportMetric(median.Heap, "MiB-heap")
			b.ReportMetric(float64(median.Loaded), "guilds-loaded")
			b.ReportMetric(float64(median.Size)/(1<<20), "MiB-counted")
			b.ReportMetric(float64(info.Size())/float64(guilds*guildMessages), "B/message")
			if guilds > 10 {
				b.ReportMetric(first[guilds]/first[10], "times-a-tenth")
			}
		})
	}
}

// ask runs TestMillionChild.
func ask(b *testing.B, store string, guilds int) figures {
	child := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^TestMillionChild$")
	child.Env = append(os.Environ(), millionStore+"="+store, fmt.Sprintf("%s=%d", millionGuilds, guilds))
	out, err := child.CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if body, ok := strings.CutPrefix(line, "figures "); ok {
			var f figures
			must(b, json.Unmarshal([]byte(body), &f))
			return f
		}
	}
	b.Fatalf("no figures in %s", out)
	return figures{}
}
