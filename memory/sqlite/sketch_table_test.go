package sqlite

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hark/internal/embed"
	"hark/internal/text"
	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/sqlstore"
)

// dequantise approximately reverses quantise, with length 1.
func dequantise(steps []byte) []float32 {
	v := make([]float32, len(steps))
	var square float64
	for i, b := range steps {
		v[i] = float32(int8(b))
		square += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(square))
	}
	return v
}

// numbered is a segment of guild 1, in one of its channels, with a vector.
func numbered(t *sketchTable, segment, channel int64, vector []float32) storedVector {
	return storedVector{segment: 1<<sqlstore.SegmentBits + segment, channel: 1<<sqlstore.ChannelBits + channel,
		sketch: t.sketcher.sketch(quantise(vector))}
}

func cosineOf(a, b []float32) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

func everything() filter { return scopeFilter(memory.Scope{}, 1, []int64{1<<sqlstore.ChannelBits + 1}) }

// recall returns the share of the 20 segments nearest to each question that are on the shortlist. Ties with
// the 20th count.
func recall(t *testing.T, vectors, questions [][]float32) float64 {
	t.Helper()
	of := newTable(1, len(vectors[0]))
	kept := make([][]float32, len(vectors)) // as they are compared
	for i, v := range vectors {
		must(t, of.put(numbered(&of, int64(i), 1, v)))
		kept[i] = dequantise(quantise(v))
	}
	right := 0
	for _, q := range questions {
		exact := make([]float64, len(vectors))
		for i, v := range kept {
			exact[i] = cosineOf(q, v)
		}
		near := 0
		border := slices.Sorted(slices.Values(exact))[len(exact)-20] - 1e-6
		for _, i := range of.shortlist(of.allowed(everything()), q, 20) {
			if exact[i] > border {
				near++
			}
		}
		right += min(near, 20)
	}
	return float64(right) / float64(20*len(questions))
}

func manySegments() int {
	if long {
		return 80_000
	}
	return 12_000
}

// Neural models put texts on one subject close together.
func TestRecallAmongClusters(t *testing.T) {
	t.Parallel()
	all := []int{384}
	if long {
		all = append(all, 1024)
	}
	for _, dimensions := range all {
		r := rand.New(rand.NewPCG(1, uint64(dimensions)))
		near := func(v []float32, by float64) []float32 {
			other := make([]float32, dimensions)
			for i := range other {
				other[i] = float32(by * r.NormFloat64())
				if v != nil {
					other[i] += v[i]
				}
			}
			return dequantise(quantise(other))
		}
		var vectors, questions [][]float32
		for range manySegments() / 100 {
			centre := near(nil, 1)
			for range 100 {
				vectors = append(vectors, near(centre, 0.6/math.Sqrt(float64(dimensions))))
			}
			if len(questions) < 50 {
				questions = append(questions, near(centre, 0.6/math.Sqrt(float64(dimensions))))
			}
		}
		got := recall(t, vectors, questions)
		t.Logf("recall@20 among %d clustered vectors of %d dimensions: %.3f", len(vectors), dimensions, got)
		if got < 0.99 {
			t.Errorf("recall@20 is %.3f", got)
		}
	}
}

// The built-in embedder's vectors, of questions as a search weighs them and of whole segments.
func TestRecallAmongHashedText(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	texts := make([]string, manySegments())
	for i := range texts {
		for range 2 + r.IntN(7) {
			texts[i] += memorytest.Sentence(r) + "\n"
		}
	}
	vectors, err := embed.Builtin{}.Embed(t.Context(), memory.ForStorage, texts)
	must(t, err)
	var questions [][]float32
	for range 50 {
		questions = append(questions, embed.Builtin{}.EmbedTerms(text.QueryTerms(memorytest.Sentence(r)),
			func(string) float64 { return 1 }))
	}
	for what, questions := range map[string][][]float32{"questions": questions, "segments": vectors[:50]} {
		got := recall(t, vectors, questions)
		t.Logf("recall@20 of %s among %d segments of hashed text: %.3f", what, len(vectors), got)
		if got < 0.90 {
			t.Errorf("recall@20 of %s is %.3f", what, got)
		}
	}
}

