package embed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hark/internal/golden"
	"hark/internal/llmtest"
	"hark/memory"
)

const secret = "sk-very-secret"

// newTestEndpoint embeds with s, whose vectors have 64 numbers.
func newTestEndpoint(t *testing.T, s *llmtest.Server, change func(*EndpointConfig)) *Endpoint {
	t.Helper()
	c := EndpointConfig{BaseURL: s.URL(), APIKey: secret, Model: "nomic", Known: 64}
	if change != nil {
		change(&c)
	}
	e, err := NewEndpoint(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestEndpoint(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Key(secret))
	e := newTestEndpoint(t, s, func(c *EndpointConfig) { c.Batch = 2 })
	texts := []string{"", "the release party is on Friday", " \n\t", "when is the release party?",
		"cats sleep all day", "\u3000"}
	s.QueueEmbeddings(llmtest.Shuffled)
	vectors, err := e.Embed(t.Context(), memory.ForStorage, texts)
	if err != nil || len(vectors) != len(texts) {
		t.Fatalf("%d vectors, %v", len(vectors), err)
	}
	for i, v := range vectors {
		if blank := strings.TrimSpace(texts[i]) == ""; blank != (v == nil) {
			t.Errorf("the vector of %q is %v", texts[i], v)
		} else if !blank && (len(v) != 64 || math.Abs(dot(v, v)-1) > 1e-5) {
			t.Errorf("the vector of %q has %d numbers and length² %g", texts[i], len(v), dot(v, v))
		}
	}
	if like, unlike := dot(vectors[1], vectors[3]), dot(vectors[1], vectors[4]); like < unlike+0.2 {
		t.Errorf("like texts %g, unlike ones %g", like, unlike)
	}
	requests := s.Requests()
	if len(requests) != 2 || len(requests[0].Input) != 2 || len(requests[1].Input) != 1 || requests[0].Dimensions != 0 {
		t.Errorf("asked %d times: %v", len(requests), requests)
	}
	if none, err := e.Embed(t.Context(), memory.ForSearch, []string{"", " "}); err != nil || none[0] != nil ||
		none[1] != nil {
		t.Errorf("blank texts: %v, %v", none, err)
	}
	if none, err := e.Embed(t.Context(), memory.ForSearch, nil); err != nil || len(none) != 0 {
		t.Errorf("no texts: %v, %v", none, err)
	}
	if n := len(s.Requests()); n != 2 {
		t.Errorf("%d requests after blank texts", n)
	}
}

func TestEndpointPrefixes(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	e := newTestEndpoint(t, s, func(c *EndpointConfig) {
		c.Prefixes = Prefixes{"query: ", "passage: "}
		c.Dimensions = 32
	})
	if want := (memory.Space{Name: `nomic "passage: "`, Dimensions: 32}); e.Space() != want {
		t.Errorf("space %v; want %v", e.Space(), want)
	}
	for purpose, want := range map[memory.Purpose]string{memory.ForStorage: "passage: hi",
		memory.ForSearch: "query: hi"} {
		vectors, err := e.Embed(t.Context(), purpose, []string{" hi "})
		if err != nil || len(vectors[0]) != 32 {
			t.Fatalf("%v, %v", vectors, err)
		}
		last := s.Requests()[len(s.Requests())-1]
		if last.Input[0] != want || last.Dimensions != 32 {
			t.Errorf("asked for %q in %d dimensions; want %q", last.Input[0], last.Dimensions, want)
		}
	}
}

func TestOpenEndpoint(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Dimensions(48))
	c := EndpointConfig{BaseURL: s.URL() + "/", Model: "m"}
	e, err := OpenEndpoint(t.Context(), c)
	if err != nil || e.Space() != (memory.Space{Name: "m", Dimensions: 48}) {
		t.Fatalf("%v, %v", e, err)
	}
	c.Dimensions = 16
	if e, err := OpenEndpoint(t.Context(), c); err != nil || e.Space().Dimensions != 16 {
		t.Errorf("%v, %v", e, err)
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests; want one, for the length that wasn't known", n)
	}
	s.QueueEmbeddings(llmtest.Overloaded)
	if _, err := OpenEndpoint(t.Context(), EndpointConfig{BaseURL: s.URL(), Model: "m"}); err == nil ||
		!strings.Contains(err.Error(), `ask embedding model "m" for a vector: `) {
		t.Error(err)
	}
}

