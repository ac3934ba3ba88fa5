package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"hark/internal/golden"
)

const secret = "sk-very-secret"

func TestPost(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body []byte
	status := http.StatusOK
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("Retry-After", "9")
		w.WriteHeader(status)
		fmt.Fprint(w, "Missing Field, "+secret+strings.Repeat(" ", 2*maxQuoted)+"the end")
	}))
	defer web.Close()
	s, err := NewServer(Server{
		What: "test", URL: strings.Replace(web.URL, "http://", "http://me:"+secret+"@", 1) +
			"/v1/ask", Key: "k", Limit: maxQuoted + 100,
		Setting: "test.url", Secret: "test.key", Missing: "look for it", Switch: "--tests",
	})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.Post(t.Context(), map[string]int{"a": 1})
	if err != nil || len(answer) != maxQuoted+100 || string(body) != `{"a":1}` || got.URL.Path != "/v1/ask" ||
		got.Header.Get("Authorization") != "Bearer k" {
		t.Errorf("sent %s to %v, got %d bytes, %v", body, got.URL, len(answer), err)
	}
	if _, err := s.Post(t.Context(), func() {}); err == nil {
		t.Error("a function was sent")
	}
	var told strings.Builder
	for _, code := range []int{401, 403, 404, 301, 503, 501, 400} {
		status = code
		_, err = s.Post(t.Context(), nil)
		var refused *Refusal
		if !errors.As(err, &refused) || refused.Status != code || refused.RetryAfter() != 9*time.Second ||
			refused.OfText() != (code == 400) {
			t.Errorf("%d: %v", code, err)
			continue
		}
		if !refused.Says("nothing", "missing field") || refused.Says("the end") {
			t.Errorf("%d: it isn't known what was said", code)
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%d: %s", code, err)
		}
		fmt.Fprintln(&told, strings.ReplaceAll(err.Error(), web.URL, "http://server"))
	}
	golden.Seen(t, told.String())
	web.Close()
	if _, err := s.Post(t.Context(), nil); err == nil || strings.Contains(err.Error(), secret) {
		t.Error(err)
	}
}

func TestServerNeedsAnAddress(t *testing.T) {
	t.Parallel()
	var told strings.Builder
	for _, address := range []string{"", "localhost", "http://", "http://%zz"} {
		s, err := NewServer(Server{URL: address, Setting: "test.url", Example: "http://like.this"})
		if s != nil || err == nil {
			t.Fatalf("%q: %v, %v", address, s, err)
		}
		fmt.Fprintln(&told, err)
	}
	golden.Seen(t, told.String())
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "-5": 0, "NaN": 0, "soon": 0, "1.5": 1500 * time.Millisecond, "20": 20 * time.Second, "1e300": 24 * time.Hour,
		now.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second, now.Add(-time.Second).Format(http.TimeFormat): 0,
	} {
		if got := RetryAfter(http.Header{"Retry-After": {header}}, now); got != want {
			t.Errorf("%q: %v; want %v", header, got, want)
		}
	}
}

// A server's own words are quoted tamely.
func TestSaid(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"error":{"message":"the model doesn't take\n\u001b[31m ` + secret + `"}}`: "the model doesn't take [31m …",
		`{"detail":"no such model"}`:           "no such model",
		"input is too large":                   "input is too large",
		"<html><body>Bad Gateway</body>":       "",
		"":                                     "",
		`{"error":{}}`:                         "",
		strings.Repeat("x", longestSaid+1):     strings.Repeat("x", longestSaid) + "…",
		`{"error":"key pass-word of you me?"}`: "key … of you me?",
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, body)
		}))
		s, err := NewServer(Server{
			What:  "test",
			URL:   strings.Replace(web.URL, "http://", "http://me:pass-word@", 1),
			Key:   secret,
			Limit: maxQuoted,
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Post(t.Context(), nil)
		web.Close()
		var refused *Refusal
		if !errors.As(err, &refused) || refused.Said() != want {
			t.Errorf("%s: %v; want %q", body, err, want)
		}
	}
}

// That nothing listens, that a name isn't known and that a server is slow are three sentences.
func TestWhynot(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	var told strings.Builder
	for _, err := range []error{
		refused,
		&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "embedder", IsNotFound: true}},
		&net.OpError{Op: "dial", Err: &net.DNSError{Err: "timeout", Name: "embedder", IsTimeout: true}},
		context.DeadlineExceeded,
		io.ErrUnexpectedEOF,
	} {
		fmt.Fprintln(&told, "it "+Whynot(fmt.Errorf("ask: %w", err)))
	}
	golden.Seen(t, told.String())
}
