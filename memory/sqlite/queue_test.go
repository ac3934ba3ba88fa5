package sqlite

import (
	"context"
	"errors"
	"math"
	"slices"
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

// Changes between reading the file and completing the index are in it.
func TestVectorsThatChangeAfterTheyAreRead(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	apply(t, s, posted(general, 1, "apples"), posted(general, 1000, "bananas"))
	drain(t, s)
	loaded, err := s.engine.index(t.Context(), 1, s.engine.options.Space)
	if err != nil || len(loaded.table.segments) != 2 {
		t.Fatalf("%+v, %v", loaded, err)
	}
	gone, stays := loaded.table.segments[0], loaded.table.segments[1]
	later := storedVector{segment: stays + 100, channel: numbersOf(t, s, in(general))[0],
		sketch: loaded.table.sketcher.sketch(quantise(unit()))}
	old, again := later, later
	old.segment, again.segment = stays+200, gone
	x := &index{guild: 1, space: s.engine.options.Space}
	for _, c := range []vectorChange{
		{version: loaded.version, put: []storedVector{old}}, // which the file had, and not for long
		{version: loaded.version + 1, put: []storedVector{later, again}},
		{version: loaded.version + 2, gone: []int64{gone}},
	} {
		if !x.apply(c) {
			t.Error("what is being loaded is given up")
		}
	}
	must(t, x.fill(t.Context(), s.engine))
	if got := slices.Sorted(slices.Values(x.table.segments)); !slices.Equal(got,
		[]int64{stays, later.segment}) || x.count.Load() != 2 {
		t.Errorf("found %v", got)
	}
	if x.apply(vectorChange{version: x.version + 2}) {
		t.Error("a change that comes after one that is missing leaves no trace")
	}
}

// Quantising keeps directions: a vector is nearest to itself, whatever its length.
func TestQuantise(t *testing.T) {
	t.Parallel()
	for _, v := range [][]float32{{1, 0}, {0.6, -0.8}, {1e-5, 2e-5}, {3e18, -1e18}} {
		back := dequantise(quantise(v))
		var length, dot, own float64
		for i := range v {
			length += float64(back[i]) * float64(back[i])
			dot += float64(back[i]) * float64(v[i])
			own += float64(v[i]) * float64(v[i])
		}
		if cosine := dot / math.Sqrt(own*length); math.Abs(length-1) > 1e-6 || cosine < 0.9999 {
			t.Errorf("%v came back as %v", v, back)
		}
	}
}
