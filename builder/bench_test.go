package builder

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"hark/memory"
)

// big is 50 segments of 6 messages and 10 people, about 29 KB of prompt, with token counts as stored.
func big(counter Counter) Input {
	now := time.Date(2024, 7, 24, 17, 35, 0, 0, time.UTC)
	words := []string{"the deadline", "moved to", "Friday,", "because", "we still", "wait for", "the migration;", "it's fine", "and I'll", "tell Jane"}
	in := Input{Now: now, Query: Turn{Author: 1, Speaker: "Jane", Content: "When is the deadline?"}}
	for i := range 10 {
		in.Participants = append(in.Participants, Participant{
			ID: memory.UserID(100000000000000000 + i), Name: "Person " + strconv.Itoa(i), Main: i == 0,
			LastActive: now.Add(-time.Duration(i) * time.Hour), Data: "Leads project " + strconv.Itoa(i) + " and prefers short answers.",
		})
	}
	for i := range 50 {
		item := Item{Relevance: 1 - float64(i)/60, Hit: 2}
		for j := range 6 {
			content := fmt.Sprintf("%d.%d:", i, j)
			for k := range 6 {
				content += " " + words[(i+j*3+k*k)%len(words)]
			}
			item.Lines = append(item.Lines, Line{
				Message: memory.MessageID(i*10 + j), Author: memory.UserID(100000000000000000 + (i+j)%10),
				Time: now.Add(-time.Duration(i*6+j) * time.Hour), Content: content, Tokens: counter.Count(content),
			})
		}
		in.History = append(in.History, item)
	}
	return in
}

// The floor is the same bytes appended to a reused buffer, in the pieces that they are made of, what members wrote
// through the simplest escape there is: a table with a mark for each byte that would need a look.
func BenchmarkBuild50(b *testing.B) {
	counter := &countingCounter{Counter: holdsCounter}
	in := big(counter)
	builder, err := New(Options{MaxTokens: 32_000, Citations: true}, counter)
	if err != nil {
		b.Fatal(err)
	}
	prompt := builder.Build(in)
	size := len(prompt.Messages[0].Content) + len(prompt.Messages[1].Content)
	if len(prompt.Shown) != 300 {
		b.Fatalf("%d lines of 300", len(prompt.Shown))
	}
	var buf []byte
	write := func() { buf = appendBig(buf[:0], in, prompt.Messages[0].Content) }
	write()
	if off := len(buf) - size; off < -200 || off > 200 {
		b.Fatalf("the floor writes %d bytes, the builder %d", len(buf), size)
	}
	floor := timeOf(write)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	before := counter.calls
	for b.Loop() {
		builder.Build(in)
	}
	calls := float64(counter.calls-before) / float64(b.N)
	least := timeOf(func() { builder.Build(in) })
	floor = min(floor, timeOf(write))
	b.ReportMetric(floor, "floor-ns")
	b.ReportMetric(least/floor, "x-floor")
	b.ReportMetric(calls, "counts/op")
}

// timeOf is what f takes, in nanoseconds: the least of some rounds, so that what else runs doesn't count.
func timeOf(f func()) float64 {
	least := time.Duration(1 << 62)
	for range 100 {
		started := time.Now()
		for range 100 {
			f()
		}
		least = min(least, time.Since(started))
	}
	return float64(least.Nanoseconds()) / 100
}

// countingCounter counts how often it is asked.
type countingCounter struct {
	Counter
	calls int
}

func (c *countingCounter) Count(s string) int { c.calls++; return c.Counter.Count(s) }

// appendBig writes the prompt of big, deciding, checking and counting nothing.
func appendBig(buf []byte, in Input, system string) []byte {
	buf = append(buf, system...)
	buf = append(buf, headPrevious...)
	for i := range in.Participants {
		p := &in.Participants[i]
		buf = append(buf, "\n• <@"...)
		buf = strconv.AppendInt(buf, int64(p.ID), 10)
		buf = append(buf, "> ("...)
		buf = appendByTable(buf, p.Name)
		buf = append(buf, ") | Last Active: 10 hours ago\n  └─ Data: "...)
		buf = appendByTable(buf, p.Data)
	}
	buf = append(buf, "\n\n💬 Relevant History"...)
	for i := range in.History {
		for j := range in.History[i].Lines {
			line := &in.History[i].Lines[j]
			if j == 0 {
				buf = append(buf, "\n🔥👤["...)
				buf = strconv.AppendInt(buf, int64(i+1), 10)
				buf = append(buf, "] "...)
				buf = line.Time.AppendFormat(buf, "[01-02 15:04]")
				buf = append(buf, " <@"...)
			} else {
				buf = append(buf, "\n  ┆ <@"...)
			}
			buf = strconv.AppendInt(buf, int64(line.Author), 10)
			buf = append(buf, ">: "...)
			buf = appendByTable(buf, line.Content)
		}
	}
	buf = append(buf, "\n\n"+headQuery+"\n[2024-07-24 17:35] <@1> (Jane): "...)
	buf = append(buf, in.Query.Content...)
	return append(buf, "\n\n"+reminder...)
}

// Ten thousand hits for a budget of 4,000 tokens.
func BenchmarkBuild10000Hits(b *testing.B) {
	counter := holdsCounter
	in := big(counter)
	for len(in.History) < 10_000 {
		in.History = append(in.History, in.History[len(in.History)%50])
	}
	builder := newBuilder(b, Options{})
	for b.Loop() {
		builder.Build(in)
	}
}

// appendByTable appends s, and a backslash before each byte that the table marks.
func appendByTable(buf []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); i++ {
		if looks[s[i]] == looksFlagged && s[i] < 0x80 && s[i] != ':' {
			buf = append(buf, s[start:i]...)
			buf = append(buf, '\\')
			start = i
		}
	}
	return append(buf, s[start:]...)
}

// A context that hasn't changed is built again, and one by a builder that has never seen it. Half the messages are long
// enough to be cut, so that their stored counts don't help.
func BenchmarkRebuild(b *testing.B) {
	counter := holdsCounter
	in := big(counter)
	for i := range in.History {
		for j := range in.History[i].Lines {
			if line := &in.History[i].Lines[j]; j%2 == 0 {
				line.Content += " and " + line.Content
				line.Tokens = counter.Count(line.Content)
			}
		}
	}
	for i := range 20 {
		in.Lore = append(in.Lore, fmt.Sprintf("Project %d is led by person %d, and its plan is pinned in the channel.", i, i%10))
	}
	o := Options{MaxTokens: 8000, Citations: true}
	warm := newBuilder(b, o)
	warm.Build(in)
	cold := timeOfOne(func() func() {
		fresh := newBuilder(b, o)
		return func() { fresh.Build(in) }
	})
	for b.Loop() {
		warm.Build(in)
	}
	again := timeOfOne(func() func() { return func() { warm.Build(in) } })
	b.ReportMetric(cold, "cold-ns")
	b.ReportMetric(cold/again, "x-faster")
}

// timeOfOne is the least that one run takes of what prepare makes, in nanoseconds.
func timeOfOne(prepare func() func()) float64 {
	least := time.Duration(1 << 62)
	for range 50 {
		run := prepare()
		started := time.Now()
		run()
		least = min(least, time.Since(started))
	}
	return float64(least.Nanoseconds())
}
