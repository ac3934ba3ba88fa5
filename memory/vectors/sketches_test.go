package vectors

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hark/internal/embed"
	"hark/internal/text"
	"hark/memory"
	"hark/memory/memorytest"
)

// long says whether tests take their long form.
var long = os.Getenv("HARK_LONG") != ""

func must(t interface {
	Helper()
	Fatal(...any)
}, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// stored returns a vector as it is compared.
func stored(v []float32) []float32 {
	back := make([]float32, len(v))
	if err := unpackUnit(pack(quantise(v)), back); err != nil {
		panic(err)
	}
	return back
}

// row is a row with a vector.
func row(id int64, channel uint32, vector []float32) Row {
	steps, sketch := new(Encoder).Encode(vector)
	return Row{ID: id, Channel: channel, Steps: steps, Sketch: sketch}
}

// always is a scope that time doesn't restrict.
func always(guild int64, channels ...uint32) Scope {
	since, until := Always()
	return Scope{guild, channels, since, until}
}

func cosineOf(a, b []float32) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

// recall returns the share of the 20 segments nearest to each question that are on the shortlist. Ties with
// the 20th count.
func recall(t *testing.T, vectors, questions [][]float32) float64 {
	t.Helper()
	form := newSketches(len(vectors[0]))
	of := newTable(form)
	kept := make([][]float32, len(vectors)) // as they are compared
	for i, v := range vectors {
		must(t, of.put(row(int64(i), 1, v)))
		kept[i] = stored(v)
	}
	right := 0
	everything := always(1, 1)
	for _, q := range questions {
		exact := make([]float64, len(vectors))
		for i, v := range kept {
			exact[i] = cosineOf(q, v)
		}
		near := 0
		border := slices.Sorted(slices.Values(exact))[len(exact)-20] - 1e-6
		for _, i := range form.shortlist(of, of.allowed(&everything), q, 20) {
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
			return stored(other)
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

// Rows outside the scope take no place on the shortlist, even if nearer. Of equals, the newest are on it.
func TestTheShortlistLiesInScope(t *testing.T) {
	t.Parallel()
	const all = 60_000
	form := newSketches(64)
	of := newTable(form)
	r := rand.New(rand.NewPCG(5, 6))
	question := make([]float32, 64)
	question[3] = 1
	near := row(0, 0, question)
	for i := range int64(all) {
		one := near
		one.ID = i
		one.Channel = uint32(i % 100)
		if i%100 == 7 { // these are far
			far := make([]float32, 64)
			for n := range far {
				far[n] = float32(r.NormFloat64())
			}
			one.Sketch = row(i, 0, far).Sketch
		}
		must(t, of.put(one))
	}
	scope := always(1, 7)
	if found := form.shortlist(of, of.allowed(&scope), question, 100); len(found) != all/100 {
		t.Errorf("%d of %d are on the shortlist", len(found), all/100)
	}
	var channels []uint32
	for c := range uint32(100) {
		channels = append(channels, c)
	}
	every := always(1, channels...)
	found := form.shortlist(of, of.allowed(&every), question, 100)
	if len(found) != 100*shortlistedEach {
		t.Errorf("%d are on the shortlist for 100", len(found))
	}
	slices.Sort(found)
	for i := uint32(all - 1); len(found) > 0; i-- {
		if i%100 == 7 {
			continue
		}
		if last := found[len(found)-1]; last != i {
			t.Fatalf("%d is on the shortlist in the place of %d", last, i)
		}
		found = found[:len(found)-1]
	}
}

// unpack reverses pack, which takes no more bytes than a vector has numbers. It fails if some are missing, and panics
// whatever they are never.
func TestUnpack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "dimensions")
		v := rapid.SliceOfN(rapid.OneOf(rapid.Just[float32](0), rapid.Float32Range(-3, 3)), n, n).Draw(t, "vector")
		v[0] += 4 // not zero
		steps := quantise(v)
		packed := pack(steps)
		back := make([]float32, n)
		square, err := unpack(packed, back)
		want := 0
		for i, b := range steps {
			x := int(int8(b))
			want += x * x
			if back[i] != float32(x) {
				t.Errorf("number %d is %v, want %d", i, back[i], x)
			}
		}
		if err != nil || square != want || len(packed) > n {
			t.Errorf("%d bytes, the sum of squares is %d, %v; want %d", len(packed), square, err, want)
		}
		if _, err := unpack(packed[:len(packed)-1], make([]float32, n)); err == nil && len(packed) < n {
			t.Errorf("%v lacks a byte and is taken", packed)
		}
		_, _ = unpack(rapid.SliceOfN(rapid.Byte(), 0, 2*n).Draw(t, "damaged"), make([]float32, n))
	})
}

// Storing a vector keeps its direction, whatever its length.
func TestStepsKeepTheDirection(t *testing.T) {
	t.Parallel()
	for _, v := range [][]float32{{1, 0}, {0.6, -0.8}, {1e-5, 2e-5}, {3e18, -1e18}} {
		back := stored(v)
		if cosine := cosineOf(back, unit(v)); math.Abs(cosineOf(back, back)-1) > 1e-6 || cosine < 0.9999 {
			t.Errorf("%v came back as %v", v, back)
		}
	}
}

func TestCheckRefusesWhatIsNoVector(t *testing.T) {
	t.Parallel()
	steps, sketch := new(Encoder).Encode([]float32{1, 2, 3})
	must(t, Check(steps, sketch, 3))
	for what, err := range map[string]error{"a short vector": Check(steps[1:], sketch, 3),
		"a short sketch": Check(steps, sketch[1:], 3), "another number of dimensions": Check(steps, sketch, 70)} {
		if err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	for name, form := range map[string]form{"exact": newExact(3), "sketches": newSketches(3)} {
		of := newTable(form)
		if err := of.put(Row{ID: 1, Steps: steps[1:], Sketch: sketch[1:]}); err == nil || of.rows() > 0 {
			t.Errorf("%s: it is held, %v", name, err)
		}
		if err := of.put(Row{ID: 1, Steps: []byte{0, 0, 0}, Sketch: sketch}); err == nil && name == "exact" {
			t.Error("a vector of no length is held")
		}
	}
}
