package rerank

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hark/internal/golden"
)

const secret = "rk-very-secret"

// request is what a server is asked, in whichever form.
type request struct {
	Model            string
	Query            string
	Documents, Texts []string
	TopN             int `json:"top_n"`
	Truncate         bool
}

// server is a fake reranker that keeps what it is asked.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []request
	raw      []map[string]any
	keys     []string
}

func serve(t *testing.T, answer func(w http.ResponseWriter, r request)) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var raw map[string]any
		if r.URL.Path != "/v1/rerank" || r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&raw) != nil {
			t.Errorf("asked %s %s", r.Method, r.URL.Path)
		}
		data, _ := json.Marshal(raw)
		var asked request
		_ = json.Unmarshal(data, &asked)
		s.mu.Lock()
		s.requests, s.raw, s.keys = append(s.requests, asked), append(s.raw, raw),
			append(s.keys, r.Header.Get("Authorization"))
		s.mu.Unlock()
		answer(w, asked)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) reranker(t *testing.T, change func(*Config)) *Reranker {
	t.Helper()
	c := Config{URL: s.URL + "/v1/rerank", APIKey: secret, Model: "bge", Timeout: time.Minute}
	if change != nil {
		change(&c)
	}
	r, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// length is the score that the fakes give, so that every text's score tells which it is.
func length(text string) float64 { return float64(len(text)) - 3.5 }

// results are those of llama.cpp, Jina and Cohere, best first.
func results(texts []string) string {
	order := make([]int, len(texts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return len(texts[b]) - len(texts[a]) })
	var all []string
	for _, i := range order {
		all = append(all, fmt.Sprintf(`{"index":%d,"relevance_score":%g,"document":{"text":"x"}}`, i, length(texts[i])))
	}
	return `{"model":"bge","object":"list","usage":{"total_tokens":9},"results":[` + strings.Join(all, ",") + `]}`
}

// cohere takes "documents" and no field that it doesn't know, as Cohere's API does.
func cohere(t *testing.T) *server {
	var s *server
	s = serve(t, func(w http.ResponseWriter, r request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for field := range s.raw[len(s.raw)-1] {
			if !slices.Contains([]string{"model", "query", "documents", "top_n", "max_tokens_per_doc",
				"priority"}, field) {
				w.WriteHeader(http.StatusUnprocessableEntity)
				fmt.Fprintf(w, `{"message":"unknown field: parameter '%s' is not a valid field"}`, field)
				return
			}
		}
		fmt.Fprint(w, results(r.Documents))
	})
	return s
}

// tei takes "texts", at most 32 of them, as Text Embeddings Inference does.
func tei(t *testing.T) *server {
	return serve(t, func(w http.ResponseWriter, r request) {
		switch {
		case r.Texts == nil:
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1 column 83")
		case len(r.Texts) > 32:
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprintf(w, `{"error":"batch size %d > maximum allowed batch size 32","error_type":"Validation"}`, len(r.Texts))
		case !r.Truncate && len(slices.MaxFunc(r.Texts, func(a, b string) int { return len(a) - len(b) })) > 50:
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		default:
			var all []string
			for i, text := range r.Texts {
				all = append([]string{fmt.Sprintf(`{"index":%d,"score":%g}`, i, length(text))}, all...)
			}
			fmt.Fprint(w, " ["+strings.Join(all, ",")+"]")
		}
	})
}

func some(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = strings.Repeat("x", (i*7)%n)
	}
	return texts
}

func TestBothForms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server      *server
		first, then int // requests
		batches     bool
	}{
		"documents": {server: cohere(t), first: 1, then: 1},
		"texts":     {server: tei(t), first: 3, then: 2, batches: true},
	} {
		r, texts := c.server.reranker(t, nil), some(60)
		for _, asked := range []int{c.first, c.then} {
			before := len(c.server.requests)
			scores, err := r.Rerank(t.Context(), "the question", texts)
			if err != nil || len(scores) != len(texts) {
				t.Fatalf("%s: %v, %v", name, scores, err)
			}
			for i, score := range scores {
				if score != length(texts[i]) {
					t.Errorf("%s: text %d has %g, want %g", name, i, score, length(texts[i]))
				}
			}
			if n := len(c.server.requests) - before; n != asked {
				t.Errorf("%s: asked %d times, want %d", name, n, asked)
			}
		}
		last := c.server.requests[len(c.server.requests)-1]
		if last.Query != "the question" || !c.batches && (last.TopN != 60 || last.Model != "bge") ||
			c.batches && !slices.Equal(last.Texts, texts[32:]) {
			t.Errorf("%s: asked %+v", name, last)
		}
		if got := c.server.keys[0]; got != "Bearer "+secret {
			t.Errorf("%s: the key came as %q", name, got)
		}
	}
}

// A server that took one form and takes the other now is asked anew.
func TestAnotherServerTakesThePlace(t *testing.T) {
	t.Parallel()
	servers := []*server{tei(t), cohere(t)}
	var place atomic.Int32
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		servers[place.Load()].Config.Handler.ServeHTTP(w, r)
	}))
	defer front.Close()
	r := servers[0].reranker(t, func(c *Config) { c.URL = front.URL + "/v1/rerank" })
	if _, err := r.Rerank(t.Context(), "q", some(3)); err != nil {
		t.Fatal(err)
	}
	place.Store(1)
	if _, err := r.Rerank(t.Context(), "q", some(3)); err == nil {
		t.Error("the other server took the wrong form")
	}
	for _, at := range []int32{1, 1, 0} {
		place.Store(at)
		if scores, err := r.Rerank(t.Context(), "q", some(3)); err != nil || len(scores) != 3 {
			t.Errorf("%v, %v", scores, err)
		}
	}
}

