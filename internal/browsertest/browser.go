// Package browsertest shows pages to a headless Chromium and uses them as a person does: it clicks, types, reads
// and takes photographs. It is for tests.
//
// A package that uses it closes the browser after its tests, in TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(browsertest.ThenClose(m).Run()) }
//
// Begin reading at Open.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"hark/internal/wait"
)

// Variable names the environment variable that holds the browser: a path, or a name to look for in PATH.
const Variable = "HARK_TEST_BROWSER"

// browser is the one of this process. It starts when the first test needs it.
var browser struct {
	sync.Mutex
	closes bool // ThenClose was called
	ctx    context.Context
	err    error // why it didn't start
}

// ThenClose returns m, whose Run also closes the browser.
func ThenClose(m interface{ Run() int }) *Tests {
	browser.closes = true
	return &Tests{m}
}

// Tests are those of a package.
type Tests struct{ all interface{ Run() int } }

// Run runs the tests and closes the browser. It waits until the browser's processes and files are gone.
func (t *Tests) Run() int {
	code := t.all.Run()
	browser.Lock()
	defer browser.Unlock()
	if browser.ctx == nil || browser.err != nil {
		return code
	}
	ctx, cancel := context.WithTimeout(browser.ctx, wait.Limit)
	defer cancel()
	if err := chromedp.Cancel(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "the browser didn't close cleanly:", err)
		return max(code, 1)
	}
	return code
}

// running returns the context of the browser. It skips the test if this machine has no browser, and fails it if
// the browser doesn't start.
func running(tb testing.TB) context.Context {
	tb.Helper()
	browser.Lock()
	defer browser.Unlock()
	if !browser.closes {
		tb.Fatal("nobody would close the browser: use browsertest.ThenClose in TestMain")
	}
	if browser.ctx == nil && browser.err == nil {
		path := installed()
		if path == "" {
			tb.Skip("there is no Chromium here: install it, or set " + Variable)
		}
		browser.ctx, browser.err = start(path)
	}
	if browser.err != nil {
		tb.Fatal("the browser didn't start: ", browser.err)
	}
	return browser.ctx
}

// installed is the browser to use; "" if there is none.
func installed() string {
	if named := os.Getenv(Variable); named != "" {
		return named
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// start runs a browser that reaches only this machine and looks the same everywhere. As root it has no sandbox,
// since Chromium refuses to have one then.
func start(path string) (context.Context, error) {
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.Env("TZ=UTC"), chromedp.NoFirstRun}
	for name, value := range map[string]any{
		"headless": "new", "disable-gpu": true, "hide-scrollbars": true, "mute-audio": true,
		"lang": "en", "force-color-profile": "srgb", "font-render-hinting": "none",
		"disable-background-networking": true, "disable-component-update": true, "disable-sync": true,
		"disable-quic": true, "disable-default-apps": true, "disable-breakpad": true, "disable-dev-shm-usage": true,
		"host-resolver-rules": "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
	} {
		options = append(options, chromedp.Flag(name, value))
	}
	allocator, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	late := time.AfterFunc(wait.Limit, cancel) // the browser lives as long as the context of its first command
	defer late.Stop()
	if err := chromedp.Do(ctx); err != nil {
		cancel()
		return nil, err
	}
	return ctx, nil
}
