package ttl

import (
	"testing"
	"time"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// Of very many things the oldest isn't known any more, and none before it was noted or for longer than it may be.
func TestWhatIsNotedIsBounded(t *testing.T) {
	t.Parallel()
	n, over := New[int, string](3), noon.Add(time.Hour)
	for key, at := range []time.Duration{3, 1, 2, 4} {
		n.Put(key, "a", noon.Add(at), over)
	}
	if _, oldest := n.Get(1, noon.Add(9)); len(n.of) != 3 || oldest {
		t.Errorf("known are %v", n.of)
	}
	if _, before := n.Get(3, noon); before || !n.IsNews(3, "b", noon.Add(9), over) ||
		n.IsNews(3, "b", noon.Add(9), over) {
		t.Error("wrong about what is news")
	}
	if _, later := n.Get(0, over); later {
		t.Error("it is known for too long")
	}
	n.Put(5, "a", over, over.Add(1))
	if len(n.of) != 1 {
		t.Errorf("%d are known much later", len(n.of))
	}
}
