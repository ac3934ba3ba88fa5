package bot

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/rs/zerolog"

	"hark/internal/embed"
	"hark/internal/wait"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/search"
)

// sentence is a dozen words, of which a few are common and most are rare.
func sentence(random *rand.Rand) string {
	words := make([]string, 12)
	for i := range words {
		words[i] = fmt.Sprint("word", int(random.ExpFloat64()*500))
	}
	return strings.Join(words, " ")
}

func openStore(b *testing.B) *sqlite.Store {
	b.Helper()
	store, err := sqlite.Open(b.Context(), b.TempDir(), sqlite.Options{Space: embed.Builtin{}.Space(),
		Tokens: func(s string) int { return len(s) / 4 }})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	return store
}

// BenchmarkEnqueue is what the gateway's handler takes for one message, with the log being written and four
// searches going on beside it.
func BenchmarkEnqueue(b *testing.B) {
	store := openStore(b)
	random := rand.New(rand.NewPCG(3, 4))
	frame := func(id int) []byte {
		return fmt.Appendf(nil, `{"id":"%d","channel_id":"2","guild_id":"1","type":0,%s,"content":"%s","edited_timestamp":null,"mentions":[],"attachments":[]}`, id, ana, sentence(random))
	}
	bot, err := New(Config{Token: "x"}, store, nil, zerolog.Nop())
	if err != nil {
		b.Fatal(err)
	}
	var committed wait.Signal
	p := pumpOf(bot.queue, store)
	p.bot.cfg.Progress = committed.Send
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var helpers sync.WaitGroup
	helpers.Go(func() { p.run(ctx) })
	first := int(memory.FirstMessageID(time.Now()))
	for i := range 10_000 {
		bot.receive(nil, &discordgo.Event{Type: "MESSAGE_CREATE", RawData: frame(first + i)})
	}
	committed.Until(b, "all to be logged", func() bool { return bot.Waiting() == 0 }, nil)
	indexer := memory.Indexer{Queue: store, Embedder: embed.Builtin{}}
	helpers.Go(func() { _ = indexer.Run(ctx) })
	engine := search.New(store, store, embed.Builtin{})
	var searches atomic.Int64
	scope := memory.Scope{Channels: []memory.ChannelID{2}}
	for i := range 4 {
		random := rand.New(rand.NewPCG(5, uint64(i)))
		helpers.Go(func() {
			for ctx.Err() == nil {
				q := search.Query{Text: sentence(random), Now: time.Now(), Guilds: []memory.GuildID{1}, Scope: scope}
				if _, err := engine.Search(ctx, q); err == nil {
					searches.Add(1)
				}
			}
		})
	}
	var took []time.Duration
	pace := time.NewTicker(time.Second / 2000)
	defer pace.Stop()
	n := first + 10_000
	for b.Loop() {
		data := frame(n)
		n++
		<-pace.C
		start := time.Now()
		bot.receive(nil, &discordgo.Event{Type: "MESSAGE_CREATE", RawData: data})
		took = append(took, time.Since(start))
	}
	b.StopTimer()
	cancel()
	helpers.Wait()
	slices.Sort(took)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1000, "µs-p99")
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1000, "µs-p50")
	b.ReportMetric(float64(searches.Load())/b.Elapsed().Seconds(), "searches/s")
}
