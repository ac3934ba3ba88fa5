package search

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hark/memory"
)

// TestStretchKnowsWhatFollowsWhat reads parts of a channel as a store does, and sees that two messages count
// as neighbours only if they are, and always within reach of what was wanted.
func TestStretchKnowsWhatFollowsWhat(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var all []memory.Message
		for i := range rapid.IntRange(0, 40).Draw(t, "messages") {
			if rapid.IntRange(0, 3).Draw(t, "there") > 0 {
				all = append(all, memory.Message{ID: memory.MessageID(i + 1)})
			}
		}
		position := func(id memory.MessageID) int {
			return slices.IndexFunc(all, func(m memory.Message) bool { return m.ID == id })
		}
		var read stretch
		near := map[memory.MessageID]bool{} // it and the one before are within reach of something wanted
		for range rapid.IntRange(1, 2).Draw(t, "parts") {
			reach := rapid.IntRange(1, 5).Draw(t, "reach")
			ids := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) memory.MessageID {
				return memory.MessageID(rapid.IntRange(0, 42).Draw(t, "id"))
			}), 1, 5).Draw(t, "ids")
			taken := map[int]bool{}
			for _, id := range ids {
				first := slices.IndexFunc(all, func(m memory.Message) bool { return m.ID >= id })
				if first < 0 {
					first = len(all)
				}
				last := first + reach // the one after the last that is read
				if first < len(all) && all[first].ID == id {
					last++
				}
				for i := max(0, first-reach); i < min(last, len(all)); i++ {
					taken[i] = true
					if i > max(0, first-reach) {
						near[all[i].ID] = true
					}
				}
			}
			var messages []memory.Message
			for i, m := range all {
				if taken[i] {
					messages = append(messages, m)
				}
			}
			read.add(messages, ids, reach)
		}
		for i, m := range read.messages {
			if i > 0 && read.messages[i-1].ID >= m.ID {
				t.Fatalf("not in order: %v", read.messages)
			}
			direct := i > 0 && position(read.messages[i-1].ID) == position(m.ID)-1
			if i > 0 && read.follows[m.ID] && !direct {
				t.Fatalf("%d is said to follow %d, of %v", m.ID, read.messages[i-1].ID, all)
			}
			if near[m.ID] && !read.follows[m.ID] {
				t.Fatalf("%d isn't said to follow the one before", m.ID)
			}
		}
	})
}

// A message that isn't recalled doesn't part its neighbours, but a hole in what was read does.
func TestStreamJoinsNeighbours(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	said := func(minute int, kind memory.Kind) memory.Message {
		return memory.Message{ID: memory.FirstMessageID(at.Add(time.Duration(minute) * time.Minute)),
			Kind: kind, Content: "word"}
	}
	messages := []memory.Message{said(0, memory.FromMember), said(1, memory.FromHark),
		said(2, memory.FromMember), said(50, memory.FromMember),
		said(51, memory.FromMember), said(300, memory.FromMember)}
	read := stretch{messages: messages, follows: map[memory.MessageID]bool{}}
	for _, i := range []int{1, 2, 4, 5} {
		read.follows[messages[i].ID] = true
	}
	var joined []bool
	for _, e := range newPool(Query{}).stream(read, question{}) {
		joined = append(joined, e.joined)
	}
	if want := []bool{false, true, false, true, false}; !slices.Equal(joined, want) {
		t.Errorf("joined %v, want %v", joined, want)
	}
}
