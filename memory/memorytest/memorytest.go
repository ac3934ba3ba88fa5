// Package memorytest is the conformance suite of memory.Store.
//
// The harness applies the same events to a store and to a naive model, and compares everything that the
// store returns with the model (compare.go). Run does so for named cases, which also state the decisive
// answers, and for events in any order; Reopen for random operations, also across closing and opening;
// Concurrent tests several readers and writers at once. A store that passes all three can replace any
// other. Begin with Run.
package memorytest

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"hark/internal/embed"
	"hark/memory"

	"pgregory.net/rapid"
)

// Run tests the stores that open returns. Each call must return an empty store of its own, opened for
// Embedder's space. The suite closes them.
func Run(t *testing.T, open func(t testing.TB) memory.Opened) {
	each(t, testCases(), open, testCase.check)
	t.Run("events in any order end in the same log", func(t *testing.T) {
		t.Parallel()
		checkOrders(t, open)
	})
}

// Concurrent tests stores with several readers and writers at once. It is separate from Run, so that only
// it needs the race detector.
func Concurrent(t *testing.T, open func(t testing.TB) memory.Opened) {
	each(t, concurrencyCases, open, func(c testCase, t *harness) { c.then(t) })
}

func each(t *testing.T, cases []testCase, open func(t testing.TB) memory.Opened, check func(testCase, *harness)) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			check(c, newHarness(t, t.Context(), closed(t, open(t))))
		})
	}
}

func closed(t *testing.T, store memory.Opened) memory.Opened {
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return store
}

// Reopen tests that stores keep everything when closed and opened again. Each call of empty must return a
// new directory. open must open it as an empty store for Embedder's space, and later as it was left.
func Reopen(t *testing.T, empty func(testing.TB) string, open func(t testing.TB, dir string) memory.Opened) {
	t.Run("random operations and reopenings end as in the model", func(t *testing.T) {
		t.Parallel()
		var dir string
		first := func(t testing.TB) memory.Opened {
			dir = empty(t)
			return open(t, dir)
		}
		times := 1
		if os.Getenv("HARK_LONG") != "" {
			times = 6
		}
		for range times {
			rapid.Check(t, operations(t, first, func(t testing.TB) memory.Opened { return open(t, dir) }))
		}
	})
}

// Fuzz runs the operations of Reopen, drawn from the fuzzer's bytes. open is as in Run.
func Fuzz(f *testing.F, open func(t testing.TB) memory.Opened) {
	FuzzDrawn(f, func(t *testing.T, rt *rapid.T) { operations(t, open, nil)(rt) })
}

// FuzzDrawn lets check draw from the fuzzer's bytes; without fuzzing, from seeds long enough for most
// draws.
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

// Embedder is deterministic and really ranks: texts that share words are near each other, and a text
// without words has no vector.
type Embedder = embed.Builtin

type (
	events = []memory.Event
	steps  = []any // events, and func(*harness), which act or assert
)

// testCase is one property of every store: steps, then an assertion, if not nil, besides the comparison
// with the model.
type testCase struct {
	name  string
	given steps
	then  func(*harness)
}

func (c testCase) check(t *harness) {
	for _, step := range append(c.given, c.then) {
		switch step := step.(type) {
		case memory.Event:
			t.apply(step)
		case func(*harness):
			if t.compare(); step != nil {
				step(t)
			}
		}
	}
	t.compare()
}

// forgot is the step that forgets f.
func forgot(f memory.Forgetting) func(*harness) {
	return func(t *harness) { t.Helper(); t.forget(f) }
}

func testCases() []testCase {
	return slices.Concat(logCases, searchCases, guildCases, derivedCases, answerCases(),
		forgetCases(), copyCases())
}
