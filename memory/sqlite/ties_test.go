package sqlite_test

import (
	"reflect"
	"testing"
	"time"

	"hark/memory"
	"hark/memory/memorytest"
)

// unit is a vector of the toy embedder's space.
func unit() []float32 {
	v := make([]float32, memorytest.Embedder{}.Space().Dimensions)
	v[0] = 1
	return v
}

// Of segments that are equally near, those found are the same each time.
func TestNearestBreaksTies(t *testing.T) {
	t.Parallel()
	s := openEmpty(t)
	defer s.Close()
	const channel = 7
	space := memorytest.Embedder{}.Space()
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for i := range 120 {
		at := start.Add(time.Duration(i) * time.Hour) // each a segment of its own
		err := s.Apply(t.Context(), memory.Posted{Message: memory.Message{
			ID: memory.FirstMessageID(at), Guild: 5, Channel: channel, Author: 1, Content: "the same again",
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	segments, err := s.Pending(t.Context(), 200)
	if err != nil || len(segments) != 120 {
		t.Fatalf("%d segments, %v", len(segments), err)
	}
	vectors := make([][]float32, len(segments))
	for i := range vectors {
		vectors[i] = unit()
	}
	if err := s.Embedded(t.Context(), segments, vectors); err != nil {
		t.Fatal(err)
	}
	var first []memory.VectorHit
	for range 20 {
		hits, err := s.Nearest(t.Context(), memory.Scope{Channels: []memory.ChannelID{channel}}, space, unit(), 10)
		if err != nil || len(hits) != 10 {
			t.Fatalf("%d hits, %v", len(hits), err)
		}
		if first == nil {
			first = hits
		}
		if !reflect.DeepEqual(hits, first) {
			t.Fatal("the same search finds other segments")
		}
	}
}