func TestEndpointFaults(t *testing.T) {
	t.Parallel()
	var told strings.Builder
	for _, fault := range []llmtest.Fault{
		llmtest.TooFew, llmtest.TooMany, llmtest.WrongDimension, llmtest.NullNumber, llmtest.HugeNumber, llmtest.ZeroVector,
		llmtest.SameIndex, llmtest.NoData, llmtest.HTMLPage, llmtest.Overloaded, llmtest.Limited, llmtest.Dropped,
	} {
		s := llmtest.New(t)
		s.QueueEmbeddings(fault)
		vectors, err := newTestEndpoint(t, s, nil).Embed(t.Context(), memory.ForStorage,
			[]string{"private one", "private two"})
		if vectors != nil || err == nil {
			t.Fatalf("fault %d: %v, %v", fault, vectors, err)
		} else if strings.Contains(err.Error(), "private") || strings.Contains(err.Error(), secret) {
			t.Errorf("fault %d: the error tells too much: %v", fault, err)
		}
		said, network, _ := strings.Cut(strings.ReplaceAll(err.Error(), s.URL(), "http://server/v1"),
			" (embedding.base_url) ")
		if network != "" {
			said += " …"
		}
		fmt.Fprintln(&told, said)
	}
	golden.Seen(t, told.String())
}

// A server of llama.cpp that was started for chats alone is told of with the switch that it lacks.
func TestAServerThatIsStartedForSomethingElse(t *testing.T) {
	t.Parallel()
	s := newTight(t, func([]string) (int, string) {
		return http.StatusNotImplemented, "This server does not support embeddings"
	})
	_, err := s.endpoint(t, nil).Embed(t.Context(), memory.ForStorage, []string{"x"})
	golden.Seen(t, strings.ReplaceAll(fmt.Sprint(err), s.address, "http://server"))
}

func TestEndpointSlow(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	s.QueueEmbeddings(llmtest.Held, llmtest.Held)
	_, err := newTestEndpoint(t, s, func(c *EndpointConfig) {
		c.Timeout = time.Millisecond
	}).Embed(t.Context(), memory.ForStorage, []string{"x"})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "too slow") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = newTestEndpoint(t, s, nil).Embed(ctx, memory.ForStorage, []string{"x"}); !errors.Is(err,
		context.Canceled) || strings.Contains(err.Error(), "base_url") {
		t.Error(err)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(`{"data":[{"index":1,"embedding":[1,2]},{"index":0,"embedding":[-3e300,4e-300]}]}`)
	f.Add(`{"data":[{"index":-1,"embedding":[1,2]},{"index":2,"embedding":[1e999,null]}]}`)
	f.Add(`{"data":[{"embedding":"AAAA"},{"embedding":[0,0]}]}`)
	f.Add(`{"data":[{"embedding":[5e-324,5e-324]},{"embedding":[1.7e308,1.7e308]}]}`)
	f.Add(`<html>`)
	var body atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, body.Load().(string))
	}))
	f.Cleanup(server.Close)
	e, err := NewEndpoint(EndpointConfig{BaseURL: server.URL, Model: "m", Known: 2})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		body.Store(answer)
		vectors, err := e.Embed(t.Context(), memory.ForSearch, []string{"one", "two"})
		if (err == nil) != (len(vectors) == 2) {
			t.Fatalf("%v, %v", vectors, err)
		}
		for _, v := range vectors {
			if len(v) != 2 || !(math.Abs(dot(v, v)-1) < 1e-5) { // nor NaN
				t.Fatalf("vector %v", v)
			}
		}
	})
}
