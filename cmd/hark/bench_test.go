package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hark/internal/config"
	"hark/memory"
)

// BenchmarkChatStart is from the start of the process to the end of an empty "hark chat" with 100,000 messages
// stored, which is what stands before the prompt; beside it the least that a process of this binary takes, and the
// same with a question that is answered.
func BenchmarkChatStart(b *testing.B) {
	dir := b.TempDir()
	bin, data := filepath.Join(dir, "hark"), filepath.Join(dir, "data")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	store100000(b, data)
	start := func(stdin string, args ...string) time.Duration {
		hark := exec.Command(bin, args...)
		hark.Stdin = strings.NewReader(stdin)
		hark.Dir, hark.Env = dir, []string{"HOME=" + dir}
		started := time.Now()
		if out, err := hark.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		return time.Since(started)
	}
	var chat, answered, floor time.Duration
	for b.Loop() {
		floor += start("", "version")
		chat += start("", "chat", "--data", data)
		answered += start("@hark word17 word1234?\n", "chat", "--data", data)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(chat.Milliseconds())/float64(b.N), "ms/chat")
	b.ReportMetric(float64(answered.Milliseconds())/float64(b.N), "ms/answered")
	b.ReportMetric(float64(floor.Microseconds())/1000/float64(b.N), "ms/version")
}

// store100000 writes 100,000 messages of ten people in fifty channels, and indexes them.
func store100000(b *testing.B, data string) {
	b.Helper()
	c, err := config.Load("", func(string) (string, bool) { return "", false })
	c.Data = data
	if err != nil {
		b.Fatal(err)
	}
	a, err := open(context.Background(), c, nil, 0, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer a.close()
	random := rand.New(rand.NewPCG(1, 2))
	first := time.Now().Add(-365 * 24 * time.Hour)
	for batch := range 100 {
		events := make([]memory.Event, 0, 1100)
		for n := range 50 {
			events = append(events, memory.ChannelSeen{Channel: memory.Channel{
				ID: memory.ChannelID(100 + n), Guild: memory.LocalGuild, Kind: memory.LocalChannel, Name: fmt.Sprint("channel-", n)}})
		}
		for n := range 10 {
			events = append(events, memory.PersonSeen{Person: memory.Person{ID: memory.UserID(10 + n), Guild: memory.LocalGuild, Name: fmt.Sprint("person-", n)}})
		}
		for n := range 1000 {
			at := first.Add(time.Duration(batch*1000+n) * 5 * time.Minute)
			events = append(events, memory.Posted{Message: memory.Message{
				ID: memory.FirstMessageID(at), Guild: memory.LocalGuild, Channel: memory.ChannelID(100 + random.IntN(50)),
				Author: memory.UserID(10 + random.IntN(10)), Content: sentence(random)}})
		}
		if err := a.store.Apply(context.Background(), events...); err != nil {
			b.Fatal(err)
		}
	}
	if err := a.index(context.Background(), nil); err != nil {
		b.Fatal(err)
	}
}

// sentence is a dozen words, of which a few are common and most are rare.
func sentence(random *rand.Rand) string {
	words := make([]string, 12)
	for i := range words {
		words[i] = fmt.Sprint("word", int(random.ExpFloat64()*500))
	}
	return strings.Join(words, " ")
}
