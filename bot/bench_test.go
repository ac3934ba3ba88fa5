package bot

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
	"github.com/rs/zerolog"

	"hark/internal/discordtest"
	"hark/internal/embed"
	"hark/internal/wait"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/search"
)

// flood is how many messages a gateway delivers at once.
const flood = 20_000

// BenchmarkGateway is how fast messages come from a fake gateway into a durable log, beside what discordgo does with the
// same frames if nobody listens. Both take them from a session that is resumed, so that the fake has them ready.
func BenchmarkGateway(b *testing.B) {
	var bare, whole time.Duration
	for b.Loop() {
		bare += floodBare(b)
		whole += floodHark(b)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(flood*b.N)/bare.Seconds(), "messages/s-discordgo")
	b.ReportMetric(float64(flood*b.N)/whole.Seconds(), "messages/s")
	b.ReportMetric(100*bare.Seconds()/whole.Seconds(), "%-of-discordgo")
}

// flooded is a fake Discord whose flood begins when somebody who was ready resumes.
type flooded struct {
	*discordtest.Server
	channels []discordtest.ID
	people   []discordtest.ID
	gate     sync.RWMutex // held while nobody shall connect
}

// dialer lets nobody through while the gate is closed.
func (f *flooded) dialer() *websocket.Dialer {
	d := f.Dialer()
	dial := d.NetDialContext
	d.NetDialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		f.gate.RLock()
		defer f.gate.RUnlock()
		return dial(ctx, network, address)
	}
	return d
}

func newFlooded(b *testing.B) *flooded {
	f := &flooded{Server: discordtest.New(b)}
	g := f.AddGuild("Garden")
	for i := range 20 {
		f.channels = append(f.channels, f.AddChannel(g.ID, discordtest.Channel{Name: fmt.Sprint("channel-", i)}).ID)
		f.people = append(f.people, f.AddMember(g.ID, discordtest.User{Username: fmt.Sprint("person-", i)}).ID)
	}
	return f
}

// flood lets everything be said while nobody is connected; then it may be heard. ready is called in between.
func (f *flooded) flood(ready func()) {
	f.WaitReady()
	f.gate.Lock()
	defer f.gate.Unlock()
	f.Drop()
	f.Advance(time.Minute)
	random := rand.New(rand.NewPCG(1, 2))
	for range flood {
		f.Say(f.channels[random.IntN(20)], f.people[random.IntN(20)], sentence(random))
	}
	ready()
}

// sentence is a dozen words, of which a few are common and most are rare.
func sentence(random *rand.Rand) string {
	words := make([]string, 12)
	for i := range words {
		words[i] = fmt.Sprint("word", int(random.ExpFloat64()*500))
	}
	return strings.Join(words, " ")
}

// stopwatch is from the first to the last of a flood.
type stopwatch struct {
	begun atomic.Int64
	count atomic.Int64
	done  chan time.Duration
}

func newStopwatch() *stopwatch { return &stopwatch{done: make(chan time.Duration, 1)} }

func (s *stopwatch) begin() { s.begun.CompareAndSwap(0, time.Now().UnixNano()) }

func (s *stopwatch) end(n int) {
	if now := s.count.Add(int64(n)); now >= flood && now-int64(n) < flood {
		s.done <- time.Duration(time.Now().UnixNano() - s.begun.Load())
	}
}

// wait is how long the flood took.
func (s *stopwatch) wait(b *testing.B) time.Duration {
	b.Helper()
	return wait.For(b, "the whole flood", s.done)
}

func floodBare(b *testing.B) time.Duration {
	f := newFlooded(b)
	w := newStopwatch()
	s, _ := discordgo.New("Bot " + f.Token)
	s.Client, s.Dialer = f.Client(), f.dialer()
	s.LogLevel, s.StateEnabled, s.SyncEvents = -1, false, true
	s.Identify.Intents = discordgo.IntentGuilds | discordgo.IntentGuildMessages | discordgo.IntentMessageContent
	s.AddHandler(func(_ *discordgo.Session, e *discordgo.Event) {
		if e.Type == "MESSAGE_CREATE" {
			w.begin()
			w.end(1)
		}
	})
	if err := s.Open(); err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	f.flood(func() {})
	return w.wait(b)
}

// timed is a log that tells when the flood is in it.
type timed struct {
	*sqlite.Store
	watch *stopwatch
	armed atomic.Bool
}

// Guild is what is asked about the first message before it is logged.
func (t *timed) Guild(ctx context.Context, id memory.GuildID) (*memory.Guild, error) {
	if t.armed.Load() {
		t.watch.begin()
	}
	return t.Store.Guild(ctx, id)
}

func (t *timed) Apply(ctx context.Context, events ...memory.Event) error {
	err := t.Store.Apply(ctx, events...)
	n := 0
	for _, e := range events {
		if _, ok := e.(memory.Posted); ok && err == nil {
			n++
		}
	}
	t.watch.end(n)
	return err
}

func openStore(b *testing.B) *sqlite.Store {
	b.Helper()
	store, err := sqlite.Open(b.Context(), b.TempDir(), sqlite.Options{Space: embed.Builtin{}.Space(), Tokens: func(s string) int { return len(s) / 4 }})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	return store
}

func floodHark(b *testing.B) time.Duration {
	f := newFlooded(b)
	w := newStopwatch()
	log := &timed{Store: openStore(b), watch: w}
	bot, err := New(Config{Token: f.Token, APIURL: f.URL, Client: f.Client(), Dialer: f.dialer(), Now: f.Now}, log, nil, zerolog.Nop())
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- bot.Run(ctx) }()
	f.WaitReady()
	f.flood(func() { log.armed.Store(true) })
	took := w.wait(b)
	cancel()
	<-ended
	return took
}

// BenchmarkEnqueue is what the gateway's handler takes for one message, with the log being written and four searches going
// on beside it.
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
