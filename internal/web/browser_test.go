package web

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hark/internal/browsertest"
	"hark/internal/golden"
	"hark/internal/imports"
	"hark/memory"
)

// pictures are the pages that docs/inspection.md shows, as -update photographs them.
var pictures = map[string]string{"GET /{$}": "overview", "GET /ask": "ask", "GET /answers/{channel}/{answer}": "answer",
	"GET /memory/{guild}/{channel}": "log", "GET /audience": "audience", "GET /forget": "forget"}

const picturesDir = "../../docs/pictures"

// converse imports real conversations, if there are any beside the project.
func (w *world) converse() {
	w.Helper()
	const set = "../../../shared/data/recall/realtalk-dev.jsonl.gz"
	file, err := os.Open(set)
	if err != nil {
		w.Log("the conversations are made up: ", err)
		return
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		w.Fatal(err)
	}
	if _, err := imports.Read(w.Context(), text, w.app.Store, func(events []memory.Event) error {
		return w.app.Store.Apply(w.Context(), events...)
	}, nil); err != nil {
		w.Fatal(err)
	}
	if err := w.app.Index(w.Context(), nil); err != nil {
		w.Fatal(err)
	}
}

// visits are the examples that a browser can visit, in a fixed order.
func (w *world) visits(answer memory.MessageID) (patterns []string, at map[string]string) {
	at = w.examples(answer)
	for pattern := range at {
		if strings.HasPrefix(pattern, "GET ") && !slices.Contains([]string{"GET /", "GET /login", "GET /static/{file}",
			"GET /forget/{job}"}, pattern) {
			patterns = append(patterns, pattern)
		}
	}
	slices.Sort(patterns)
	return patterns, at
}

// fits reports what is wider than the window.
const fits = `[...document.querySelectorAll("body *")].filter(e => document.documentElement.scrollWidth >
	document.documentElement.clientWidth && e.getBoundingClientRect().right > document.documentElement.clientWidth &&
	!e.closest(".wide, pre")).map(e => e.outerHTML.slice(0, 200))`

// Every page is usable by mouse, wide and narrow, light and dark, with and without scripts. axe-core, if the
// environment names it, finds nothing that would keep somebody out.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	axe := ""
	if file := os.Getenv("HARK_TEST_AXE"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		axe = string(text) + "; true"
	}
	for _, o := range []browsertest.Options{{Width: 1280, Height: 800}, {Width: 390, Height: 800, Dark: true},
		{Width: 390, Height: 800, NoScripts: true}} {
		t.Run(fmt.Sprintf("%d, dark %v, without scripts %v", o.Width, o.Dark, o.NoScripts), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.converse()
			answer := w.talk()
			p := browsertest.Open(t, o)
			p.Visit(w.site.Link())
			if !o.NoScripts {
				for _, name := range []string{"Ask", "Answers", "Memory", "Audience", "Forgetting", "Settings", "Overview"} {
					var at string
					p.Eval(fmt.Sprintf(`[...document.querySelectorAll("nav a")].find(a => a.innerText == %q).getAttribute("href")`, name), &at)
					p.Click(`nav a[href="` + at + `"]`)
					if name != "Overview" && p.Text("h1") != name {
						t.Errorf("%s leads to %q", name, p.Text("h1"))
					}
				}
			}
			patterns, at := w.visits(answer)
			for _, pattern := range patterns {
				p.Visit(w.path("%s", at[pattern]))
				var wide, violations []string
				if p.Eval(fits, &wide); len(wide) > 0 {
					t.Errorf("%s doesn't fit: %q", pattern, wide)
				}
				if axe != "" && !o.NoScripts {
					p.Eval(axe, new(bool))
					p.Eval(`axe.run().then(r => r.violations.map(v => v.id + ": " + v.help + ": " + v.nodes.map(n => n.html).slice(0, 3)))`,
						&violations)
				}
				for _, v := range violations {
					t.Errorf("%s: %s", pattern, v)
				}
			}
		})
	}
}

// press presses a key until something with a name has the focus.
func press(t *testing.T, p *browsertest.Page, key, until string) {
	t.Helper()
	var seen []string
	for range 60 {
		p.Press(key)
		at := p.Focused()
		if strings.Contains(at, until) {
			return
		}
		seen = append(seen, at)
	}
	t.Fatalf("%s doesn't lead to %q, but to %q", key, until, seen)
}

