package web

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"hark/internal/config"
	"hark/memory"
)

// cookies keeps the last cookie, whatever its attributes.
type cookies struct{ of []*http.Cookie }

func (c *cookies) SetCookies(_ *url.URL, of []*http.Cookie) { c.of = of }
func (c *cookies) Cookies(*url.URL) []*http.Cookie          { return c.of }

func fetch(t testing.TB, c *http.Client, r *http.Request) (int, string, http.Header) {
	t.Helper()
	response, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body), response.Header
}

func request(t testing.TB, method, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// examples are addresses of all routes, in a world that talked.
func (w *world) examples(answer memory.MessageID) map[string]string {
	return map[string]string{
		"GET /{$}": "/", "GET /checks": "/checks",
		"GET /ask":                          fmt.Sprintf("/ask?q=who+has+the+server+migration&in=%d&as=Zoe&compare=on&mode2=search&layout2=plain", planning),
		"GET /answers":                      fmt.Sprintf("/answers?guild=%d&person=Zoe&model=test-model&outcome=model", garden),
		"GET /answers/{channel}/{answer}":   fmt.Sprintf("/answers/%d/%d", planning, answer),
		"GET /memory":                       "/memory",
		"GET /memory/{guild}":               fmt.Sprintf("/memory/%d", garden),
		"GET /memory/{guild}/people":        fmt.Sprintf("/memory/%d/people?q=zo", garden),
		"GET /memory/{guild}/people/{user}": fmt.Sprintf("/memory/%d/people/%d", garden, zoe),
		"GET /memory/{guild}/lore":          fmt.Sprintf("/memory/%d/lore", garden),
		"GET /memory/{guild}/{channel}":     fmt.Sprintf("/memory/%d/%d?q=beans", garden, general),
		"GET /audience":                     fmt.Sprintf("/audience?guild=%d&place=%d&source=%d", garden, general, staff),
		"GET /forget":                       fmt.Sprintf("/forget?guild=%d&person=Zoe", garden),
		"POST /forget":                      "/forget",
		"GET /forget/{job}":                 "/forget/1",
		"GET /settings":                     fmt.Sprintf("/settings?guild=%d", garden),
		"POST /logout":                      "/logout",
		"GET /login":                        "/login",
		"POST /login":                       "/login",
		"GET /static/{file}":                "/static/style.css",
		"GET /":                             "/nowhere",
	}
}

// inside are words of the pages' content, which nobody sees without a login.
var inside = regexp.MustCompile(`Garden|Zoe|tomato|migration|test-model|planning|little is free`)

// Nobody but who is logged in, in a browser that is on the page itself, sees anything of any route.
func TestRoutesAreClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer := w.talk()
	in := w.client()
	jar := in.Jar.(*cookies)
	old := &http.Client{Jar: &cookies{of: jar.of}, Transport: in.Transport, CheckRedirect: in.CheckRedirect}
	stranger := &http.Client{Transport: in.Transport, CheckRedirect: in.CheckRedirect}
	logged := w.client()
	out := request(t, "POST", w.path("/logout"))
	if code, _, _ := fetch(t, in, out); code != http.StatusSeeOther {
		t.Fatal("logged out with", code)
	}
	examples := w.examples(answer)
	for _, r := range routes {
		at, known := examples[r.pattern]
		if !known {
			t.Errorf("%s has no example", r.pattern)
			continue
		}
		method, _, _ := strings.Cut(r.pattern, " ")
		for _, c := range []struct {
			who    string
			client *http.Client
			change func(*http.Request)
			open   bool // the route's own answer if it is open
			want   int
		}{
			{"a stranger", stranger, func(*http.Request) {}, true, http.StatusUnauthorized},
			{"an old cookie", old, func(*http.Request) {}, true, http.StatusUnauthorized},
			{"a made-up cookie", stranger, func(r *http.Request) {
				r.AddCookie(&http.Cookie{Name: cookieName, Value: "AAAA"})
			}, true, http.StatusUnauthorized},
			{"another host", logged, func(r *http.Request) { r.Host = "evil.example" }, false, http.StatusForbidden},
			{"another origin", logged, func(r *http.Request) {
				r.Header.Set("Origin", "https://evil.example")
				r.Header.Set("Sec-Fetch-Site", "cross-site")
			}, r.pattern == "GET /login", http.StatusForbidden},
			{"another port", logged, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
				r.pattern == "GET /login", http.StatusForbidden},
		} {
			request := request(t, method, w.path("%s", at))
			c.change(request)
			code, body, head := fetch(t, c.client, request)
			if code != c.want && !(c.open && (r.open || r.pattern == "GET /login")) {
				t.Errorf("%s, from %s: %d, want %d", r.pattern, c.who, code, c.want)
			}
			if inside.MatchString(body) {
				t.Errorf("%s, from %s: tells %q", r.pattern, c.who, inside.FindString(body))
			}
			if head.Get("Cache-Control") != "no-store" || !strings.Contains(head.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("%s, from %s: headers %v", r.pattern, c.who, head)
			}
		}
	}
	// A request for a method that a route doesn't have is no way around it.
	if code, body, _ := fetch(t, stranger, request(t, "PUT", w.path("/memory"))); code != http.StatusMethodNotAllowed ||
		inside.MatchString(body) {
		t.Errorf("PUT: %d %s", code, body)
	}
}

