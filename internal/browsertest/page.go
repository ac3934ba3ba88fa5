package browsertest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"hark/internal/wait"
)

// Options say how a page is shown.
type Options struct {
	Width, Height int     // of the window, in CSS pixels; 0 is 1280 and 800
	Scale         float64 // pixels of a photograph for each CSS pixel; 0 is 1
	Dark          bool    // prefers-color-scheme
	NoScripts     bool    // the page's scripts don't run
}

// Page is a tab of its own, with cookies and a cache of its own. It closes when its test ends. The test fails if
// problems are left that it didn't ask for. A step that fails ends the test.
type Page struct {
	tb    testing.TB
	ctx   context.Context
	frame chromedp.Action[[]byte] // is done once the next frame is drawn
	*watcher
}

// Open opens an empty page.
func Open(tb testing.TB, o Options) *Page {
	tb.Helper()
	p := &Page{tb: tb, watcher: newWatcher(), frame: evaluate(nextFrame)}
	if o.NoScripts { // timers don't run either
		p.frame = photographed(page.CaptureScreenshotParams{Clip: &page.Viewport{Width: 1, Height: 1, Scale: 1}})
	}
	p.ctx, _ = chromedp.NewContext(running(tb), chromedp.WithNewBrowserContext(), chromedp.WithListener(p.hear))
	tb.Cleanup(func() {
		if !tb.Failed() {
			p.settle()
		}
		for _, problem := range p.take() {
			tb.Error(problem)
		}
		if err := chromedp.Cancel(p.ctx); err != nil {
			tb.Error("the page didn't close: ", err)
		}
	})
	// The page lives as long as the context of its first command, so this one has no limit.
	if err := chromedp.Do(p.ctx); err != nil {
		tb.Fatal(err)
	}
	o.Width, o.Height, o.Scale = cmp.Or(o.Width, 1280), cmp.Or(o.Height, 800), cmp.Or(o.Scale, 1)
	scheme := "light"
	if o.Dark {
		scheme = "dark"
	}
	p.do("set up the page",
		chromedp.EmulateViewport(int64(o.Width), int64(o.Height), chromedp.EmulateScale(o.Scale)),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}),
		command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: o.NoScripts}))
	return p
}

// Visit shows a page once it has loaded, with all that it asks for. The first one decides which host the page
// may reach.
func (p *Page) Visit(url string) {
	p.tb.Helper()
	p.visiting(url)
	p.do("visit "+url, chromedp.Navigate(url))
	p.settle()
}

// Click clicks the middle of an element, and waits for what the page loads then. The element must be there, and
// nothing may cover it.
func (p *Page) Click(selector string) {
	p.tb.Helper()
	var at struct {
		X, Y float64
		Over string
	}
	p.element(selector, `e.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
		const r = e.getClientRects()[0] ?? {};
		const x = r.x + r.width / 2, y = r.y + r.height / 2, top = document.elementFromPoint(x || 0, y || 0);
		return {X: x, Y: y, Over: r.width && top && (e.contains(top) || top.contains(e)) ? "" : top?.outerHTML ?? "nothing"}`, &at)
	if at.Over != "" {
		p.tb.Fatalf("%s can't be clicked: there is %.200s", selector, at.Over)
	}
	p.do("click "+selector, chromedp.MouseClickXY(at.X, at.Y))
	p.settle()
}

// Fill replaces the text of a field.
func (p *Page) Fill(selector, text string) {
	p.tb.Helper()
	p.element(selector, "e.focus(); e.select(); return true", new(bool))
	p.do("fill "+selector, command(input.InsertText, input.InsertTextParams{Text: text}))
	p.settle()
}

var keys = map[string]string{"Tab": kb.Tab, "Enter": kb.Enter, "Escape": kb.Escape, "Space": " ",
	"Up": kb.ArrowUp, "Down": kb.ArrowDown, "Left": kb.ArrowLeft, "Right": kb.ArrowRight,
	"Home": kb.Home, "End": kb.End}

// Press presses a key: a character, or Tab, Enter, Escape, Space, Up, Down, Left, Right, Home, End; with Shift+
// before it if that is held.
func (p *Page) Press(key string) {
	p.tb.Helper()
	var held []chromedp.KeyOption
	name, shifted := strings.CutPrefix(key, "Shift+")
	if shifted {
		held = append(held, chromedp.KeyModifiers(chromedp.ModifierShift))
	}
	pressed, named := keys[name]
	if !named {
		pressed = name
	}
	p.do("press "+key, chromedp.KeyEvent(pressed, held...))
	p.settle()
}

