package sqlite

import (
	"errors"
	"slices"
	"testing"

	"hark/internal/wait"
	"hark/memory"
)

// Events that can never be stored are told apart from temporary failures.
func TestRefusedEvents(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	good := posted(general, 1, "x")
	for name, e := range map[string]memory.Event{
		"nothing":            nil,
		"a pointer":          &good,
		"no id":              memory.Posted{Message: memory.Message{Channel: general}},
		"no channel":         memory.Posted{Message: memory.Message{ID: id(1)}},
		"a trace of nothing": memory.Answered{Trace: memory.Trace{Channel: general}},
		"a trace of nowhere": memory.Answered{Trace: memory.Trace{Answer: id(1)}},
	} {
		for _, n := range []int{1, 64} { // of which each half is prepared by itself
			batch := slices.Repeat([]memory.Event{good}, n+1)
			batch[n] = e
			if err := s.Apply(bg, batch...); !errors.Is(err, memory.ErrRefused) {
				t.Errorf("%s: %v", name, err)
			}
			slices.Reverse(batch)
			if err := s.Apply(bg, batch...); !errors.Is(err, memory.ErrRefused) {
				t.Errorf("%s, first: %v", name, err)
			}
		}
	}
	if got := find(t, s, in(general), "x"); len(got) > 0 {
		t.Errorf("stored half a batch: %v", got)
	}
}

// A batch that is refused doesn't hold up those that wait, and they succeed.
func TestRefusalIsOnesOwn(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	unfit := posted(general, 9, "a pointer to an event is none")
	s.engine.writer.lock <- struct{}{}
	first := queue(t, bg, s, posted(general, 1, "first"))
	err := s.Apply(bg, &unfit)
	if !errors.Is(err, memory.ErrRefused) {
		t.Errorf("a pointer: %v", err)
	}
	last := queue(t, bg, s, posted(general, 2, "last"))
	<-s.engine.writer.lock
	for _, outcome := range []<-chan error{first, last} {
		must(t, wait.For(t, "a batch", outcome))
	}
	if got := find(t, s, in(general), "first last"); len(got) != 2 {
		t.Errorf("stored %v", got)
	}
}
