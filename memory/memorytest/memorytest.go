// Package memorytest is the suite that every memory.Store passes.
//
// A store is told events beside a naive model, and all that it tells is compared with the model (compare.go).
// Run does so for promises that are named by a sentence, and say what the decisive answers are, and for
// events in any order; Reopen does so for random operations, and across closing and opening again. Concurrent
// holds a store to what it promises to several at once. A store that passes all three can take the place of
// any other.
package memorytest

import (
	"cmp"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"hark/memory"

	"pgregory.net/rapid"
)

// Run checks the stores that open returns. Each call of open is to give an empty store of its own, whose
// space in use is that of Embedder. The suite closes them.
func Run(t *testing.T, open func(t testing.TB) memory.Store) {
	each(t, promises(), open, promise.check)
	t.Run("events in any order end in the same log", func(t *testing.T) {
		t.Parallel()
		checkOrders(t, open)
	})
}

// Concurrent checks what stores promise to several who read and write at once. It is apart from Run, so that
// it alone can be run with the race detector.
func Concurrent(t *testing.T, open func(t testing.TB) memory.Store) {
	each(t, concurrencyPromises, open, func(p promise, t *trial) { p.then(t) })
}

func each(t *testing.T, promises []promise, open func(t testing.TB) memory.Store, check func(promise, *trial)) {
	for _, p := range promises {
		t.Run(p.says, func(t *testing.T) {
			t.Parallel()
			check(p, newTrial(t, t.Context(), closed(t, open(t))))
		})
	}
}

// closed is a store that is closed when the test ends.
func closed(t *testing.T, store memory.Store) memory.Store {
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return store
}

// Reopen checks that stores are after closing what they were before. Each call of empty is to give a
// directory of its own, which open opens as an empty store of the space of Embedder, and again as it was
// left.
func Reopen(t *testing.T, empty func(testing.TB) string, open func(t testing.TB, dir string) memory.Store) {
	t.Run("random operations and reopenings end as in the model", func(t *testing.T) {
		t.Parallel()
		var dir string
		first := func(t testing.TB) memory.Store {
			dir = empty(t)
			return open(t, dir)
		}
		times := 1
		if os.Getenv("HARK_LONG") != "" {
			times = 6
		}
		for range times {
			rapid.Check(t, operations(t, first, func(t testing.TB) memory.Store { return open(t, dir) }))
		}
	})
}

// Fuzz makes operations of whatever bytes come, as Run makes them of random numbers. open is that of Run.
func Fuzz(f *testing.F, open func(t testing.TB) memory.Store) {
	FuzzDrawn(f, func(t *testing.T, rt *rapid.T) { operations(t, open, nil)(rt) })
}

// FuzzDrawn has check draw from whatever bytes come; without fuzzing, from some that suffice for much.
func FuzzDrawn(f *testing.F, check func(*testing.T, *rapid.T)) {
	for seed := range byte(6) {
		source, data := rand.NewChaCha8([32]byte{seed}), make([]byte, 256<<10)
		source.Read(data)
		f.Add(data)
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		rapid.MakeFuzz(func(rt *rapid.T) { check(t, rt) })(t, data)
	})
}

type (
	events = []memory.Event
	steps  = []any // events, and func(*trial), which do something or say what is so then
)

// promise is one sentence that every store keeps: what happens, one by one, and what is so then, if not nil, beside
// what the model says.
type promise struct {
	says  string
	given steps
	then  func(*trial)
}

func (p promise) check(t *trial) {
	for _, step := range append(p.given, p.then) {
		switch step := step.(type) {
		case memory.Event:
			t.apply(step)
		case func(*trial):
			if t.compare(); step != nil {
				step(t)
			}
		}
	}
	t.compare()
}

// forgot is the step that has something forgotten: on purpose, and after all that was said, unless f says otherwise.
func forgot(f memory.Forgetting) func(*trial) {
	if f.At.IsZero() {
		f.At = later
	}
	f.Why = cmp.Or(f.Why, memory.WhyPurge)
	return func(t *trial) { t.Helper(); t.forget(f) }
}

func promises() []promise {
	return slices.Concat(logPromises, searchPromises, guildPromises, derivedPromises, answerPromises(),
		forgetPromises())
}
