package sqlite

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"hark/memory"
	"hark/memory/sqlstore"
)

// traceLike is a trace of the size of an answer to a prompt of 4,000 tokens: forty hits, two dozen of them
// shown with context, and a session of forty messages.
func traceLike(r *rand.Rand, answer memory.MessageID) memory.Trace {
	kinds := [][]string{{"words", "around"}, {"words"}, {"meaning", "around", "words"}, {"words", "answers", "author"}}
	t := memory.Trace{Guild: guild, Channel: general, Answer: answer, Question: answer - 1<<22, Asker: 7e17,
		Model: "gpt-4o-mini", Mode: "general", Tokens: 3900, MaxTokens: 4000, Reserved: 1000, Window: 128000,
		Layout: "sections", Search: 20e6, Total: 3e9}
	t.Sources = []memory.Source{memory.Message{Channel: general, ID: t.Question}.AsSource(true)}
	show := func(hit memory.TraceHit) {
		hit.Context = true
		t.Recalled = append(t.Recalled, hit)
		source := memory.Message{Channel: hit.Channel, ID: hit.Message}.AsSource(len(t.Sources) < 4)
		t.Sources = append(t.Sources, source)
	}
	for n := range 40 {
		hit := memory.TraceHit{Channel: general + 1e17*memory.ChannelID(r.IntN(5)),
			Message: answer - memory.MessageID(r.Int64N(1e17)), Relevance: float64(900-20*n) / 1000,
			Why: kinds[r.IntN(len(kinds))]}
		if n >= 25 {
			t.Recalled = append(t.Recalled, hit)
			continue
		}
		hit.Number, hit.Cited = n+1, n < 2
		show(hit)
		show(memory.TraceHit{Channel: hit.Channel, Message: hit.Message + 3e11})
	}
	for n := range 40 {
		show(memory.TraceHit{Channel: general,
			Message: t.Question - memory.MessageID(40-n)<<37 - memory.MessageID(r.Int64N(1<<30))})
	}
	for n := range 12 {
		t.Named = append(t.Named, memory.UserID(7e17+r.Int64N(1e17)+int64(n)))
	}
	for _, section := range []string{"system", "instruction", "current_session", "participants", "recalled_history",
		"previous_context", "lore", "files", "query"} {
		t.Sections = append(t.Sections, memory.TraceUse{Section: section, Tokens: r.IntN(1600), Floor: 300,
			Ceiling: 1600, Included: r.IntN(25), Dropped: 15, Why: "budget"})
	}
	return t
}

// BenchmarkAnswers keeps a thousand answers, without prompts, and reports the size of each in the file, and
// of its trace as JSON.
func BenchmarkAnswers(b *testing.B) {
	for b.Loop() {
		s := open(b, b.TempDir())
		must(b, s.Apply(bg, memory.GuildSeen{Guild: memory.Guild{ID: guild,
			Channels: []memory.Channel{{ID: general, Guild: guild}}}}))
		r := rand.New(rand.NewPCG(1, 2))
		at, asJSON := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), 0
		const answers = 1000
		var traces []memory.Trace
		for n := range answers {
			t := traceLike(r, memory.FirstMessageID(at.Add(time.Duration(n)*time.Hour)))
			body, err := json.Marshal(t)
			must(b, err)
			asJSON += len(body)
			traces = append(traces, t)
		}
		for c := range 5 {
			channel := memory.Channel{ID: general + 1e17*memory.ChannelID(c), Guild: guild}
			must(b, s.Apply(bg, memory.ChannelSeen{Channel: channel}))
		}
		before := sizes(b, s)
		var events []memory.Event
		for _, t := range traces {
			events = append(events, memory.Answered{Trace: t})
		}
		took := cpuOf(b, func() { must(b, s.Apply(bg, events...)) })
		after := sizes(b, s)
		all := 0
		for name, size := range after {
			if grown := size - before[name]; grown > 4096 {
				b.ReportMetric(float64(grown)/answers, "B-"+name)
				all += grown
			}
		}
		read := cpuOf(b, func() {
			got, err := s.Traces(bg, memory.TraceQuery{Limit: answers})
			must(b, err)
			if len(got) != answers {
				b.Fatal(fmt.Sprint(len(got), " answers are kept"))
			}
		})
		b.ReportMetric(float64(all)/answers, "B/answer")
		b.ReportMetric(float64(asJSON)/answers, "B/json")
		b.ReportMetric(float64(took.Microseconds())/answers, "cpu-us/write")
		b.ReportMetric(float64(read.Microseconds())/answers, "cpu-us/read")
	}
	b.ReportMetric(0, "ns/op")
}

func sizes(b *testing.B, s *Store) map[string]int {
	b.Helper()
	all := map[string]int{}
	must(b, sqlstore.Each(bg, s.engine.read, func(scan sqlstore.Scanner) error {
		var name string
		var size int
		err := scan(&name, &size)
		all[name] += size
		return err
	}, "SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
	return all
}
