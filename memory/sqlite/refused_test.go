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

// If one batch of a shared commit is refused, the others succeed.
func TestRefusalIsOnesOwn(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	unfit := posted(general, 9, "a pointer to an event is none")
	s.engine.writer.lock <- struct{}{}
	var outcomes []<-chan error
	for _, e := range []memory.Event{posted(general, 1, "first"), &unfit, posted(general, 2, "last")} {
		outcomes = append(outcomes, queue(t, bg, s, e))
	}
	<-s.engine.writer.lock
	for i, outcome := range outcomes {
		if err := wait.For(t, "a batch", outcome); errors.Is(err, memory.ErrRefused) != (i == 1) ||
			err != nil && i != 1 {
			t.Errorf("batch %d: %v", i, err)
		}
	}
	if got := find(t, s, in(general), "first last"); len(got) != 2 {
		t.Errorf("stored %v", got)
	}
}
