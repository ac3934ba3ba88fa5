package memory

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// at is the id of a message sent so long after noon.
func at(after time.Duration) MessageID { return FirstMessageID(noon.Add(after)) }

func TestJoin(t *testing.T) {
	t.Parallel()
	const ann, bob, cat, dan = 1, 2, 3, 4
	for _, c := range []struct {
		name   string
		before []Placed
		m      Message
		want   int64
	}{
		{"nothing before", nil, Message{ID: at(0), Author: ann}, 0},
		{"a quiet channel goes on", []Placed{{at(0), ann, 7, 1}}, Message{ID: at(5 * time.Minute), Author: bob}, 7},
		{"until it fell silent", []Placed{{at(0), ann, 7, 1}},
			Message{ID: at(5*time.Minute + time.Millisecond), Author: bob}, 0},
		{"the author goes on for longer", []Placed{{at(0), ann, 7, 1}},
			Message{ID: at(15 * time.Minute), Author: ann}, 7},
		{"but not for ever", []Placed{{at(0), ann, 7, 1}}, Message{ID: at(15*time.Minute + time.Millisecond),
			Author: ann}, 0},
		{"a full segment takes no more", []Placed{{at(0), ann, 7, MaxSegment}},
			Message{ID: at(time.Second), Author: ann}, 0},
		{"a reply joins however late", []Placed{{at(0), ann, 7, 2}, {at(time.Hour), cat, 8, 1}},
			Message{ID: at(2 * time.Hour), Author: bob, ReplyTo: at(0)}, 7},
		{"a reply to a full segment goes by the rest",
			[]Placed{{at(0), ann, 7, MaxSegment},
				{at(time.Minute), bob, 8, 1}}, Message{ID: at(2 * time.Minute), Author: bob, ReplyTo: at(0)}, 8},
		{"a reply to what is too far back goes by the rest", []Placed{{at(0), ann, 7, 1}},
			Message{ID: at(time.Minute), Author: ann, ReplyTo: at(-time.Hour)}, 7},
		{"a mention before one's own last", []Placed{{at(0), ann, 7, 1}, {at(time.Second), bob, 8, 1}},
			Message{ID: at(time.Minute), Author: bob, Mentions: []UserID{ann}}, 7},
		{"a mention of long ago doesn't count",
			[]Placed{{at(0), ann, 7, 1}, {at(19 * time.Minute), bob, 8, 1}}, Message{ID: at(20 * time.Minute),
				Author: bob, Mentions: []UserID{ann}}, 8},
		{"a busy channel isn't one talk", []Placed{{at(0), ann, 7, 1}, {at(1000), bob, 8, 1},
			{at(2000), cat, 9, 1}}, Message{ID: at(time.Second), Author: dan}, 0},
		{"three make a quiet channel", []Placed{{at(0), ann, 7, 1}, {at(1000), bob, 8, 1}},
			Message{ID: at(time.Second), Author: cat}, 8},
		{"who spoke long before makes no noise", append([]Placed{{at(0), dan, 6, 1}},
			slices.Repeat([]Placed{{at(time.Second), ann, 7, 7}, {at(time.Second), bob, 7, 7}}, 4)...),
			Message{ID: at(time.Minute), Author: cat}, 7},
		{"a message that overtook doesn't begin anew", []Placed{{at(time.Minute), ann, 7, 1}},
			Message{ID: at(0), Author: ann}, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Join(c.m, c.before); got != c.want {
				t.Errorf("joined %d, want %d", got, c.want)
			}
		})
	}
}

// cut gives each message of a stream its segment, as a store does that is handed one message at a time.
func cut(stream []Message) []int64 {
	var placed []Placed
	segments := make([]int64, len(stream))
	sizes := map[int64]int{}
	for i, m := range stream {
		before := append([]Placed(nil), placed[max(0, len(placed)-LookBack):]...)
		for k := range before {
			before[k].Size = sizes[before[k].Segment]
		}
		id := Join(m, before)
		if id == 0 {
			id = int64(len(sizes)) + 1
		}
		sizes[id]++
		segments[i] = id
		placed = append(placed, Placed{ID: m.ID, Author: m.Author, Segment: id})
	}
	return segments
}

// checkCut reports what is wrong with the segments of a stream.
func checkCut(t rapid.TB, stream []Message, segments []int64) {
	sizes, seen := map[int64]int{}, map[int64]int{}
	for i, id := range segments {
		if sizes[id]++; sizes[id] > MaxSegment {
			t.Fatalf("segment %d has more than %d messages", id, MaxSegment)
		}
		if last, ok := seen[id]; ok && i-last > LookBack {
			t.Fatalf("message %d joined a segment last seen %d messages before", i, i-last)
		}
		if id < 1 || id > int64(len(sizes)) {
			t.Fatalf("message %d joined segment %d, which nobody began", i, id)
		}
		seen[id] = i
	}
	for end := range stream { // what comes later changes nothing
		if got := cut(stream[:end])[:end]; end%7 == 0 && !slices.Equal(got, segments[:end]) {
			t.Fatalf("the first %d messages are cut another way by themselves", end)
		}
	}
}

func TestStreamsAreCutIntoSegments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var stream []Message
		now := noon
		for range rapid.IntRange(0, 60).Draw(t, "messages") {
			now = now.Add(time.Duration(rapid.IntRange(1, 20*60).Draw(t, "seconds")) * time.Second)
			m := Message{ID: FirstMessageID(now), Author: UserID(rapid.IntRange(1, 6).Draw(t, "author"))}
			if n := len(stream); n > 0 && rapid.Bool().Draw(t, "replies") {
				m.ReplyTo = stream[rapid.IntRange(0, n-1).Draw(t, "to")].ID
			}
			if rapid.Bool().Draw(t, "mentions") {
				m.Mentions = []UserID{UserID(rapid.IntRange(1, 6).Draw(t, "mentioned"))}
			}
			stream = append(stream, m)
		}
		checkCut(t, stream, cut(stream))
	})
}

// Each message is four bytes: author, minutes since the one before, how far back it replies, whom it mentions.
func FuzzJoin(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 2, 1, 1, 0, 1, 20, 0, 2})
	f.Add(binary.BigEndian.AppendUint64(nil, 0x01000000_01000000))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		var stream []Message
		now := noon
		for ; len(data) >= 4 && len(stream) < 100; data = data[4:] {
			now = now.Add(time.Duration(data[1]) * time.Minute / 4)
			m := Message{ID: FirstMessageID(now) + MessageID(len(stream)), Author: UserID(data[0] % 8)}
			if back := int(data[2]); back > 0 && back <= len(stream) {
				m.ReplyTo = stream[len(stream)-back].ID
			}
			if data[3] > 0 {
				m.Mentions = []UserID{UserID(data[3] % 8)}
			}
			stream = append(stream, m)
		}
		checkCut(t, stream, cut(stream))
	})
}
