package bot

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"hark/bot/discord"
	"hark/internal/embed"
	"hark/memory"
)

// valve is a connection of which no read ends while held is locked.
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

// gated is a dialer whose connections hold while somebody has locked held.
func gated(base *websocket.Dialer, held *sync.RWMutex) *websocket.Dialer {
	dial := base.NetDialContext
	base.NetDialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return valve{c, held}, err
	}
	return base
}

// BenchmarkGateway is how quickly messages that wait at the gateway are taken in: by Hark, until they are committed
// and embedded, and by a session of discordgo's that counts the same messages and does nothing with them.
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
			t.discord.WaitFor("the last message", func() bool { return t.committed.Load() >= int64(len(cpus[0])*messages) })
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
