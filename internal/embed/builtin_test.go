package embed

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hark/internal/endpoint"
	"hark/internal/text"
	"hark/memory"
)

func builtin(t testing.TB, texts ...string) [][]float32 {
	t.Helper()
	vectors, err := Builtin{}.Embed(t.Context(), memory.ForStorage, texts)
	if err != nil || len(vectors) != len(texts) {
		t.Fatalf("Embed gave %d vectors for %d texts and the error %v", len(vectors), len(texts), err)
	}
	return vectors
}

func TestBuiltinRanksWhatIsAboutTheSameFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ question, near, far string }{
		{"When is the deadline of the project?", "the project's deadline is on Friday", "we had pasta for dinner"},
		{"who likes painting", "I painted a sunrise last year", "the server is down again"},
		{"migrating the datbase", "database migration is planned for May", "the weather will be bad"},
		{"今天天气怎么样", "昨天的天气很好", "我喜欢吃苹果"},
		{"Gehaltsabrechnung", "die Gehaltsabrechnungen sind da", "der Zug ist spät"},
	} {
		v := builtin(t, c.question, c.near, c.far)
		if near, far := dot(v[0], v[1]), dot(v[0], v[2]); near <= far+0.05 {
			t.Errorf("%q: %.2f to %q, %.2f to %q", c.question, near, c.near, far, c.far)
		}
	}
}

func TestBuiltinIsDeterministicAndNormalised(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("many different words and the same words again, ", 100)
	a, b := builtin(t, "one", long, "", "?!"), builtin(t, "one", long, "", "?!")
	for i := range a {
		if !slices.Equal(a[i], b[i]) {
			t.Errorf("text %d gives two vectors", i)
		}
	}
	for i, v := range a[:2] {
		if len(v) != (Builtin{}).Space().Dimensions || math.Abs(dot(v, v)-1) > 1e-5 {
			t.Errorf("vector %d has %d dimensions and the length² %v", i, len(v), dot(v, v))
		}
	}
	if a[2] != nil || a[3] != nil {
		t.Error("a text without words has a vector")
	}
}

// The vectors in people's files must stay comparable: if this fails, Space's Version must grow.
func TestBuiltinVectorsStayAsTheyWere(t *testing.T) {
	t.Parallel()
	v := builtin(t, "The quick brown fox jumps over the lazy dog, 42 times.")[0]
	var sum float64
	for i, x := range v {
		sum += float64(x) * float64(i%7+1)
	}
	if was := -6.178517; math.Abs(sum-was) > 1e-4 {
		t.Errorf("the checksum is %.6f and was %.6f", sum, was)
	}
}

func FuzzBuiltin(f *testing.F) {
	for _, s := range []string{"", "a", "hello world", "今天", strings.Repeat("é", 3000), "\xff", "e\u0301\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v := builtin(t, s)[0]
		if v != nil && math.Abs(dot(v, v)-1) > 1e-4 {
			t.Errorf("length² of %q is %v", s, dot(v, v))
		}
	})
}

func BenchmarkBuiltin(b *testing.B) {
	s := strings.Repeat("I went to a support group yesterday and it was so powerful. ", 6)
	for b.Loop() {
		hashed(text.Terms(s), rarity)
	}
}

// moody is an embedder that does as told.
type moody struct{ answer func(context.Context) error }

func (*moody) Space() memory.Space { return memory.Space{Name: "moody", Dimensions: 1} }

func (m *moody) Embed(ctx context.Context, _ memory.Purpose, texts []string) ([][]float32, error) {
	return make([][]float32, len(texts)), m.answer(ctx)
}

// A question waits for a few seconds and no longer, and an embedder that fails is left alone; what is stored
// waits as long as the embedder itself does. See internal/endpoint for how a Breaker rests.
func TestBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &moody{answer: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		b := NewBreaker(m)
		var err error
		for !b.Resting() {
			began := time.Now()
			if _, err = b.Embed(t.Context(), memory.ForSearch, []string{"x"}); !errors.Is(err,
				context.DeadlineExceeded) || time.Since(began) != QuestionTimeout {
				t.Fatalf("after %v: %v", time.Since(began), err)
			}
		}
		_, err = b.Embed(t.Context(), memory.ForStorage, []string{"x"})
		rests, is := errors.AsType[*endpoint.Resting](err)
		if !is || b.Health().Failed == nil {
			t.Fatalf("%v, %+v", err, b.Health())
		}
		time.Sleep(rests.Left)
		m.answer = func(ctx context.Context) error {
			if _, limited := ctx.Deadline(); limited {
				t.Error("what is stored is given a time")
			}
			return nil
		}
		if _, err := b.Embed(t.Context(), memory.ForStorage, []string{"x"}); err != nil || b.Space() != m.Space() {
			t.Error(err)
		}
		for range 9 { // a text that the embedder refuses
			m.answer = func(context.Context) error { return errTooLong }
			if _, err := b.Embed(t.Context(), memory.ForStorage, []string{"x"}); !errors.Is(err, errTooLong) {
				t.Fatal(err)
			}
		}
	})
}
