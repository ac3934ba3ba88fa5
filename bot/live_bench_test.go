package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

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

// BenchmarkLive is what a message takes that is said while Hark listens, from its event on, at 400 messages a second
// in ten channels: the writer and the indexer, in CPU time, and how long after its event a message is committed.
// Beside it what a message takes that is imported, with its share of the vectors.
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
