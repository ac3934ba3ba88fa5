// Package llmtest is a fake model server on the loopback interface that speaks OpenAI's protocol: chat,
// streamed and whole, tool calls in pieces, the list of models, and embeddings that really rank. It replies by a
// script, and fails as real servers do: cut streams, errors in mid-answer, limits, pages of HTML, too few vectors,
// vectors that aren't numbers. It never sleeps: it holds a slow reply until the test releases it. A request that a
// real server would refuse gets its 400 and fails the test. So does one whose tools, calls and outcomes break the
// protocol.
package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// Option changes how a Server is set up.
type Option func(*Server)

// Key makes the server refuse, with 401, requests that don't bear the key.
func Key(key string) Option { return func(s *Server) { s.key = key } }

// Models returns the models that the server lists and knows; others get 404. Without it, it knows any model
// and lists "test-model".
func Models(names ...string) Option { return func(s *Server) { s.models = names } }

// NoModelList makes GET /models answer 404, as some servers do.
func NoModelList() Option { return func(s *Server) { s.noList = true } }

// Also makes the server answer any request to a path with a body, as it is; not if that is empty.
func Also(path, body string) Option {
	return func(s *Server) {
		if body != "" {
			s.also[path] = body
		}
	}
}

// Dimensions returns the length of the vectors where a request doesn't ask for one. Without it, 64.
func Dimensions(n int) Option { return func(s *Server) { s.dimensions = n } }

// Progress has f called after each request is received, and again once it is known what a chat call is
// replied: tests wait by it.
func Progress(f func()) Option { return func(s *Server) { s.progress = f } }

// Server is a fake model server. Its methods may be called while it serves.
type Server struct {
	tb         testing.TB
	http       *httptest.Server
	key        string
	models     []string
	noList     bool
	dimensions int
	progress   func()
	also       map[string]string // bodies by paths

	mu       sync.Mutex
	queue    []Reply
	answer   func(Request) Reply
	hear     func(ogg []byte) (text string, status int)
	faults   []Fault
	requests []Request
	closing  chan struct{}
}

// New starts a server that stops, letting go of whatever is held, when the test ends.
func New(tb testing.TB, options ...Option) *Server {
	tb.Helper()
	s := &Server{tb: tb, dimensions: 64, progress: func() {}, closing: make(chan struct{}), also: map[string]string{}}
	for _, o := range options {
		o(s)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	mux.HandleFunc("POST /v1/embeddings", s.embeddings)
	mux.HandleFunc("POST /v1/audio/transcriptions", s.transcribe)
	mux.HandleFunc("GET /v1/models", s.list)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, http.StatusNotFound, "unknown_url", "Invalid URL ("+r.Method+" "+r.URL.Path+")")
	})
	s.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, is := s.also[r.URL.Path]
		if !is {
			mux.ServeHTTP(w, r)
			return
		}
		fmt.Fprint(w, body)
	}))
	tb.Cleanup(func() {
		close(s.closing)
		s.http.Close()
	})
	return s
}

// URL returns the base URL to configure, ending in /v1.
func (s *Server) URL() string { return s.http.URL + "/v1" }

// Queue appends replies for the chat calls to come, in order.
func (s *Server) Queue(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, replies...)
}

// Answer sets what replies to chat calls when the queue is empty. It may be called from several goroutines.
func (s *Server) Answer(f func(Request) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

// QueueEmbeddings appends faults for the embedding calls to come, in order. When none are left, all is well.
func (s *Server) QueueEmbeddings(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Requests returns those for answers, vectors and the like that were received so far, the refused ones among them.
func (s *Server) Requests() []Request {
	return slices.DeleteFunc(s.All(), func(r Request) bool { return r.Method != http.MethodPost })
}

// All returns all requests received so far, also those for the list of models.
func (s *Server) All() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// accept reads and records a request, and refuses it if a real server would.
func (s *Server) accept(w http.ResponseWriter, r *http.Request) (Request, bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return Request{}, false
	}
	req := Request{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
	if r.Method == http.MethodPost {
		err = json.Unmarshal(body, &req)
	}
	s.mu.Lock()
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	s.progress()
	if s.key != "" && r.Header.Get("Authorization") != "Bearer "+s.key {
		writeError(w, http.StatusUnauthorized, "invalid_api_key",
			"Incorrect API key provided: "+r.Header.Get("Authorization"))
		return req, false
	}
	if err == nil {
		err = req.check()
	}
	if err != nil {
		s.tb.Errorf("llmtest: %s %s: %v", r.Method, r.URL.Path, err)
		writeError(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return req, false
	}
	if r.Method == http.MethodPost && s.models != nil && !slices.Contains(s.models, req.Model) {
		writeError(w, http.StatusNotFound, "model_not_found", fmt.Sprintf("The model `%s` does not exist", req.Model))
		return req, false
	}
	return req, true
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	if _, ok := s.accept(w, r); !ok {
		return
	}
	if s.noList {
		writeError(w, http.StatusNotFound, "unknown_url", "Invalid URL (GET /v1/models)")
		return
	}
	type model struct {
		ID     string `json:"id"`
		Object string `json:"object"`
	}
	data := []model{}
	for _, name := range s.models {
		data = append(data, model{name, "model"})
	}
	if s.models == nil {
		data = append(data, model{"test-model", "model"})
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": data})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // a client that is gone needs no answer
}

func writeError(w http.ResponseWriter, status int, code, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": message, "type": code, "code": code}})
}
