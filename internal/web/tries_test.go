package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// from sends a form with a password to the page from an address.
func (w *world) from(address, password string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", w.path("/login"), strings.NewReader(url.Values{"password": {password}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.RemoteAddr = address
	got := httptest.NewRecorder()
	w.site.ServeHTTP(got, r)
	return got
}

// Who guesses the password keeps nobody else out, and whoever has the machine gets in even where everybody guesses.
func TestGuessesKeepNobodyElseOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := time.Now()
	w.site.access.now = func() time.Time { return now }
	const right = "something to remember"
	for range triesAtOnce {
		if got := w.from("192.0.2.1:5000", "a guess"); got.Code != http.StatusUnauthorized {
			t.Fatalf("a guess: %d", got.Code)
		}
	}
	got := w.from("192.0.2.1:5001", right)
	if got.Code != http.StatusTooManyRequests || !strings.Contains(got.Body.String(), "hark web --link") {
		t.Errorf("after many guesses: %d %s", got.Code, got.Body)
	}
	if got := w.from("192.0.2.2:5000", right); got.Code != http.StatusSeeOther {
		t.Errorf("from elsewhere: %d", got.Code)
	}
	now = now.Add(triesEvery)
	if got := w.from("192.0.2.1:5002", right); got.Code != http.StatusSeeOther {
		t.Errorf("after some seconds: %d", got.Code)
	}

	for i := range 2 * allTries { // each from an address of its own
		w.from(fmt.Sprintf("198.51.%d.%d:80", i/200, i%200), "a guess")
	}
	if got := w.from("192.0.2.3:5000", right); got.Code != http.StatusTooManyRequests {
		t.Errorf("while everybody guesses: %d", got.Code)
	}
	if code, _, _ := fetch(t, http.DefaultClient, request(t, "GET", w.site.Link())); code != http.StatusOK {
		t.Errorf("by a link: %d", code)
	}
}

func TestWhoSharesTries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1:1", "192.0.2.1:2", true},
		{"192.0.2.1:1", "192.0.2.2:1", false},
		{"192.0.2.1:1", "[::ffff:192.0.2.1]:1", true},
		{"[2001:db8:0:1::1]:1", "[2001:db8:0:1:9::2]:1", true},
		{"[2001:db8:0:1::1]:1", "[2001:db8:0:2::1]:1", false},
		{"[fe80::1%eth0]:1", "[fe80::2%eth1]:1", true},
		{"@", "a socket", true},
	} {
		if same := networkOf(c.a) == networkOf(c.b); same != c.same {
			t.Errorf("%s and %s share tries: %v", c.a, c.b, same)
		}
	}
}

// By https the cookie has a name that a browser takes from this host alone.
func TestCookiesAreBoundToTheirHost(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]struct {
		name   string
		secure bool
	}{"https://127.0.0.1:8766": {"__Host-hark_session", true}, "http://127.0.0.1:8766": {"hark_session", false}} {
		w := newWorld(t)
		w.site.access.Web.URL = address
		var cookie *http.Cookie
		for _, c := range w.from("192.0.2.1:5000", "something to remember").Result().Cookies() {
			cookie = c
		}
		if cookie == nil || cookie.Name != want.name || cookie.Secure != want.secure || cookie.Path != "/" ||
			cookie.Domain != "" || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode {
			t.Fatalf("%s: %+v", address, cookie)
		}
		r := httptest.NewRequest("GET", address+"/memory", nil)
		r.AddCookie(cookie)
		got := httptest.NewRecorder()
		if w.site.ServeHTTP(got, r); got.Code != http.StatusOK {
			t.Errorf("%s: with the cookie %d", address, got.Code)
		}
		other := httptest.NewRequest("GET", address+"/memory", nil)
		other.AddCookie(&http.Cookie{Name: "x" + cookie.Name, Value: cookie.Value})
		got = httptest.NewRecorder()
		if w.site.ServeHTTP(got, other); got.Code != http.StatusUnauthorized {
			t.Errorf("%s: with another cookie %d", address, got.Code)
		}
	}
}
