package memorytest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"hark/memory"
	"hark/memory/sqlite"
)

// buggy is a store with a bug planted in it.
type buggy struct {
	memory.Opened
	apply  func(memory.Event) memory.Event // in the place of an event; nil: nothing
	search func(memory.Scope) memory.Scope
	forget func(memory.Forgetting) memory.Forgetting
	embed  func(memory.Segment) memory.Segment
	known  map[memory.ChannelID][]memory.Summary // that are told again, if it isn't nil
}

func (b buggy) Apply(ctx context.Context, events ...memory.Event) error {
	if b.apply == nil {
		return b.Opened.Apply(ctx, events...)
	}
	for _, e := range events { // one by one
		if e = b.apply(e); e == nil {
			continue
		}
		if err := b.Opened.Apply(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (b buggy) FullText(ctx context.Context, scope memory.Scope, terms []string, limit int) ([]memory.TextHit, error) {
	if b.search != nil {
		scope = b.search(scope)
	}
	return b.Opened.FullText(ctx, scope, terms, limit)
}

func (b buggy) Forget(ctx context.Context, f memory.Forgetting,
	progress func(done, total int)) (memory.DeletionReport, error) {
	if b.forget != nil {
		f = b.forget(f)
	}
	return b.Opened.Forget(ctx, f, progress)
}

func (b buggy) Embedded(ctx context.Context, segments []memory.Segment, vectors [][]float32) error {
	if b.embed != nil {
		segments = slices.Clone(segments)
		for i := range segments {
			segments[i] = b.embed(segments[i])
		}
	}
	return b.Opened.Embedded(ctx, segments, vectors)
}

func (b buggy) Summaries(ctx context.Context, channel memory.ChannelID) ([]memory.Summary, error) {
	all, err := b.Opened.Summaries(ctx, channel)
	if b.known != nil && len(all) > len(b.known[channel]) {
		b.known[channel] = all
	}
	return append(all, b.known[channel][min(len(all), len(b.known[channel])):]...), err
}

// The test case of a property catches a bug that breaks it.
func TestTheSuiteCatches(t *testing.T) {
	t.Parallel()
	for name, bug := range map[string]buggy{
		"a deleted message is found by nothing": {apply: func(e memory.Event) memory.Event {
			if _, ok := e.(memory.Deleted); ok {
				return nil
			}
			return e
		}},
		"an older version never replaces a newer": {apply: func(e memory.Event) memory.Event {
			if of, ok := e.(memory.Edited); ok {
				of.At = later
				return of
			}
			return e
		}},
		"nothing is kept of somebody who has opted out": {apply: func(e memory.Event) memory.Event {
			if p, ok := e.(memory.Posted); ok && p.Message.Author == ada {
				p.Message.Author = nobody
				return p
			}
			return e
		}},
		"a batch is applied wholly or not at all": {apply: func(e memory.Event) memory.Event { return e }},
		"a scope is of channels, times and authors": {search: func(s memory.Scope) memory.Scope {
			s.Channels = append(slices.Clone(s.Channels), staff)
			return s
		}},
		"a vector of a segment that has changed meanwhile": {embed: func(s memory.Segment) memory.Segment {
			s.Version++
			return s
		}},
		"a summary goes with any of its sources": {known: map[memory.ChannelID][]memory.Summary{}},
		"what is forgotten stays gone, with what was made of it: a guild": {
			forget: func(f memory.Forgetting) memory.Forgetting {
				f.Before = f.At
				return f
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{Space: Embedder{}.Space()})
			if err != nil {
				t.Fatal(err)
			}
			b := bug
			b.Opened = closed(t, s)
			fails := failure(func(f fataler) {
				i := slices.IndexFunc(testCases(), func(c testCase) bool { return strings.HasPrefix(c.name, name) })
				testCases()[i].check(newHarness(f, t.Context(), b))
			})
			if t.Log(fails); fails == "" {
				t.Error("the store passes")
			}
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
