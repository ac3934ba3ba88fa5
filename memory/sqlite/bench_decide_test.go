package sqlite

import (
	"fmt"
	"testing"
	"time"

	"hark/memory"
	"hark/memory/memorytest"
)

// BenchmarkDecide measures how long people wait for what they decide, beside a message for comparison. Decisions are
// written through to the disk.
func BenchmarkDecide(b *testing.B) {
	const guild memory.GuildID = 1
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		of   func(i int) memory.Event
	}{
		{"message", func(i int) memory.Event {
			return memory.Posted{Live: true, Message: memory.Message{ID: memory.FirstMessageID(at) + memory.MessageID(i),
				Guild: guild, Channel: 2, Author: 3, Content: fmt.Sprintf("The deadline of row %d is Friday", i)}}
		}},
		{"setting", func(i int) memory.Event {
			return memory.SettingChosen{Guild: guild, Key: memory.SettingMode, Value: fmt.Sprint(i),
				At: at.Add(time.Duration(i) * time.Second)}
		}},
		{"lore", func(i int) memory.Event {
			return memory.LoreTold{Lore: memory.Lore{ID: int64(i%100 + 1), Guild: guild, Name: fmt.Sprint("Row ", i%100),
				Text: "It is due on Friday", By: 3, Channel: 2, At: at.Add(time.Duration(i) * time.Second)}}
		}},
		{"forgetting", func(i int) memory.Event {
			return memory.Deleted{Guild: guild, Channel: 2, IDs: []memory.MessageID{memory.FirstMessageID(at) +
				memory.MessageID(i)}}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := openBench(b, b.TempDir())
			logAndIndex(b, s, memorytest.Conversations(guild, 2000, 3))
			i := 0
			for b.Loop() {
				i++
				must(b, s.Apply(bg, c.of(i)))
			}
		})
	}
}
