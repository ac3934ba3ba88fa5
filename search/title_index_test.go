package search

import (
	"fmt"
	"testing"

	"hark/memory"
)

// Making the index of a guild with many threads.
func BenchmarkTitleIndex(b *testing.B) {
	channels := []memory.Channel{{ID: 1, Kind: memory.ForumChannel, Tags: []memory.Tag{{ID: 1, Name: "solved"}}}}
	for i := range 10_000 {
		channels = append(channels, memory.Channel{ID: memory.ChannelID(2 + i), Kind: memory.PublicThread, Parent: 1,
			Name: fmt.Sprintf("Winch %d of berth four stops when it rains", i), Tags: []memory.Tag{{ID: 1}}})
	}
	for b.Loop() {
		newTitleIndex(channels)
	}
}

func TestTagsThatSayThatAPostIsSolved(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]bool{"Solved": true, "✅ solved!": true, "gelöst": true, "résolu": true,
		"解決済み": true, "已解決": true, "Not solved": false, "unsolved": false, "linux": false, "": false} {
		if isSolved(tag) != want {
			t.Errorf("%q is solved: %t", tag, !want)
		}
	}
}
