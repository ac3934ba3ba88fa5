package memorytest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"hark/memory"
)

// Sentence makes up talk. Low words are the most frequent, as in any language.
func Sentence(r *rand.Rand) string {
	var b strings.Builder
	for i := range 6 + r.IntN(12) {
		if i > 0 {
			b.WriteByte(' ')
		}
		n := int(r.ExpFloat64() * 700)
		fmt.Fprintf(&b, "%c%c%c%s", 'a'+n%23, "aeiou"[n%5], 'b'+n%19, []string{"ne", "lo", "ri", "", "st", "ving"}[n%6])
	}
	return b.String()
}

// Conversations returns n messages in a guild: two to four people talk in one of its channels, then others
// in another.
func Conversations(guild memory.GuildID, n, channels int) []memory.Event {
	r := rand.New(rand.NewPCG(uint64(guild), 7))
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	events := make([]memory.Event, 0, n)
	for len(events) < n {
		channel := memory.ChannelID(int64(guild)*1000) + memory.ChannelID(r.IntN(channels))
		first, people := r.IntN(200), 2+r.IntN(3)
		for range min(4+r.IntN(24), n-len(events)) {
			at = at.Add(time.Duration(5+r.IntN(90)) * time.Second)
			events = append(events, memory.Posted{Message: memory.Message{
				ID: memory.FirstMessageID(at) + memory.MessageID(len(events)%1000), Guild: guild, Channel: channel,
				Author: memory.UserID(1 + (first+r.IntN(people))%200), Content: Sentence(r),
			}})
		}
		at = at.Add(time.Duration(1+r.IntN(60)) * time.Minute)
	}
	return events
}
