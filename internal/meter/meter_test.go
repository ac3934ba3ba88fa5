package meter

import (
	"sync"
	"testing"
	"time"
)

func TestConcurrentCounts(t *testing.T) {
	t.Parallel()
	var c Counts[string]
	if len(c.All()) != 0 {
		t.Error("there is something already")
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				c.Add("a", 1)
				c.Add("b", 2)
			}
		})
	}
	all.Wait()
	got := c.All()
	if got["a"] != 800 || got["b"] != 1600 || len(got) != 2 {
		t.Errorf("%v", got)
	}
	got["a"] = 0
	if c.All()["a"] != 800 {
		t.Error("the caller's map is the counter's own")
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	var times Times[string]
	for _, took := range []time.Duration{-time.Second, time.Millisecond, 2 * time.Second, time.Hour} {
		times.Add("x", took)
	}
	s := times.All()["x"]
	if s.Count != 4 || s.Sum != 3602.001 {
		t.Errorf("%+v", s)
	}
	before := int64(0)
	for i, most := range Bounds() {
		want := int64(2)
		if most >= 2 {
			want = 3
		}
		if s.Within[i] != want || s.Within[i] < before || i > 0 && most <= Bounds()[i-1] {
			t.Errorf("at most %v s: %d, want %d", most, s.Within[i], want)
		}
		before = s.Within[i]
	}
}
