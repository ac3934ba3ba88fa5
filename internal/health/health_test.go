package health

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a server until the test ends, and sees that it stops cleanly.
func serve(t *testing.T, notReady func() error) string {
	t.Helper()
	s, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.NotReady = notReady
	s.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a_total 7\n") })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		if err := Check(context.Background(), s.Addr()); err == nil {
			t.Error("still served after Run returned")
		}
	})
	return s.Addr()
}

func get(t *testing.T, method, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode < 400 && response.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s may be cached", url)
	}
	return response.StatusCode, string(body)
}

func TestHealthAndReadiness(t *testing.T) {
	t.Parallel()
	var ready atomic.Bool
	base := "http://" + serve(t, func() error {
		if ready.Load() {
			return nil
		}
		return errors.New("Not connected.")
	})
	for _, c := range []struct {
		method, path string
		status       int
		body         string
	}{
		{"GET", "/healthz", 200, "ok\n"},
		{"HEAD", "/healthz", 200, ""},
		{"GET", "/readyz", 503, "Not connected.\n"},
		{"POST", "/healthz", 405, "Method Not Allowed\n"},
		{"GET", "/", 404, "404 page not found\n"},
		{"GET", "/metrics", 200, "a_total 7\n"},
	} {
		if status, body := get(t, c.method, base+c.path); status != c.status || body != c.body {
			t.Errorf("%s %s: %d %q; want %d %q", c.method, c.path, status, body, c.status, c.body)
		}
	}
	ready.Store(true)
	if status, body := get(t, "GET", base+"/readyz"); status != 200 || body != "ready\n" {
		t.Errorf("when ready: %d %q", status, body)
	}
}

func TestRunFinishesWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan struct{}), make(chan struct{})
	s, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.NotReady = func() error {
		close(asked)
		<-answer
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	done, body := make(chan error), make(chan string)
	go func() { done <- s.Run(ctx) }()
	go func() {
		_, b := get(t, "GET", "http://"+s.Addr()+"/readyz")
		body <- b
	}()
	<-asked
	cancel()
	close(answer)
	if got := <-body; got != "ready\n" {
		t.Errorf("the request under way got %q", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRunAfterItsEnd(t *testing.T) {
	t.Parallel()
	s, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ctx); err != nil {
		t.Errorf("with a context that is done: %v", err)
	}
	if s, err = Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	if err := s.listener.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "serve requests") {
		t.Errorf("with its address gone: %v", err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	address := serve(t, func() error { return errors.New("Not connected.") })
	if _, err := Listen(address); err == nil || !strings.Contains(err.Error(), "free address") {
		t.Errorf("on an address in use: %v", err)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	// Alive, though not ready; and to be found where a server on every address is.
	for _, a := range []string{address, "0.0.0.0:" + port, ":" + port} {
		if err := Check(t.Context(), a); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	}

	sick := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "" || r.URL.Path != "/healthz" {
			t.Errorf("asked for %s", r.URL)
		}
		http.Error(w, "no", http.StatusInternalServerError)
	}))
	defer sick.Close()
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "ok")
	}))
	defer cut.Close()
	for a, want := range map[string]string{
		sick.Listener.Addr().String(): "500 Internal Server Error: no",
		cut.Listener.Addr().String():  "read the answer",
		"":                            "web.listen",
		"a\x7f:1":                     "invalid",
		"127.0.0.1:0":                 "is Hark running?",
	} {
		if err := Check(t.Context(), a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", a, err, want)
		}
	}
}