// Every page is whole for who is logged in.
func TestPagesAreWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer := w.talk()
	in := w.client()
	want := map[string]string{
		"GET /{$}": "Garden", "GET /checks": "little is free", "GET /ask": "1 good hit held back", "GET /answers": "server migration",
		"GET /answers/{channel}/{answer}": "Tom has taken over", "GET /memory": "Garden", "GET /memory/{guild}": "planning",
		"GET /memory/{guild}/people": "Zoe", "GET /memory/{guild}/people/{user}": "grows tomatoes",
		"GET /memory/{guild}/lore": "The new greenhouse", "GET /memory/{guild}/{channel}": "Something is missing here",
		"GET /audience": "a member without roles can read #general but not #staff", "GET /forget": "enter the number of messages",
		"GET /settings": `<bdi>Tom</bdi></a></td><td><a href="#hark-set">`, "GET /login": "", "GET /static/{file}": "color-scheme",
	}
	for pattern, at := range w.examples(answer) {
		text, is := want[pattern]
		if !is {
			continue
		}
		code, body, _ := fetch(t, in, request(t, "GET", w.path("%s", at)))
		if code != http.StatusOK && pattern != "GET /login" || !strings.Contains(body, text) {
			t.Errorf("%s: %d, without %q:\n%s", at, code, text, body)
		}
	}
}

func TestLinksWorkOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	link := w.site.Link()
	other := "A" // as the token's tenth last character
	if link[len(link)-10] == 'A' {
		other = "B"
	}
	changed := link[:len(link)-10] + other + link[len(link)-9:]
	now := time.Now()
	w.site.access.now = func() time.Time { return now }
	client := func() *http.Client {
		return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Jar: &cookies{},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	for _, c := range []struct {
		what, link string
		want       int
	}{
		{"changed", changed, http.StatusUnauthorized}, {"first", link, http.StatusOK},
		{"second", link, http.StatusUnauthorized}, {"nonsense", w.path("/login?token=%%21"), http.StatusUnauthorized},
	} {
		if code, _, _ := fetch(t, client(), request(t, "GET", c.link)); code != c.want {
			t.Errorf("the %s time: %d, want %d", c.what, code, c.want)
		}
	}
	fresh := w.site.Link()
	now = now.Add(linkTime + time.Second)
	if code, _, _ := fetch(t, client(), request(t, "GET", fresh)); code != http.StatusUnauthorized {
		t.Errorf("after ten minutes: %d", code)
	}
	in := client()
	fetch(t, in, request(t, "GET", w.site.Link()))
	if code, _, _ := fetch(t, in, request(t, "GET", w.path("/memory"))); code != http.StatusOK {
		t.Errorf("logged in: %d", code)
	}
	now = now.Add(sessionTime + time.Second)
	if code, _, _ := fetch(t, in, request(t, "GET", w.path("/memory"))); code != http.StatusUnauthorized {
		t.Errorf("after eight hours: %d", code)
	}
	if _, err := Link(t.Context(), t.TempDir(), now); err == nil || !strings.Contains(err.Error(), "web.inspect = true") {
		t.Error(err)
	}
}

func TestPasswordAndProxy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := &http.Client{Jar: &cookies{}, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	try := func(password string) int {
		r := request(t, "POST", w.path("/login"))
		r.Body = io.NopCloser(strings.NewReader(url.Values{"password": {password}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		code, _, _ := fetch(t, in, r)
		return code
	}
	if code := try("something"); code != http.StatusUnauthorized {
		t.Errorf("a wrong password: %d", code)
	}
	if code := try("something to remember"); code != http.StatusSeeOther {
		t.Errorf("the password: %d", code)
	}
	if code, _, _ := fetch(t, in, request(t, "GET", w.path("/memory"))); code != http.StatusOK {
		t.Errorf("with the password: %d", code)
	}
	for range 10 {
		try("guess")
	}
	if code := try("something to remember"); code != http.StatusTooManyRequests {
		t.Errorf("after many guesses: %d", code)
	}
	w.site.access.Web = config.Web{ProxyHeader: "X-Forwarded-User"}
	r := request(t, "GET", w.path("/memory"))
	r.Header.Set("X-Forwarded-User", "ana")
	if code, _, _ := fetch(t, http.DefaultClient, r); code != http.StatusOK {
		t.Errorf("by the proxy: %d", code)
	}
}
