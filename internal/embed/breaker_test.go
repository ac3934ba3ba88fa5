package embed

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hark/internal/endpoint"
	"hark/internal/llmtest"
	"hark/memory"
)

// longestWait is for how long a server is left alone at most, whatever it says.
const longestWait = 24 * time.Hour

// moody is an embedder that does as told.
type moody struct{ answer func(context.Context) error }

func (*moody) Space() memory.Space { return memory.Space{Name: "moody", Dimensions: 1} }

func (m *moody) Embed(ctx context.Context, _ memory.Purpose, texts []string) ([][]float32, error) {
	return make([][]float32, len(texts)), m.answer(ctx)
}

// A question waits for a few seconds and no longer, and an embedder that fails is left alone; what is stored waits as long as
// the embedder itself does. See internal/endpoint for how a Breaker rests.
func TestBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &moody{answer: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		b := NewBreaker(m)
		var err error
		for !b.Resting() {
			began := time.Now()
			if _, err = b.Embed(t.Context(), memory.ForSearch, []string{"x"}); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != QuestionTimeout {
				t.Fatalf("after %v: %v", time.Since(began), err)
			}
		}
		var rests *endpoint.Resting
		if _, err = b.Embed(t.Context(), memory.ForStorage, []string{"x"}); !errors.As(err, &rests) || b.Health().Failed == nil {
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

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	s.QueueEmbeddings(llmtest.Overloaded, llmtest.Limited)
	e := newTestEndpoint(t, s, nil)
	for range 2 {
		_, err := e.Embed(t.Context(), memory.ForStorage, []string{"private"})
		var wait interface{ RetryAfter() time.Duration }
		if !errors.As(err, &wait) || wait.RetryAfter() != 7*time.Second || strings.Contains(err.Error(), "private") {
			t.Errorf("got %v", err)
		}
	}
	var header string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", header)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	e, err := NewEndpoint(EndpointConfig{BaseURL: server.URL, Model: "m", Known: 3})
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]time.Duration{
		"": 0, "0": 0, "120": 2 * time.Minute, " 3 ": 3 * time.Second, "-5": 0, "soon": 0, "1.5": 0,
		"99999999999": longestWait, "999999999999999999999999": 0,
		time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat):     0,
		time.Now().Add(time.Hour).UTC().Format(http.TimeFormat):      time.Hour,
		time.Now().AddDate(2, 0, 0).UTC().Format(http.TimeFormat):    longestWait,
		time.Now().Add(time.Hour).Format("Monday, 02-Jan-06") + " x": 0,
	} {
		header = value
		_, err := e.Embed(t.Context(), memory.ForSearch, []string{"x"})
		var wait interface{ RetryAfter() time.Duration }
		if !errors.As(err, &wait) || wait.RetryAfter() > want || wait.RetryAfter() < want/2 {
			t.Errorf("%q: %v, want about %v", value, err, want)
		}
	}
}
