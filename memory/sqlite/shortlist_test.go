package sqlite

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hark/internal/embed"
	"hark/internal/text"
	"hark/memory"
	"hark/memory/sqlstore"
)

// emptyIndex is the index of guild 1, of vectors with so many dimensions.
func emptyIndex(t rapid.TB, dimensions int) *index {
	t.Helper()
	c, err := newCollection()
	must(t, err)
	return &index{guild: 1, space: memory.Space{Name: "test", Dimensions: dimensions}, collection: c,
		table: newTable(dimensions)}
}

func cosineOf(a, b []float32) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

// everything is a filter that excludes nothing of channel 1.
func everything() filter { return scopeFilter(memory.Scope{}, 1, []int64{1<<sqlstore.ChannelBits + 1}) }

// recall is how many of the 20 segments nearest to each question are found, of 1. One as near as the 20th
// counts as one.
func recall(t *testing.T, vectors, questions [][]float32) float64 {
	t.Helper()
	x := emptyIndex(t, len(vectors[0]))
	for i, v := range vectors {
		must(t, x.put(storedVector{segment: 1<<sqlstore.SegmentBits + int64(i),
			channel: 1<<sqlstore.ChannelBits + 1, steps: quantise(v)}))
	}
	if !x.table.isSketched() {
		t.Fatalf("%d segments have no sketches", len(vectors))
	}
	right := 0
	for _, q := range questions {
		exact := make([]float64, len(vectors))
		for i, r := range x.table.rows {
			exact[i] = cosineOf(q, r.vector)
		}
		slices.Sort(exact)
		found, err := x.nearest(t.Context(), q, everything(), 20)
		if err != nil || len(found) != 20 {
			t.Fatalf("%d found, %v", len(found), err)
		}
		for _, f := range found {
			if float64(f.Similarity) > exact[len(exact)-20]-1e-6 {
				right++
			}
		}
	}
	return float64(right) / float64(20*len(questions))
}

