package builder

import (
	"fmt"
	"testing"
	"time"

	"hark/memory"
)

// How much of a prompt a provider needn't read again: what it has in common with the one before it in the session,
// from the beginning on, since that is what prompt caches go by. In a session of ten questions, a minute apart, what was
// recalled changes by half each time, and one person more takes part in each third.
func BenchmarkCommonPrefix(b *testing.B) {
	for _, layout := range []Layout{LayoutSections, LayoutPlain, LayoutChat} {
		b.Run(string(layout), func(b *testing.B) {
			builder := newBuilder(b, Options{Layout: layout, Citations: true})
			var common, all, system int
			for b.Loop() {
				common, all, system = 0, 0, 0
				before := ""
				for i := range 10 {
					p := builder.Build(asked(i))
					text := p.String()
					if before != "" {
						n := 0
						for n < min(len(text), len(before)) && text[n] == before[n] {
							n++
						}
						common, all, system = common+n, all+len(text), system+len(p.Messages[0].Content)
					}
					before = text
				}
			}
			b.ReportMetric(100*float64(common)/float64(all), "%-common")
			b.ReportMetric(100*float64(system)/float64(all), "%-system")
		})
	}
}

// asked is the i-th question of a session.
func asked(i int) Input {
	now := noon.Add(time.Duration(i) * time.Minute)
	in := Input{Now: now, PreviousContext: []Earlier{{Text: "They planned the trip to the lake and decided to go by train."}, {Text: "Ben is to book the hut."}},
		Query: Turn{Author: 1, Speaker: "Jane", Content: fmt.Sprintf("And what about number %d?", i)}}
	for k := range 2 + i/3 {
		in.Participants = append(in.Participants, Participant{ID: memory.UserID(1 + k), Name: fmt.Sprintf("Member %d", k), LastActive: noon.Add(-time.Duration(k) * time.Hour),
			Data: "Likes trains and brings cake."})
	}
	for k := range 8 {
		in.History = append(in.History, Item{Relevance: 0.9 - float64(k)/20, Lines: lines(3, fmt.Sprintf("Message %d", k+i*(k%2))+" of %d, which is about the trip to the lake and the hut.")})
	}
	for k := range 2 * i {
		in.Session = append(in.Session, Turn{Author: memory.UserID(1 + k%2), Speaker: "Jane", Time: noon.Add(time.Duration(k) * time.Minute / 2), Content: fmt.Sprintf("Turn %d is about the trip.", k)})
	}
	return in
}
