package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"hark/bot/discord"
	"hark/bot/ingest"
	"hark/internal/embed"
	"hark/memory"
)

// cpu is the processor's time that the process has taken.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkLive is what a live message takes of the writer and the indexer, in CPU time, at 400 messages a second in
// ten channels, and how soon it is committed. Beside it is what an imported message takes, with its vectors.
func BenchmarkLive(b *testing.B) {
	const rate, messages = 400, 4000
	t := newTalk(b, 10, 10_000)
	indexer := memory.Indexer{Queue: t.Store, Embedder: embed.Builtin{}}
	random := rand.New(rand.NewPCG(3, 4))
	at := time.Now()
	message := func(n int) (memory.MessageID, []byte) {
		who, where := t.people[random.IntN(len(t.people))], t.channels[random.IntN(len(t.channels))]
		id := memory.FirstMessageID(at.Add(time.Duration(n) * time.Second / rate))
		data, err := json.Marshal(map[string]any{"id": fmt.Sprint(id), "type": 0, "content": sentence(random),
			"guild_id": fmt.Sprint(t.guild), "channel_id": fmt.Sprint(where.ID), "timestamp": at.Format(time.RFC3339),
			"author": map[string]any{"id": fmt.Sprint(who.ID), "username": who.Username}, "member": map[string]any{}})
		if err != nil {
			b.Fatal(err)
		}
		return id, data
	}
	var live, imported []float64
	var commits []time.Duration
	for n := 0; b.Loop(); {
		ids, events := make([]memory.MessageID, messages), make([][]byte, messages)
		for i := range messages {
			n++
			ids[i], events[i] = message(n)
		}
		runtime.GC()
		ctx, cancel := context.WithCancel(b.Context())
		indexed := make(chan error, 1)
		before, began := cpu(b), time.Now()
		go func() { indexed <- indexer.Run(ctx) }()
		for i := range messages {
			time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / rate)))
			t.mu.Lock()
			t.said[ids[i]] = time.Now()
			t.mu.Unlock()
			t.bot.ingest.Queue.Put(ingest.Item{Raw: ingest.ReadEvent("MESSAGE_CREATE", events[i])})
		}
		logged := make(chan struct{})
		t.bot.ingest.Queue.Put(ingest.Item{Logged: logged})
		<-logged
		cancel()
		if err := errors.Join(<-indexed, indexer.Drain(b.Context(), nil)); err != nil {
			b.Fatal(err)
		}
		live = append(live, float64((cpu(b)-before).Microseconds())/1000/messages)
		t.mu.Lock()
		for _, id := range ids {
			commits = append(commits, t.logged[id])
		}
		t.mu.Unlock()
		before = cpu(b)
		t.fill(b, messages)
		imported = append(imported, float64((cpu(b)-before).Microseconds())/1000/messages)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(live[len(live)/2], "ms-CPU/message")
	b.ReportMetric(imported[len(imported)/2], "ms-CPU/imported-message")
	b.ReportMetric(percentile(commits, 50), "ms-to-commit-p50")
	b.ReportMetric(percentile(commits, 99), "ms-to-commit-p99")
}

// valve is a connection whose reads don't end while held is locked.
type valve struct {
	net.Conn
	held *sync.RWMutex
}

func (v valve) Read(p []byte) (int, error) {
	n, err := v.Conn.Read(p)
	v.held.RLock()
	defer v.held.RUnlock()
	return n, err
}

// gated is a dialer of valves.
func gated(base *websocket.Dialer, held *sync.RWMutex) *websocket.Dialer {
	dial := base.NetDialContext
	base.NetDialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return valve{c, held}, err
	}
	return base
}

// BenchmarkGateway is how quickly Hark takes in, commits and embeds waiting messages, beside a session of discordgo's
// that only counts them.
func BenchmarkGateway(b *testing.B) {
	const messages = 20_000
	t := newTalk(b, 50, 1000)
	indexer := memory.Indexer{Queue: t.Store, Embedder: embed.Builtin{}}
	var mine sync.RWMutex
	var counted atomic.Int64
	all := make(chan struct{}, 1)
	closes, err := t.discord.CountMessages(int(discord.Intents), gated(t.discord.Dialer(), &mine), func() {
		if counted.Add(1)%messages == 0 {
			all <- struct{}{}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = closes() })

	random := rand.New(rand.NewPCG(5, 6))
	var walls, cpus [2][]time.Duration
	measure := func(which int, do func()) {
		runtime.GC()
		before, began := cpu(b), time.Now()
		do()
		walls[which] = append(walls[which], time.Since(began))
		cpus[which] = append(cpus[which], cpu(b)-before)
	}
	for b.Loop() {
		mine.Lock()
		t.held.Lock()
		for range messages {
			t.discord.Say(t.channels[random.IntN(len(t.channels))].ID, t.people[random.IntN(len(t.people))].ID,
				sentence(random))
		}
		measure(0, func() {
			mine.Unlock()
			<-all
		})
		measure(1, func() {
			ctx, cancel := context.WithCancel(b.Context())
			indexed := make(chan error, 1)
			go func() { indexed <- indexer.Run(ctx) }()
			t.held.Unlock()
			all := int64(len(cpus[0]) * messages)
			t.discord.WaitFor("the last message", func() bool { return t.committed.Load() >= all })
			cancel()
			if err := errors.Join(<-indexed, indexer.Drain(b.Context(), nil)); err != nil {
				b.Fatal(err)
			}
		})
	}
	raw, ours := percentile(cpus[0], 50), percentile(cpus[1], 50)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(raw/messages, "ms-CPU/message-discordgo")
	b.ReportMetric(ours/messages, "ms-CPU/message")
	b.ReportMetric(100*raw/ours, "%-of-discordgo-CPU")
	b.ReportMetric(messages/percentile(walls[0], 50), "messages/ms-discordgo")
	b.ReportMetric(messages/percentile(walls[1], 50), "messages/ms")
	b.ReportMetric(100*percentile(walls[0], 50)/percentile(walls[1], 50), "%-of-discordgo")
}
