package embed

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hark/internal/endpoint"
	"hark/internal/llmtest"
	"hark/memory"
)

// What is promised of rests, whatever endpoint.Breaker has them from.
const (
	tolerated   = 3
	firstRest   = 15 * time.Second
	longRest    = 5 * time.Minute
	longestWait = 24 * time.Hour
)

// moody is an embedder that does as told.
type moody struct {
	asked  atomic.Int64
	answer func(context.Context) error
}

func (*moody) Space() memory.Space { return memory.Space{Name: "moody", Dimensions: 1} }

func (m *moody) Embed(ctx context.Context, _ memory.Purpose, texts []string) ([][]float32, error) {
	m.asked.Add(1)
	if err := m.answer(ctx); err != nil {
		return nil, err
	}
	return make([][]float32, len(texts)), nil
}

var errDown = errors.New("down")

func down(context.Context) error      { return errDown }
func well(context.Context) error      { return nil }
func hangs(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// embedOne embeds a text and tells whether the embedder was asked.
func embedOne(t *testing.T, b *Breaker, p memory.Purpose) (asked bool, err error) {
	t.Helper()
	m := b.Embedder.(*moody)
	before := m.asked.Load()
	_, err = b.Embed(t.Context(), p, []string{"x"})
	return m.asked.Load() > before, err
}

// wantRest checks that the breaker leaves its embedder alone for just so long.
func wantRest(t *testing.T, b *Breaker, rest time.Duration) {
	t.Helper()
	for _, p := range []memory.Purpose{memory.ForSearch, memory.ForStorage} {
		asked, err := embedOne(t, b, p)
		var wait interface{ RetryAfter() time.Duration }
		if asked || !errors.As(err, &wait) || wait.RetryAfter() != rest || !strings.Contains(err.Error(), fmt.Sprint(rest)) {
			t.Fatalf("asked: %v, %v; want to be told to wait %v", asked, err, rest)
		}
	}
	time.Sleep(rest - time.Second)
	if asked, err := embedOne(t, b, memory.ForSearch); asked || err == nil {
		t.Fatalf("a second before the end of %v: asked %v, %v", rest, asked, err)
	}
	time.Sleep(time.Second)
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &moody{answer: down}
		b := NewBreaker(m)
		for range 2 { // a success in between begins the count anew
			m.answer = down
			for range tolerated - 1 {
				if asked, err := embedOne(t, b, memory.ForSearch); !asked || !errors.Is(err, errDown) {
					t.Fatal(asked, err)
				}
			}
			m.answer = well
			if asked, err := embedOne(t, b, memory.ForStorage); !asked || err != nil {
				t.Fatal(asked, err)
			}
		}
		m.answer = down
		for range tolerated {
			_, _ = embedOne(t, b, memory.ForStorage)
		}
		for _, rest := range []time.Duration{15, 30, 60, 120, 240, 300, 300} {
			wantRest(t, b, rest*time.Second)
			if asked, err := embedOne(t, b, memory.ForSearch); !asked || !errors.Is(err, errDown) {
				t.Fatalf("after %v: %v, %v", rest, asked, err)
			}
		}
		wantRest(t, b, longRest)
		m.answer = well
		for range 3 {
			if asked, err := embedOne(t, b, memory.ForSearch); !asked || err != nil {
				t.Fatalf("it is well again, and %v, %v", asked, err)
			}
		}
		m.answer = down
		for range tolerated {
			_, _ = embedOne(t, b, memory.ForSearch)
		}
		wantRest(t, b, firstRest)
		if b.Space() != m.Space() {
			t.Error("it has another space")
		}
	})
}

// A question waits for a few seconds and no longer; what is stored waits as long as the embedder itself does.
func TestBreakerOfOneThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &moody{answer: hangs}
		b := NewBreaker(m)
		for range tolerated {
			began := time.Now()
			if _, err := embedOne(t, b, memory.ForSearch); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != QuestionTimeout {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		}
		wantRest(t, b, firstRest)
		m.answer = func(ctx context.Context) error {
			if _, limited := ctx.Deadline(); limited {
				t.Error("what is stored is given a time")
			}
			return nil
		}
		if _, err := embedOne(t, b, memory.ForStorage); err != nil {
			t.Error(err)
		}
	})
}

// After a rest one call tries, and others don't wait for it.
func TestBreakerTriesOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &moody{answer: down}
		b := NewBreaker(m)
		for range tolerated {
			_, _ = embedOne(t, b, memory.ForSearch)
		}
		time.Sleep(firstRest)
		m.answer = hangs
		tried := make(chan error)
		go func() {
			_, err := b.Embed(t.Context(), memory.ForSearch, []string{"x"})
			tried <- err
		}()
		synctest.Wait()
		if asked, err := embedOne(t, b, memory.ForSearch); asked || err == nil {
			t.Errorf("beside the trial: %v, %v", asked, err)
		}
		if err := <-tried; !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		wantRest(t, b, 2*firstRest)
	})
}

// Who gives up says nothing of the embedder: neither that it failed nor that it is well.
func TestBreakerAndThoseWhoGiveUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &moody{answer: hangs}
		b := NewBreaker(m)
		giveUp := func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := b.Embed(ctx, memory.ForSearch, []string{"x"}); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
		for range 2 * tolerated {
			giveUp()
		}
		m.answer = down
		for range tolerated {
			if asked, _ := embedOne(t, b, memory.ForSearch); !asked {
				t.Fatal("it is left alone although it didn't fail")
			}
		}
		time.Sleep(firstRest)
		m.answer = hangs
		giveUp()
		m.answer = well
		if asked, err := embedOne(t, b, memory.ForSearch); !asked || err != nil {
			t.Errorf("after a trial that was given up: %v, %v", asked, err)
		}
	})
}

// Calls that fail together are one failure as to how long the rest is.
func TestBreakerOfMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := NewBreaker(&moody{answer: hangs})
		done := make(chan error)
		for range 20 {
			go func() {
				_, err := b.Embed(t.Context(), memory.ForSearch, []string{"x"})
				done <- err
			}()
		}
		for range 20 {
			if err := <-done; err == nil {
				t.Error("no error")
			}
		}
		wantRest(t, b, firstRest)
	})
}

// A server that says when to come again isn't asked before, and one that refuses a text isn't left alone.
func TestBreakerObeysTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &moody{}
		b := NewBreaker(m)
		m.answer = func(context.Context) error {
			return fmt.Errorf("embed: %w", &endpoint.Refusal{Err: errDown, Status: 429, After: 40 * time.Second})
		}
		if asked, err := embedOne(t, b, memory.ForStorage); !asked || !errors.Is(err, error(errDown)) && !strings.Contains(err.Error(), "down") {
			t.Fatal(asked, err)
		}
		wantRest(t, b, 40*time.Second)
		for _, err := range []error{&endpoint.Refusal{Err: errDown, Status: 400}, &endpoint.Refusal{Err: errDown, Status: 422}, errTooLong} {
			m.answer = func(context.Context) error { return err }
			for range 2 * tolerated {
				if asked, _ := embedOne(t, b, memory.ForStorage); !asked {
					t.Fatalf("%v: it is left alone", err)
				}
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
