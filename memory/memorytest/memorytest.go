// Package memorytest is the suite that every memory.Store passes.
//
// Run holds a store to what memory.Store, memory.Queue and memory.Event promise, each promise by itself and named by a
// sentence. Reopen holds it to all of them together, in random operations beside a naive model that keeps everything in
// maps, and across closing and opening again. Concurrent holds it to what it promises to several at once. A store that
// passes all three can take the place of any other.
package memorytest

import (
	"math/rand/v2"
	"os"
	"testing"

	"hark/memory"

	"pgregory.net/rapid"
)

// Run checks the stores that open returns. Each call of open is to give an empty store of its own, whose
// space in use is that of Embedder. The suite closes them.
func Run(t *testing.T, open func(t testing.TB) memory.Store) {
	each(t, promises(), open)
	t.Run("events in any order end in the same log", func(t *testing.T) {
		t.Parallel()
		checkOrders(t, open)
	})
}

// Concurrent checks what stores promise to several who read and write at once. It is apart from Run, so that it alone can
// be run with the race detector.
func Concurrent(t *testing.T, open func(t testing.TB) memory.Store) {
	each(t, concurrencyPromises, open)
}

func each(t *testing.T, promises []promise, open func(t testing.TB) memory.Store) {
	for _, p := range promises {
		t.Run(p.says, func(t *testing.T) {
			t.Parallel()
			p.check(start(t, open(t)))
		})
	}
}

// Reopen checks that stores are after closing what they were before. Each call of empty is to give a directory of its own,
// which open opens as an empty store of the space of Embedder, and again as it was left.
func Reopen(t *testing.T, empty func(testing.TB) string, open func(t testing.TB, dir string) memory.Store) {
	t.Run("what was applied is there after closing and opening", func(t *testing.T) {
		t.Parallel()
		dir := empty(t)
		reopened(&trial{fataler: t, ctx: t.Context(), store: open(t, dir)}, func() *trial { return start(t, open(t, dir)) })
	})
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
			checkRandom(t, first, func(t testing.TB) memory.Store { return open(t, dir) })
		}
	})
}

// Fuzz makes operations of whatever bytes come, as Run makes them of random numbers. open is that of Run.
func Fuzz(f *testing.F, open func(t testing.TB) memory.Store) {
	for seed := range byte(6) {
		source, data := rand.NewChaCha8([32]byte{seed}), make([]byte, 4<<10)
		source.Read(data)
		f.Add(data)
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) { rapid.MakeFuzz(operations(t, open, nil))(t, data) })
}

// promise is one sentence that every store keeps.
type promise struct {
	says  string
	check func(*trial)
}

func promises() []promise {
	var all []promise
	for _, group := range [][]promise{logPromises, structurePromises, peoplePromises, hearingPromises, settingPromises, namePromises, searchPromises, queuePromises, tracePromises, rewritePromises, promptPromises, recordPromises(), forgetPromises, extentPromises, lorePromises, loreForgottenPromises(), summaryPromises, summaryForgottenPromises(), condensedPromises, limitPromises} {
		all = append(all, group...)
	}
	return all
}
