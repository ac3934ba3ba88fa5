package memorytest

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"hark/memory"
)

func openNaive(testing.TB) memory.Store { return newNaive(nil) }

func TestNaiveStore(t *testing.T) {
	t.Parallel()
	Run(t, openNaive)
	var mu sync.Mutex
	states := map[string]*naiveState{}
	Reopen(t, testing.TB.TempDir, func(_ testing.TB, dir string) memory.Store {
		mu.Lock()
		defer mu.Unlock()
		s := newNaive(states[dir])
		states[dir] = s.naiveState
		return s
	})
}

func TestConcurrentNaiveStore(t *testing.T) {
	t.Parallel()
	Concurrent(t, openNaive)
}

// changing is a naive store that changes events before it applies them.
type changing struct {
	*naive
	change func(*model, memory.Event) memory.Event
}

func (s changing) Apply(ctx context.Context, events ...memory.Event) error {
	var changed []memory.Event
	for _, e := range events {
		changed = append(changed, s.change(s.model, e))
	}
	return s.naive.Apply(ctx, changed...)
}

// piecemeal applies each event by itself.
type piecemeal struct{ *naive }

func (s piecemeal) Apply(ctx context.Context, events ...memory.Event) error {
	for _, e := range events {
		if err := s.naive.Apply(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// leaking finds what was said in a channel that wasn't asked about.
type leaking struct{ *naive }

func (s leaking) FullText(ctx context.Context, scope memory.Scope, terms []string, limit int) ([]memory.TextHit, error) {
	scope.Channels = append(slices.Clone(scope.Channels), staff)
	return s.naive.FullText(ctx, scope, terms, limit)
}

// recalling lets what was forgotten be told again.
type recalling struct{ *naive }

func (s recalling) Forget(ctx context.Context, f memory.Forgetting, progress func(done, total int)) (memory.Receipt, error) {
	known := maps.Clone(s.model.entries)
	receipt, err := s.naive.Forget(ctx, f, progress)
	maps.DeleteFunc(s.model.entries, func(at place, e *entry) bool { return known[at] != nil && e.deleted })
	s.model.forgettings[len(s.model.forgettings)-1].end = -never
	return receipt, err
}

// deriving keeps summaries whose sources are deleted.
type deriving struct{ *naive }

func (s deriving) Apply(ctx context.Context, events ...memory.Event) error {
	kept := maps.Clone(s.model.summaries)
	for at, sum := range kept {
		copied := *sum
		kept[at] = &copied
	}
	err := s.naive.Apply(ctx, events...)
	if _, ok := events[0].(memory.Deleted); ok {
		s.model.summaries = kept
	}
	return err
}

// stale takes vectors of segments that have changed since.
type stale struct{ *naive }

func (s stale) Embedded(_ context.Context, segments []memory.Segment, vectors [][]float32) error {
	for i, given := range segments {
		for _, seg := range s.segments {
			if seg.ID == given.ID {
				seg.vector, seg.pending = vectors[i], false
			}
		}
	}
	return nil
}

// losing loses who opted out when it is closed.
type losing struct{ *naive }

func (s losing) Close() error {
	clear(s.model.opted)
	return nil
}

// slow hides what is forgotten once it has told how far it is.
type slow struct{ *naive }

func (s slow) Forget(ctx context.Context, f memory.Forgetting, progress func(done, total int)) (memory.Receipt, error) {
	if progress != nil {
		progress(0, 1)
	}
	return s.naive.Forget(ctx, f, progress)
}

// acrossReopening is the promise that Reopen checks.
const acrossReopening = "what was applied is there after closing and opening"

// Each of these bugs is caught by the promise that it breaks.
func TestTheSuiteCatches(t *testing.T) {
	t.Parallel()
	returning := func(s *naive) memory.Store { // brings back what was deleted
		return changing{s, func(m *model, e memory.Event) memory.Event {
			if p, ok := e.(memory.Posted); ok {
				m.entry(place{p.Message.Channel, p.Message.ID}).deleted = false
			}
			return e
		}}
	}
	oblivious := func(s *naive) memory.Store { // forgets deletes of what isn't there yet
		return changing{s, func(m *model, e memory.Event) memory.Event {
			d, ok := e.(memory.Deleted)
			if !ok {
				return e
			}
			d.IDs = slices.DeleteFunc(slices.Clone(d.IDs), func(id memory.MessageID) bool {
				return m.entry(place{d.Channel, id}).posted == nil
			})
			return d
		}}
	}
	nosy := func(s *naive) memory.Store { // logs who opted out
		return changing{s, func(m *model, e memory.Event) memory.Event {
			if p, ok := e.(memory.Posted); ok {
				delete(m.opted, member{p.Message.Guild, p.Message.Author})
			}
			return e
		}}
	}
	for promise, open := range map[string]func(*naive) memory.Store{
		"a deleted message is found by nothing":             returning,
		"a delete that overtakes its message wins":          oblivious,
		"full text finds the messages in scope":             func(s *naive) memory.Store { return leaking{s} },
		"a batch is applied wholly or not at all":           func(s *naive) memory.Store { return piecemeal{s} },
		"what is forgotten doesn't come back":               func(s *naive) memory.Store { return recalling{s} },
		"a summary goes with any of its sources":            func(s *naive) memory.Store { return deriving{s} },
		"a vector of a segment that has changed meanwhile":  func(s *naive) memory.Store { return stale{s} },
		"a forgetting that was broken off hides everything": func(s *naive) memory.Store { return slow{s} },
		"nothing is kept of somebody who has opted out":     nosy,
		acrossReopening: func(s *naive) memory.Store { return losing{s} },
	} {
		t.Run(promise, func(t *testing.T) {
			t.Parallel()
			s := newNaive(nil)
			fails := failure(func(f fataler) {
				first := &trial{fataler: f, ctx: t.Context(), store: open(s)}
				for _, p := range promises() {
					if strings.HasPrefix(p.says, promise) {
						p.check(first)
						return
					}
				}
				if promise != acrossReopening {
					t.Errorf("there is no promise %q", promise)
				}
				reopened(first, func() *trial {
					return &trial{fataler: f, ctx: t.Context(), store: open(newNaive(s.naiveState))}
				})
			})
			if fails == "" {
				t.Error("the store passes")
			}
			t.Log(fails)
		})
	}
}

// recorder is told of a failure and ends the goroutine that failed.
type recorder struct{ told string }

func (*recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.told = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// failure is what a check tells, or "" if it passes.
func failure(check func(fataler)) string {
	r, ended := &recorder{}, make(chan struct{})
	go func() {
		defer close(ended)
		check(r)
	}()
	<-ended
	return r.told
}
