package llamatest

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"hark/internal/wait"
)

// front stands between Hark and a server. It has the model write the scripts that a test chooses, and records what is
// asked.
type front struct {
	http *httptest.Server

	mu       sync.Mutex
	model    *Model
	choose   func(Request) string
	requests []Request
	changed  wait.Signal
}

// Request is one for a chat, embeddings or ranks, and what the server did with it.
type Request struct {
	Path   string
	Body   []byte // as Hark sent it
	Status int    // 0 while there is no answer
	Begun  bool   // a part of the answer's body was passed on
	Ended  bool   // all of it was, or it broke off
}

func newFront(upstream http.RoundTripper) *front {
	f := &front{}
	proxy := &httputil.ReverseProxy{
		Transport:      upstream,
		FlushInterval:  -1,
		Rewrite:        f.rewrite,
		ModifyResponse: f.answered,
		ErrorLog:       log.New(io.Discard, "", 0),
		// A server that isn't there sends nothing.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	f.http = httptest.NewServer(proxy)
	return f
}

func (f *front) close() {
	f.http.CloseClientConnections()
	f.http.Close()
}

// URL returns the base URL to configure, ending in /v1.
func (f *front) URL() string { return f.http.URL + "/v1" }

// Play has the server write the script of a model that choose names for a request. Its model must be that one.
func (f *front) Play(m *Model, choose func(Request) string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.model = m
	f.choose = choose
}

// Requests returns those for a chat, embeddings or ranks, in the order in which they came.
func (f *front) Requests() []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

// Until returns once the requests are as a test wants them.
func (f *front) Until(tb testing.TB, what string, ok func([]Request) bool) {
	tb.Helper()
	f.changed.Until(tb, what, func() bool { return ok(f.Requests()) }, nil)
}

func (f *front) change(number int, how func(*Request)) {
	f.mu.Lock()
	how(&f.requests[number])
	f.mu.Unlock()
	f.changed.Send()
}

// numberHeader tells the answer's side which request is answered. The server ignores it.
const numberHeader = "X-Request-Number"

func (f *front) rewrite(p *httputil.ProxyRequest) {
	p.Out.URL.Scheme = "http"
	p.Out.URL.Host = "llama"
	if p.In.Method != http.MethodPost {
		return
	}
	body, err := io.ReadAll(p.In.Body)
	if err != nil {
		return // whoever asked is gone
	}
	r := Request{Path: p.In.URL.Path, Body: body}
	body = f.played(r)
	p.Out.Body = io.NopCloser(bytes.NewReader(body))
	p.Out.ContentLength = int64(len(body))
	p.Out.Header.Set(numberHeader, strconv.Itoa(f.add(r)))
	f.changed.Send()
}

// add records a request, and returns its number.
func (f *front) add(r Request) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, r)
	return len(f.requests) - 1
}

// played returns a request's body with the choice of the script.
func (f *front) played(r Request) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.choose == nil {
		return r.Body
	}
	var body map[string]json.RawMessage
	err := json.Unmarshal(r.Body, &body)
	if err != nil {
		return r.Body
	}
	bias, err := json.Marshal(f.model.Bias(f.choose(r)))
	if err != nil {
		return r.Body
	}
	body["logit_bias"] = bias
	changed, err := json.Marshal(body)
	if err != nil {
		return r.Body
	}
	return changed
}

func (f *front) answered(resp *http.Response) error {
	number, err := strconv.Atoi(resp.Request.Header.Get(numberHeader))
	if err != nil {
		return nil // it is no request that is recorded
	}
	f.change(number, func(r *Request) { r.Status = resp.StatusCode })
	resp.Body = &watched{
		ReadCloser: resp.Body,
		begun:      func() { f.change(number, func(r *Request) { r.Begun = true }) },
		ended:      func() { f.change(number, func(r *Request) { r.Ended = true }) },
	}
	return nil
}

// watched is a body that tells when its first bytes are read and when it is closed.
type watched struct {
	io.ReadCloser
	begun func()
	ended func()
	first sync.Once
	last  sync.Once
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if n > 0 {
		w.first.Do(w.begun)
	}
	return n, err
}

func (w *watched) Close() error {
	err := w.ReadCloser.Close()
	w.last.Do(w.ended)
	return err
}

// body is what tests look at in a chat request.
type body struct {
	Messages []struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	} `json:"messages"`
	Tools []any `json:"tools"`
}

func (r Request) read() body {
	var b body
	_ = json.Unmarshal(r.Body, &b) // what isn't read is missing, and a test says so
	return b
}

// Roles returns the first letter of each message's role, such as "suat".
func (r Request) Roles() string {
	var roles strings.Builder
	for _, m := range r.read().Messages {
		if m.Role != "" {
			roles.WriteByte(m.Role[0])
		}
	}
	return roles.String()
}

// OffersTools reports whether the model may call tools.
func (r Request) OffersTools() bool { return len(r.read().Tools) > 0 }

// Prompt returns the text of all messages.
func (r Request) Prompt() string {
	var prompt strings.Builder
	for _, m := range r.read().Messages {
		text, _ := m.Content.(string)
		prompt.WriteString(text + "\n")
	}
	return prompt.String()
}