func TestWithoutModelOrKeyNoneIsSent(t *testing.T) {
	t.Parallel()
	s := cohere(t)
	r := s.reranker(t, func(c *Config) { c.Model, c.APIKey = "", "" })
	if _, err := r.Rerank(t.Context(), "q", []string{"a"}); err != nil {
		t.Fatal(err)
	}
	if _, named := s.raw[0]["model"]; named || s.keys[0] != "" {
		t.Errorf("sent %v with %q", s.raw[0], s.keys[0])
	}
	if scores, err := r.Rerank(t.Context(), "q", nil); err != nil || len(scores) != 0 || len(s.requests) != 1 {
		t.Errorf("of no texts: %v, %v", scores, err)
	}
	if got, want := r.Name(), "the rerank server at "+s.URL+"/v1/rerank"; got != want {
		t.Errorf("it is called %q, want %q", got, want)
	}
	if got := s.reranker(t, nil).Name(); got != "bge" {
		t.Errorf("it is called %q", got)
	}
}

func TestHostileServers(t *testing.T) {
	t.Parallel()
	var told strings.Builder
	for _, c := range []struct {
		name   string
		status int
		body   string
	}{
		{"too few", 200, `{"results":[{"index":0,"relevance_score":1}]}`},
		{"too many", 200, `[{"index":0,"score":1},{"index":1,"score":1},{"index":1,"score":1}]`},
		{"none", 200, `{}`},
		{"null", 200, `null`},
		{"twice", 200, `[{"index":1,"score":1},{"index":1,"score":2}]`},
		{"below the range", 200, `[{"index":-1,"score":1},{"index":1,"score":2}]`},
		{"above the range", 200, `[{"index":2,"score":1},{"index":1,"score":2}]`},
		{"no index", 200, `[{"score":1},{"index":1,"score":2}]`},
		{"half an index", 200, `[{"index":0.5,"score":1},{"index":1,"score":2}]`},
		{"no score", 200, `{"results":[{"index":0},{"index":1,"relevance_score":2}]}`},
		{"NaN as null", 200, `{"results":[{"index":0,"relevance_score":null},{"index":1,"relevance_score":2}]}`},
		{"NaN", 200, `[{"index":0,"score":NaN},{"index":1,"score":2}]`},
		{"infinite", 200, `[{"index":0,"score":1e999},{"index":1,"score":2}]`},
		{"a page", 200, `<html>private one</html>`},
		{"nothing", 200, ``},
		{"words", 200, `["private one","private two"]`},
		{"endless", 200, "[" + strings.Repeat(" ", maxAnswer) + `{"index":0,"score":1},{"index":1,"score":2}]`},
		{"broken", 500, "private one"},
		{"nowhere", 404, "private one"},
		{"wrong key", 401, "Incorrect key: " + secret},
		{"refused", 400, "private one"},
		{"refused with key", 422, secret},
		{"neither form", 422, "texts? documents?"},
		{"elsewhere", 307, ""},
		{"loading", 503, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`},
		{"for chats", 501, "This server does not support reranking"},
	} {
		s := serve(t, func(w http.ResponseWriter, _ request) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		})
		scores, err := s.reranker(t, nil).Rerank(t.Context(), "private question",
			[]string{"private one", "private two"})
		if scores != nil || err == nil {
			t.Fatalf("%s: %v, %v", c.name, scores, err)
		} else if strings.Contains(err.Error(), "private") || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error tells too much: %v", c.name, err)
		}
		if len(s.requests) > 2 {
			t.Errorf("%s: asked %d times", c.name, len(s.requests))
		}
		fmt.Fprintf(&told, "%s: %s\n", c.name, strings.ReplaceAll(err.Error(), s.URL, "http://server"))
	}
	golden.Seen(t, told.String())
}

func TestSlowServerAndWhoGivesUp(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	s := serve(t, func(http.ResponseWriter, request) { <-hold })
	t.Cleanup(func() { close(hold) }) // before the server waits for its handlers
	r := s.reranker(t, func(c *Config) { c.Timeout = time.Millisecond })
	_, err := r.Rerank(t.Context(), "private", []string{"private"})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "too slow") ||
		!strings.Contains(err.Error(), "it has 1ms (search.rerank_timeout)") ||
		strings.Contains(err.Error(), "private") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = r.Rerank(ctx, "q", []string{"x"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestServerThatFailsIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ request) { w.WriteHeader(http.StatusBadGateway) })
	r := s.reranker(t, nil)
	for range 10 {
		if _, err := r.Rerank(t.Context(), "q", []string{"x"}); err == nil {
			t.Fatal("no error")
		}
	}
	_, err := r.Rerank(t.Context(), "q", []string{"x"})
	var wait interface{ RetryAfter() time.Duration }
	if len(s.requests) != 3 || !errors.As(err, &wait) || wait.RetryAfter() <= 0 {
		t.Errorf("asked %d times, then %v", len(s.requests), err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"results":[{"index":1,"relevance_score":2},{"index":0,"relevance_score":-3e300}]}`)
	f.Add(`[{"index":1,"score":0.5},{"index":0,"score":1e999}]`)
	f.Add(` [{"index":1,"score":0.5},{"index":0,"score":-0}] `)
	f.Add(`[null,null]`)
	r, err := New(Config{URL: "http://localhost/rerank"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		scores, err := r.parse([]byte(body), 2)
		if (err == nil) != (len(scores) == 2) {
			t.Fatalf("%v, %v", scores, err)
		}
		for _, s := range scores {
			if math.IsNaN(s) || math.IsInf(s, 0) {
				t.Fatalf("score %v", s)
			}
		}
	})
}