// manySegments is how many the tests of recall look among.
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
			texts[i] += sentence(r) + "\n"
		}
	}
	vectors, err := embed.Builtin{}.Embed(t.Context(), memory.ForStorage, texts)
	must(t, err)
	var questions [][]float32
	for range 50 {
		questions = append(questions, embed.Builtin{}.EmbedTerms(text.QueryTerms(sentence(r)),
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

// Whatever comes and goes, an index finds what a look at all of it finds, and its sketches are those of its rows.
func TestIndexFindsWhatAScanFinds(t *testing.T) {
	t.Parallel()
	const dimensions = 70 // which fill neither a word nor a power of two
	rapid.Check(t, func(t *rapid.T) {
		x := emptyIndex(t, dimensions)
		x.table.few = rapid.IntRange(3, 30).Draw(t, "few")
		scan := map[int64]storedVector{}
		channel := rapid.Int64Range(1<<sqlstore.ChannelBits, 1<<sqlstore.ChannelBits+3)
		when := rapid.Int64Range(0, 20)
		draw := func(what string) []byte {
			r := rand.New(rand.NewPCG(7, rapid.Uint64Range(0, 30).Draw(t, what)))
			v := make([]float32, dimensions)
			for i := range v {
				v[i] = float32(r.NormFloat64())
			}
			return quantise(v)
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				for range rapid.IntRange(1, 8).Draw(t, "how many") {
					v := storedVector{segment: 1<<sqlstore.SegmentBits + rapid.Int64Range(0, 60).Draw(t,
						"segment"), channel: channel.Draw(t, "channel"), steps: draw("vector")}
					v.first = memory.MessageID(when.Draw(t, "first"))
					v.last = v.first + memory.MessageID(when.Draw(t, "length"))
					scan[v.segment] = v
					must(t, x.put(v))
				}
			},
			"remove": func(t *rapid.T) {
				for range rapid.IntRange(1, 8).Draw(t, "how many") {
					segment := 1<<sqlstore.SegmentBits + rapid.Int64Range(0, 60).Draw(t, "segment")
					delete(scan, segment)
					x.remove(segment)
				}
			},
			"find": func(t *rapid.T) {
				nos := rapid.SliceOfDistinct(channel, func(no int64) int64 { return no }).Draw(t, "channels")
				f := scopeFilter(memory.Scope{}, 1, append(nos, 2<<sqlstore.ChannelBits))
				if rapid.Bool().Draw(t, "times?") {
					f.since = memory.MessageID(when.Draw(t, "since"))
					f.until = f.since + memory.MessageID(when.Draw(t, "until"))
				}
				question, limit := dequantise(draw("question")), rapid.IntRange(1, 70).Draw(t, "limit")
				var want []sqlstore.Near
				for _, v := range scan {
					if slices.Contains(nos, v.channel) && v.last >= f.since && v.first < f.until {
						want = append(want, sqlstore.Near{Segment: v.segment,
							Similarity: float32(cosineOf(question, dequantise(v.steps)))})
					}
				}
				slices.SortFunc(want, func(a, b sqlstore.Near) int { return cmp.Compare(b.Similarity, a.Similarity) })
				want = want[:min(limit, len(want))]
				got, err := x.nearest(bg, question, f, limit)
				if err != nil || len(got) != len(want) {
					t.Fatalf("found %d of %d, %v", len(got), len(want), err)
				}
				for i, n := range got { // of equals, any
					v, ok := scan[n.Segment]
					if difference := n.Similarity - want[i].Similarity; !ok ||
						!slices.Contains(nos, v.channel) || max(difference, -difference) > 1e-5 {
						t.Fatalf("found %v, want %v", got, want)
					}
				}
			},
			"": func(t *rapid.T) { checkTable(t, x, scan) },
		})
	})
}

// checkTable checks that an index holds what it was given, once each.
func checkTable(t *rapid.T, x *index, want map[int64]storedVector) {
	count := len(want)
	if x.collection.Count() != count || len(x.table.rows) != count || len(x.table.channels) != count ||
		len(x.table.at) != count || x.count.Load() != int64(count) {
		t.Fatalf("of %d there are %d documents, %d rows", count, x.collection.Count(), len(x.table.rows))
	}
	if sketched := x.table.isSketched(); count > x.table.few && !sketched || count <= x.table.few*9/10 && sketched {
		t.Fatalf("%d rows, sketched: %v", count, sketched)
	}
	for i, r := range x.table.rows {
		v := want[r.segment]
		if x.table.at[r.segment] != int32(i) || r.first != v.first || r.last != v.last ||
			!slices.Equal(r.vector, dequantise(v.steps)) ||
			int64(x.table.channels[i]) != v.channel-1<<sqlstore.ChannelBits {
			t.Fatalf("%+v is not %+v", r, v)
		}
		for k := range turns {
			if !x.table.isSketched() {
				continue
			}
			if fresh := appendSketch(nil, x.table.sketcher.turned(r.vector, k,
				nil)); !slices.Equal(x.table.sketch(k, int32(i)), fresh) {
				t.Fatalf("the sketch of %d is another's", r.segment)
			}
		}
	}
	if size := int64(count)*(perVector+4*int64(x.space.Dimensions)) +
		int64(8*(len(x.table.sketches[0])+len(x.table.sketches[1]))); x.size.Load() != size && count > 0 {
		t.Fatalf("%d rows take %d bytes, not %d", count, x.size.Load(), size)
	}
}

// What lies outside the scope takes nobody's place on the shortlist, though it is nearer; of equals the
// newest are on it.
func TestTheShortlistLiesInScope(t *testing.T) {
	t.Parallel()
	for _, few := range []int{100, 10_000} {
		theShortlistLiesInScope(t, few)
	}
}

func theShortlistLiesInScope(t *testing.T, few int) {
	t.Helper()
	const all = 3000
	x := emptyIndex(t, 64)
	x.table.few = few
	r := rand.New(rand.NewPCG(5, 6))
	question := make([]float32, 64)
	question[3] = 1
	for i := range all {
		v := storedVector{segment: 1<<sqlstore.SegmentBits + int64(i), channel: 1<<sqlstore.ChannelBits +
			int64(i%100), first: 1, last: 1}
		vector := slices.Clone(question)
		if i%100 == 7 { // these are far
			for n := range vector {
				vector[n] = float32(r.NormFloat64())
			}
		}
		v.steps = quantise(vector)
		must(t, x.put(v))
	}
	found, err := x.nearest(t.Context(), question,
		scopeFilter(memory.Scope{}, 1, []int64{1<<sqlstore.ChannelBits + 7}), 50)
	if err != nil || len(found) != all/100 {
		t.Errorf("found %d of %d, %v", len(found), all/100, err)
	}
	want := map[int64]bool{}
	for i := all - 1; len(want) < 10; i-- {
		if i%100 != 7 {
			want[1<<sqlstore.SegmentBits+int64(i)] = true
		}
	}
	every := filter{channels: slices.Repeat([]bool{true}, 100), since: minID, until: maxID}
	for range 3 {
		found, err = x.nearest(t.Context(), question, every, 10)
		got := map[int64]bool{}
		for _, f := range found {
			got[f.Segment] = true
		}
		if err != nil || !maps.Equal(got, want) {
			t.Fatalf("found %v, %v", got, err)
		}
	}
	if !x.table.isSketched() {
		return
	}
	if got := len(x.table.shortlist(x.table.allowed(every), question, 30)); got != 30*shortlistedEach {
		t.Errorf("%d are on the shortlist for 30", got)
	}
}
