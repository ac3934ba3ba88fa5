package sqlite

import (
	"context"
	"errors"
	"math"
	"testing"

	"hark/memory"
	"hark/memory/memorytest"
)

type crooked struct {
	memorytest.Embedder
	bend func([][]float32) [][]float32
}

func (e crooked) Embed(ctx context.Context, p memory.Purpose, texts []string) ([][]float32, error) {
	vectors, err := e.Embedder.Embed(ctx, p, texts)
	return e.bend(vectors), err
}

// An incomparable vector is refused with its batch, and the segments stay pending.
func TestCrookedVectors(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	apply(t, s, posted(general, 1, "apples"), posted(general, 1000, "bananas"))
	change := func(f func([]float32) []float32) func([][]float32) [][]float32 {
		return func(v [][]float32) [][]float32 {
			v[1] = f(v[1])
			return v
		}
	}
	for name, bend := range map[string]func([][]float32) [][]float32{
		"too few":        func(v [][]float32) [][]float32 { return v[:1] },
		"too many":       func(v [][]float32) [][]float32 { return append(v, v[0]) },
		"too short":      change(func(v []float32) []float32 { return v[1:] }),
		"not a number":   change(func(v []float32) []float32 { v[0] = float32(math.NaN()); return v }),
		"infinite":       change(func(v []float32) []float32 { v[0] = float32(math.Inf(-1)); return v }),
		"of no length":   change(func(v []float32) []float32 { clear(v); return v }),
		"none at all":    func([][]float32) [][]float32 { return nil },
		"empty, not nil": change(func([]float32) []float32 { return []float32{} }),
	} {
		err := (&memory.Indexer{Queue: s, Embedder: crooked{bend: bend}}).Drain(t.Context(), nil)
		if err == nil {
			t.Errorf("%s: they were taken", name)
		}
		if segments, err := s.Pending(t.Context(), 10); err != nil || len(segments) != 2 {
			t.Errorf("%s: %d segments wait, %v", name, len(segments), err)
		}
		if _, err := s.Nearest(t.Context(), in(general), s.engine.options.Space, unit(), 1); !errors.Is(err,
			memory.ErrNoVectors) {
			t.Errorf("%s: %v", name, err)
		}
	}
	drain(t, s)
	checkSound(t, s)
}

func unit() []float32 {
	v := make([]float32, memorytest.Embedder{}.Space().Dimensions)
	v[0] = 1
	return v
}
