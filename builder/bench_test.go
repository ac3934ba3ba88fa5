package builder

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"hark/internal/tokens"
	"hark/memory"
)

// big returns 50 segments of 6 messages and 10 people, about 29 KB of prompt, with stored token counts.
func big(counter Counter) Input {
	now := time.Date(2024, 7, 24, 17, 35, 0, 0, time.UTC)
	words := []string{"the deadline", "moved to", "Friday,", "because", "we still", "wait for",
		"the migration;", "it's fine", "and I'll", "tell Jane"}
	in := Input{Now: now, Query: Turn{Author: 1, Speaker: "Jane", Content: "When is the deadline?"}}
	for i := range 10 {
		in.Participants = append(in.Participants, Participant{
			ID: memory.UserID(100000000000000000 + i), Name: "Person " + strconv.Itoa(i), Main: i == 0,
			LastActive: now.Add(-time.Duration(i) * time.Hour), Data: "Leads project " + strconv.Itoa(i) +
				" and prefers short answers.",
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

func BenchmarkBuild50(b *testing.B) {
	counter := tokens.New()
	in := big(counter)
	builder, err := New(Options{MaxTokens: 32_000, Citations: true}, counter)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		builder.Build(in)
	}
}

// countingCounter counts how often it is asked.
type countingCounter struct {
	Counter
	calls int
}

func (c *countingCounter) Count(s string) int { c.calls++; return c.Counter.Count(s) }

// No text was counted before. Half the messages are cut, so that their stored counts don't help.
func BenchmarkBuildLong(b *testing.B) {
	counter := tokens.New()
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
		in.Lore = append(in.Lore, fmt.Sprintf(
			"Project %d is led by person %d, and its plan is pinned in the channel.", i, i%10))
	}
	o := Options{MaxTokens: 8000, Citations: true}
	for b.Loop() {
		b.StopTimer()
		fresh, err := New(o, counter)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		fresh.Build(in)
	}
}

// estimated returns the tokens of in's prompt as the sum of its parts, and as counted.
func estimated(b *Builder, in Input) (sum, whole int) {
	w := b.begin(in)
	w.plan()
	w.decide(w.maxTokens())
	w.render()
	return w.tokens, w.counted()
}

// The sum of the parts is at most 2 % above the count, in any language.
func TestSumIsCloseToTheWhole(t *testing.T) {
	t.Parallel()
	for _, l := range everyLabels() {
		b := newBuilder(t, Options{Labels: l.Labels, Citations: true, MaxTokens: 20_000})
		if sum, whole := estimated(b, big(holdsCounter)); sum < whole || sum > whole*102/100 {
			t.Errorf("%s: the parts have %d tokens, the whole %d", l.name, sum, whole)
		}
	}
}
