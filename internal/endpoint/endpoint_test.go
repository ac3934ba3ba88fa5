package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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
		fmt.Fprint(w, "Missing Field, "+secret+strings.Repeat(" ", maxQuoted)+"the end")
	}))
	defer web.Close()
	s, err := NewServer(Server{
		What: "test", URL: strings.Replace(web.URL, "http://", "http://me:"+secret+"@", 1) + "/v1", Path: "/ask", Key: "k",
		Setting: "test.url", Secret: "test.key", Missing: "look for it",
	})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.Post(t.Context(), map[string]int{"a": 1}, 7)
	if err != nil || string(answer) != "Missing" || string(body) != `{"a":1}` || got.URL.Path != "/v1/ask" || got.Header.Get("Authorization") != "Bearer k" {
		t.Errorf("sent %s to %v, got %q, %v", body, got.URL, answer, err)
	}
	if _, err := s.Post(t.Context(), func() {}, 7); err == nil {
		t.Error("a function was sent")
	}
	for code, advice := range map[int]string{401: "check test.key", 403: "check test.key", 404: "look for it", 301: "into test.url", 503: "asked again later", 400: "its log may say why"} {
		status = code
		_, err = s.Post(t.Context(), nil, 1<<20)
		var refused *Refusal
		if !errors.As(err, &refused) || refused.Status != code || refused.RetryAfter() != 9*time.Second || refused.OfText() != (code == 400) {
			t.Errorf("%d: %v", code, err)
			continue
		}
		if !refused.Says("nothing", "missing field") || refused.Says("the end") {
			t.Errorf("%d: it isn't known what was said", code)
		}
		text := err.Error()
		if want := "the test server at " + web.URL + "/v1 answers " + fmt.Sprint(code); !strings.HasPrefix(text, want) || !strings.Contains(text, advice) || strings.Contains(text, secret) {
			t.Errorf("%d: %s", code, text)
		}
	}
	web.Close()
	if _, err := s.Post(t.Context(), nil, 7); err == nil || !strings.Contains(err.Error(), "can't be reached") || strings.Contains(err.Error(), secret) {
		t.Error(err)
	}
}

func TestServerNeedsAnAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "localhost", "http://", "http://%zz"} {
		s, err := NewServer(Server{URL: address, Setting: "test.url", Example: "http://like.this"})
		if s != nil || err == nil || err.Error() != "test.url is no address: it looks like http://like.this" {
			t.Errorf("%q: %v, %v", address, s, err)
		}
	}
}

// What is left alone is named, and comes back when its time is over. See internal/embed for all else that a Breaker does.
func TestBreakerRestsAndTries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := Breaker{What: "thing"}
		asked := 0
		ask := func(err error) error {
			return b.Do(t.Context(), time.Second, func(ctx context.Context) error {
				asked++
				if until, ok := ctx.Deadline(); !ok || time.Until(until) != time.Second {
					t.Error("it has another time")
				}
				return err
			})
		}
		for range tolerated {
			if err := ask(io.EOF); !errors.Is(err, io.EOF) {
				t.Error(err)
			}
		}
		if err := ask(nil); err == nil || err.Error() != "the thing failed and isn't asked again before 15s have passed" || asked != tolerated {
			t.Errorf("asked %d times, %v", asked, err)
		}
		time.Sleep(firstRest)
		if err := ask(nil); err != nil || asked != tolerated+1 {
			t.Errorf("asked %d times, %v", asked, err)
		}
	})
}

// busy is an error that says how long to wait, as others than this package's do.
type busy struct{ time.Duration }

func (busy) Error() string               { return "busy" }
func (b busy) RetryAfter() time.Duration { return b.Duration }

// Whatever says that it wants to be left alone is, once for as long, and whoever panics leaves nothing behind.
// What is told of a server is how its last call came out, and whether it is left alone.
func TestBreakerTellsHowTheServerDoes(t *testing.T) {
	t.Parallel()
	b := Breaker{What: "thing"}
	if h := b.Health(); h != (Health{}) {
		t.Errorf("before any call: %+v", h)
	}
	down := errors.New("down")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for i, tt := range []struct {
		ctx    context.Context
		err    error
		failed error
		rests  bool
	}{
		{t.Context(), nil, nil, false},
		{t.Context(), down, down, false},
		{ended, context.Canceled, down, false}, // which says nothing of the server
		{t.Context(), down, down, false},
		{t.Context(), down, down, true},
	} {
		if err := b.Do(tt.ctx, 0, func(context.Context) error { return tt.err }); !errors.Is(err, tt.err) {
			t.Fatal(err)
		}
		if h := b.Health(); h.At.IsZero() || h.Took < 0 || h.Failed != tt.failed || (h.Rests > 0) != tt.rests {
			t.Errorf("after call %d: %+v", i, h)
		}
	}
}

func TestBreakerTakesTheServersWord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := Breaker{What: "thing"}
		err := b.Do(t.Context(), 0, func(context.Context) error { return fmt.Errorf("ask: %w", busy{time.Hour}) })
		if !errors.As(err, new(busy)) {
			t.Error(err)
		}
		never := func(context.Context) error { t.Error("asked"); return nil }
		var rests *Resting
		if err := b.Do(t.Context(), 0, never); !errors.As(err, &rests) || rests.Left != time.Hour || rests.RetryAfter() != time.Hour {
			t.Errorf("%v", err)
		}
		time.Sleep(time.Hour)
		func() {
			defer func() { _ = recover() }()
			_ = b.Do(t.Context(), 0, func(context.Context) error { panic("no") })
		}()
		if err := b.Do(t.Context(), 0, func(context.Context) error { return nil }); err != nil {
			t.Error(err)
		}
	})
}