// Who has no mouse asks a question under two settings, and finds out who may hear of what.
func TestByKeyboard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk()
	p := browsertest.Open(t, browsertest.Options{})
	p.Visit(w.site.Link())
	press(t, p, "Tab", "Skip to the content")
	p.Press("Enter")
	for _, name := range []string{"Answers", "Memory", "Audience", "Forgetting", "Settings", "Overview"} {
		press(t, p, "Shift+Tab", name)
		p.Press("Enter")
		if at := p.Text("h1"); at != name {
			t.Errorf("%s leads to %q", name, at)
		}
		press(t, p, "Tab", "Log out") // from the beginning of the new page
	}
	press(t, p, "Shift+Tab", "Ask")
	p.Press("Enter")
	press(t, p, "Tab", "Question")
	for _, key := range "migration" {
		p.Press(string(key))
	}
	press(t, p, "Tab", "Person")
	for _, key := range "Zoe" {
		p.Press(string(key))
	}
	press(t, p, "Tab", "In")
	p.Press("#") // #general
	press(t, p, "Tab", "Compare")
	p.Press("Space")
	press(t, p, "Tab", "Ask")
	p.Press("Enter")
	if !strings.Contains(p.Text("main"), "Second settings") {
		t.Fatalf("nothing is compared: %s", p.Text("main"))
	}
	first, second := p.Text(".trials:last-of-type .trial:first-child"), p.Text(".trials:last-of-type .trial:last-child")
	if !strings.Contains(first, "1 good hit held back") || strings.Contains(first, "gold pieces") ||
		!strings.Contains(second, "gold pieces") || !p.Has(".hits .differs") {
		t.Errorf("in #general: %s\n\neverywhere: %s", first, second)
	}
}

// Who is forgotten on the page is gone from all pages.
func TestForgettingInABrowser(t *testing.T) {
	t.Parallel()
	for _, o := range []browsertest.Options{{Width: 1280}, {Width: 390, NoScripts: true}} {
		t.Run(fmt.Sprintf("%d, without scripts %v", o.Width, o.NoScripts), func(t *testing.T) {
			t.Parallel()
			forgetInABrowser(t, o)
		})
	}
}

func forgetInABrowser(t *testing.T, o browsertest.Options) {
	w := newWorld(t)
	w.converse()
	answer := w.talk()
	p := browsertest.Open(t, o)
	p.Visit(w.site.Link())
	p.Visit(w.path("/forget"))
	p.Fill("input[name=person]", "Zoe")
	p.Click("form.filter button")
	goes := p.Text(".danger")
	if !strings.Contains(goes, "everything that person 9000024 wrote in all servers (Zoe)") || !strings.Contains(goes, "7 messages") || !strings.Contains(goes, "1 answer") {
		t.Fatalf("what would go: %s", goes)
	}
	p.Fill(".danger input[name=confirm]", "yes")
	p.Click(".danger button")
	if said := p.Text("[role=alert]"); !strings.Contains(said, "Nothing was forgotten") {
		t.Fatal(said)
	}
	if problems := p.Problems(); len(problems) != 1 || !strings.Contains(problems[0], "400") { // the browser tells of the status
		t.Error(problems)
	}
	p.Fill(".danger input[name=confirm]", "7")
	p.Click(".danger button")
	w.site.jobs.work.Wait()
	p.Visit(p.URL())
	if said := p.Text("main"); !strings.Contains(said, "Forgotten") || !strings.Contains(said, "7 messages") {
		t.Fatal(said)
	}
	patterns, at := w.visits(answer)
	for _, pattern := range patterns {
		if pattern == "GET /ask" || pattern == "GET /forget" || pattern == "GET /answers" || pattern == "GET /memory/{guild}/people" {
			at[pattern], _, _ = strings.Cut(at[pattern], "?") // which named Zoe
		}
		p.Visit(w.path("%s", at[pattern]))
		p.Problems() // the answer is gone, too
		var text string
		p.Eval("document.documentElement.outerHTML", &text)
		for _, trace := range []string{"Zoe", "tomatoes", "The new greenhouse"} {
			if strings.Contains(text, trace) {
				t.Errorf("%s still tells of %s", pattern, trace)
			}
		}
	}
}

// The pictures of docs/inspection.md are there; -update photographs them anew.
func TestPictures(t *testing.T) {
	t.Parallel()
	if !golden.Updating() {
		for _, name := range pictures {
			if _, err := os.Stat(filepath.Join(picturesDir, "inspection-"+name+".png")); err != nil {
				t.Error(err)
			}
		}
		return
	}
	w := newWorld(t)
	answer := w.talk()
	p := browsertest.Open(t, browsertest.Options{Width: 1000, Height: 700})
	p.Visit(w.site.Link())
	for pattern, name := range pictures {
		p.Visit(w.path("%s", w.examples(answer)[pattern]))
		var height int
		p.Eval("document.body.style.height = '900px', document.body.style.overflow = 'hidden', 900", &height)
		if err := os.WriteFile(filepath.Join(picturesDir, "inspection-"+name+".png"), p.Element("body"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
