package embed

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"hark/internal/endpoint"
	"hark/memory"
)

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
		var rests *endpoint.Resting
		if _, err = b.Embed(t.Context(), memory.ForStorage, []string{"x"}); !errors.As(err, &rests) ||
			b.Health().Failed == nil {
			t.Errorf("%v, %+v", err, b.Health())
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
			if _, err := b.Embed(t.Context(), memory.ForStorage, []string{"x"}); !errors.Is(err, error(errTooLong)) {
				t.Fatal(err)
			}
		}
	})
}