// Text is what an element shows.
func (p *Page) Text(selector string) (text string) {
	p.tb.Helper()
	p.element(selector, "return e.innerText", &text)
	return text
}

// Has reports whether the page has an element.
func (p *Page) Has(selector string) (has bool) {
	p.tb.Helper()
	p.Eval("document.querySelector("+quoted(selector)+") !== null", &has)
	return has
}

// Focused describes the element that has the focus, such as "button#send Send"; "" if none has.
func (p *Page) Focused() (description string) {
	p.tb.Helper()
	p.Eval(`(e => !e || e === document.body ? "" : e.localName + (e.id && "#" + e.id) + " " +
		(e.ariaLabel ?? e.labels?.[0]?.innerText ?? e.innerText).trim())(document.activeElement)`, &description)
	return description
}

// URL is the page's address.
func (p *Page) URL() (url string) {
	p.tb.Helper()
	p.Eval("location.href", &url)
	return url
}

// Eval stores the value of an expression in the page, or of its promise, in to, as JSON does.
func (p *Page) Eval(js string, to any) {
	p.tb.Helper()
	if err := json.Unmarshal(done(p, js, evaluate(js)), to); err != nil {
		p.tb.Fatalf("%s: %v", js, err)
	}
}

// Screenshot is a PNG of the whole page.
func (p *Page) Screenshot() []byte {
	p.tb.Helper()
	return done(p, "photograph the page", chromedp.FullScreenshot(100))
}

// Element is a PNG of one element.
func (p *Page) Element(selector string) []byte {
	p.tb.Helper()
	p.element(selector, "return true", new(bool))
	return done(p, "photograph "+selector, chromedp.Screenshot(chromedp.CSS(selector)))
}

// Problems takes the problems so far: errors and warnings of the console, exceptions, violations of the content
// security policy, and requests to other hosts. Those of workers aren't seen.
func (p *Page) Problems() []string {
	p.tb.Helper()
	p.settle()
	return p.take()
}

// settle waits until the page is calm: it has loaded, no request runs, and a frame later it still is so.
// Requests that never end by themselves, such as those of an EventSource, don't count.
func (p *Page) settle() {
	p.tb.Helper()
	for late := time.Now().Add(wait.Limit); time.Now().Before(late); {
		p.changed.Until(p.tb, "the page to load", p.calm, p.busy)
		ctx, cancel := context.WithCancel(p.ctx)
		before := p.onBegin(cancel) // a page that goes away may leave the frame without an answer
		_, err := limited(ctx, p.frame)
		cancel()
		if p.onBegin(nil) != before || !p.calm() {
			continue
		}
		if err != nil {
			p.tb.Fatal("wait for the page: ", err)
		}
		return
	}
	p.tb.Fatal("the page never stops loading: ", p.busy())
}

// nextFrame waits for the next frame, and until its tasks have run.
const nextFrame = "new Promise(done => requestAnimationFrame(() => setTimeout(done)))"

// element runs the body of a function on the element e and stores what it returns.
func (p *Page) element(selector, body string, to any) {
	p.tb.Helper()
	if !p.Has(selector) {
		p.tb.Fatalf("%s has no %s", p.URL(), selector)
	}
	p.Eval("(e => { "+body+" })(document.querySelector("+quoted(selector)+"))", to)
}

// do does steps, in their order.
func (p *Page) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	p.tb.Helper()
	done(p, what, chromedp.Steps(steps...))
}

// done does a step and returns its result.
func done[T any](p *Page, what string, step chromedp.Action[T]) T {
	p.tb.Helper()
	result, err := limited(p.ctx, step)
	if err != nil {
		p.tb.Fatalf("%s: %v", what, err)
	}
	return result
}

// limited does a step, unless the browser hangs.
func limited[T any](ctx context.Context, step chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, wait.Limit)
	defer cancel()
	return chromedp.Run(ctx, step)
}

// evaluate is a step whose result is the value of an expression, as JSON.
func evaluate(js string) chromedp.Action[[]byte] {
	return chromedp.Evaluate[[]byte](js, chromedp.EvalAwaitPromise)
}

// photographed is a step whose result is a PNG.
func photographed(params page.CaptureScreenshotParams) chromedp.Action[[]byte] {
	return func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		r, err := cdp.Call(ctx, t, page.CaptureScreenshot, params)
		return r.Data, err
	}
}

// command is a step that sends one command of the protocol.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// quoted is a string in JavaScript.
func quoted(s string) string { return fmt.Sprintf("%q", s) }
