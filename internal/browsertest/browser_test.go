package browsertest

import (
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(ThenClose(m)) }

// serve serves pages by their paths.
func serve(t *testing.T, pages map[string]string) (address string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, known := pages[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "script-src 'self' 'nonce-x'")
		_, _ = io.WriteString(w, strings.ReplaceAll(body, "QUERY", r.URL.RawQuery))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestPageIsUsed(t *testing.T) {
	t.Parallel()
	address := serve(t, map[string]string{
		"/": `<title>One</title><h1>Hello</h1><form action="/found"><label>Word <input id=q name=q value=old></label>
			<button id=go>Go</button></form><a href="#end" id=end>End</a><p id=said></p>
			<script nonce=x>document.querySelector("#end").onclick = async () => {
				document.querySelector("#said").textContent = await (await fetch("/late")).text() }</script>`,
		"/found": `<p id=found>QUERY</p>`,
		"/late":  "it came",
		"/moved": `<meta http-equiv=refresh content="0; url=/found?by=itself">`,
	})
	for _, noScripts := range []bool{false, true} {
		t.Run(fmt.Sprint("no scripts: ", noScripts), func(t *testing.T) {
			t.Parallel()
			p := Open(t, Options{NoScripts: noScripts})
			p.Visit(address)
			if got := p.Text("h1"); got != "Hello" || p.Has("h2") {
				t.Errorf("%q is shown", got)
			}
			p.Press("Tab")
			if got := p.Focused(); got != "input#q Word" {
				t.Errorf("%q has the focus", got)
			}
			p.Press("Tab")
			p.Press("Shift+Tab")
			p.Click("#end")
			if got := p.Text("#said"); (got == "it came") == noScripts || p.URL() != address+"/#end" {
				t.Errorf("%q came at %s", got, p.URL())
			}
			for range 5 { // each is a chance to be too early
				p.Visit(address + "/moved")
				if got := p.Text("#found"); got != "by=itself" {
					t.Fatalf("the page didn't move on: %q", got)
				}
				p.Visit(address)
				p.Fill("#q", `new "words"`)
				p.Click("#go")
				if got := p.Text("#found"); got != "q=new+%22words%22" {
					t.Fatalf("%q was sent", got)
				}
			}
			p.Visit(address)
			p.Fill("#q", "x")
			p.Press("Enter")
			if got := p.Text("#found"); got != "q=x" {
				t.Errorf("%q was sent", got)
			}
		})
	}
}

func TestProblemsAreTold(t *testing.T) {
	t.Parallel()
	address := serve(t, map[string]string{"/": `<img src="http://other.example/a.png"><img src="/none.png">
		<script>forbidden</script><script nonce=x>console.log("fine"); console.warn("odd", 1); console.error("bad");
		missing()</script>`, "/fine": "fine"})
	p := Open(t, Options{})
	p.Visit(address)
	problems := p.Problems()
	for _, want := range []string{
		"a request to another host: http://other.example/a.png",
		"status of 404 (Not Found) " + address + "/none.png",
		"Content Security Policy",
		"console warning: odd 1",
		"console error: bad",
		"missing is not defined",
	} {
		if !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, want) }) {
			t.Errorf("nothing told of %q in\n%s", want, strings.Join(problems, "\n"))
		}
	}
	p.Visit(address + "/fine")
	if rest := p.Problems(); len(rest) > 0 {
		t.Errorf("problems of a page without any: %q", rest)
	}
}

func TestPhotographs(t *testing.T) {
	t.Parallel()
	address := serve(t, map[string]string{"/": `<style>body { margin: 0; background: white } b { display: block; height: 50px }
		@media (prefers-color-scheme: dark) { body { background: black } }</style><div style="height: 2000px"><b></b></div>`})
	for _, dark := range []bool{false, true} {
		p := Open(t, Options{Width: 300, Height: 200, Scale: 2, Dark: dark})
		p.Visit(address)
		for shot, height := range map[string]int{string(p.Screenshot()): 4000, string(p.Element("b")): 100} {
			seen := decode(t, shot)
			r, _, _, _ := seen.At(0, 0).RGBA()
			if size := seen.Bounds().Size(); size.X != 600 || size.Y != height || (r == 0) != dark {
				t.Errorf("dark: %v: %v, red %d", dark, size, r)
			}
		}
	}
}

func decode(t *testing.T, data string) image.Image {
	t.Helper()
	seen, err := png.Decode(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return seen
}