// After any changes, a table has exactly its rows, with their sketches, and allows those in scope.
func TestTableHoldsWhatItWasGiven(t *testing.T) {
	t.Parallel()
	const dimensions = 70 // which fill neither a word nor a power of two
	rapid.Check(t, func(t *rapid.T) {
		of := newTable(1, dimensions)
		want := map[int64]storedVector{}
		channel, segment, when := rapid.Int64Range(0, 3), rapid.Int64Range(0, 60), rapid.Int64Range(0, 20)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				for range rapid.IntRange(1, 8).Draw(t, "how many") {
					r := rand.New(rand.NewPCG(7, rapid.Uint64Range(0, 30).Draw(t, "vector")))
					vector := make([]float32, dimensions)
					for i := range vector {
						vector[i] = float32(r.NormFloat64())
					}
					v := numbered(&of, segment.Draw(t, "segment"), channel.Draw(t, "channel"), vector)
					v.first = memory.MessageID(when.Draw(t, "first"))
					v.last = v.first + memory.MessageID(when.Draw(t, "length"))
					want[v.segment] = v
					must(t, of.put(v))
				}
			},
			"remove": func(t *rapid.T) {
				for range rapid.IntRange(1, 8).Draw(t, "how many") {
					segment := 1<<sqlstore.SegmentBits + segment.Draw(t, "segment")
					delete(want, segment)
					of.remove(segment)
				}
			},
			"find": func(t *rapid.T) {
				nos := rapid.SliceOfDistinct(channel, func(no int64) int64 { return no }).Draw(t, "channels")
				for i := range nos {
					nos[i] += 1 << sqlstore.ChannelBits
				}
				f := scopeFilter(memory.Scope{}, 1, append(nos, 2<<sqlstore.ChannelBits))
				if rapid.Bool().Draw(t, "times?") {
					f.since = memory.MessageID(when.Draw(t, "since"))
					f.until = f.since + memory.MessageID(when.Draw(t, "until"))
				}
				var found []int64
				for _, i := range of.allowed(f) {
					found = append(found, of.segments[i])
				}
				slices.Sort(found)
				var allowed []int64
				for segment, v := range want {
					if slices.Contains(nos, v.channel) && v.last >= f.since && v.first < f.until {
						allowed = append(allowed, segment)
					}
				}
				slices.Sort(allowed)
				if !slices.Equal(found, allowed) {
					t.Fatalf("found %v, want %v", found, allowed)
				}
			},
			"": func(t *rapid.T) { checkTable(t, &of, want) },
		})
	})
}

func checkTable(t *rapid.T, of *sketchTable, want map[int64]storedVector) {
	if len(of.segments) != len(want) || len(of.at) != len(want) {
		t.Fatalf("of %d there are %d rows", len(want), len(of.segments))
	}
	for i, segment := range of.segments {
		v := want[segment]
		var sketch []byte
		for k := range rotations {
			for _, word := range of.sketch(k, int32(i)) {
				sketch = binary.LittleEndian.AppendUint64(sketch, word)
			}
		}
		if of.at[segment] != int32(i) || of.firsts[i] != v.first || of.lasts[i] != v.last ||
			int64(of.channels[i]) != v.channel-1<<sqlstore.ChannelBits || !slices.Equal(sketch, v.sketch) {
			t.Fatalf("row %d is not %+v", i, v)
		}
	}
	for _, sketches := range of.sketches {
		for _, word := range sketches[len(sketches):cap(sketches)] {
			if word != 0 {
				t.Fatal("a sketch that was removed is in memory still")
			}
		}
	}
}

// Rows outside the scope take no place on the shortlist, even if nearer. Of equals, the newest are on it.
func TestTheShortlistLiesInScope(t *testing.T) {
	t.Parallel()
	const all = 60_000
	of := newTable(1, 64)
	r := rand.New(rand.NewPCG(5, 6))
	question := make([]float32, 64)
	question[3] = 1
	near := of.sketcher.sketch(quantise(question))
	for i := range int64(all) {
		v := storedVector{segment: i, channel: 1<<sqlstore.ChannelBits + i%100, sketch: near}
		if i%100 == 7 { // these are far
			far := make([]float32, 64)
			for n := range far {
				far[n] = float32(r.NormFloat64())
			}
			v.sketch = of.sketcher.sketch(quantise(far))
		}
		must(t, of.put(v))
	}
	scope := scopeFilter(memory.Scope{}, 1, []int64{1<<sqlstore.ChannelBits + 7})
	if found := of.shortlist(of.allowed(scope), question, 100); len(found) != all/100 {
		t.Errorf("%d of %d are on the shortlist", len(found), all/100)
	}
	every := filter{channels: slices.Repeat([]bool{true}, 100), since: minID, until: maxID}
	found := of.shortlist(of.allowed(every), question, 100)
	if len(found) != 100*shortlistedEach {
		t.Errorf("%d are on the shortlist for 100", len(found))
	}
	slices.Sort(found)
	for i := int32(all - 1); len(found) > 0; i-- {
		if i%100 == 7 {
			continue
		}
		if last := found[len(found)-1]; last != i {
			t.Fatalf("%d is on the shortlist in the place of %d", last, i)
		}
		found = found[:len(found)-1]
	}
}

// comparer works on a packed vector, which takes no more bytes than it has numbers. It fails if some are
// missing.
func TestComparer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "dimensions")
		vector := rapid.SliceOfN(rapid.OneOf(rapid.Just[float32](0), rapid.Float32Range(-3, 3)), n, n)
		a, b := vector.Draw(t, "a"), vector.Draw(t, "b")
		a[0], b[0] = a[0]+4, b[0]+4 // not zero
		packed := pack(quantise(b))
		near, err := comparer(a)(packed)
		if want := cosineOf(a, dequantise(quantise(b))) / math.Sqrt(cosineOf(a, a)); err != nil ||
			math.Abs(float64(near)-want) > 1e-5 || len(packed) > n {
			t.Errorf("%v in %d bytes, %v; want %v", near, len(packed), err, want)
		}
		if _, err := comparer(a)(packed[:len(packed)-1]); err == nil && len(packed) < n {
			t.Errorf("%v lacks a byte and compares", packed)
		}
		_, _ = comparer(a)(rapid.SliceOfN(rapid.Byte(), 0, 2*n).Draw(t, "damaged")) // doesn't panic
	})
}
