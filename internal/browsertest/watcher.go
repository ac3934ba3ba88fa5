package browsertest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"hark/internal/wait"
)

// watcher hears what the browser tells of a page: what it loads, and what goes wrong.
type watcher struct {
	changed wait.Signal

	mu       sync.Mutex
	main     cdp.FrameID // the page's own frame, once known
	loading  bool        // it
	requests map[network.RequestID]request
	begun    int    // navigations and requests
	onBegun  func() // is called with each; may be nil
	host     string
	visited  bool
	problems []string
}

type request struct {
	url    string
	loader cdp.LoaderID
}

func newWatcher() *watcher { return &watcher{requests: map[network.RequestID]request{}} }

// calm reports whether nothing loads.
func (w *watcher) calm() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.loading && len(w.requests) == 0
}

// onBegin calls f with each navigation or request from now on, instead of the one before. It returns how many there
// were.
func (w *watcher) onBegin(f func()) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onBegun = f
	return w.begun
}

// busy says what still loads.
func (w *watcher) busy() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprintf("loading: %v, requests: %v", w.loading, w.requests)
}

// visiting remembers the host of the first address.
func (w *watcher) visiting(address string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.visited {
		w.host, w.visited = hostOf(address), true
	}
}

// take returns the problems and forgets them.
func (w *watcher) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.problems
	w.problems = nil
	return taken
}

// hear is called with each event of the page, in their order.
func (w *watcher) hear(event any) {
	w.mu.Lock()
	switch e := event.(type) {
	case *page.EventFrameRequestedNavigation:
		w.load(e.FrameID, true)
	case *page.EventFrameStartedLoading:
		w.load(e.FrameID, true)
	case *page.EventFrameStoppedLoading:
		w.load(e.FrameID, false)
	case *page.EventNavigatedWithinDocument:
		w.load(e.FrameID, false)
	case *page.EventFrameNavigated:
		w.navigated(e.Frame)
	case *network.EventRequestWillBeSent:
		w.reach(e.Request.URL)
		if e.Type != network.ResourceTypeEventSource {
			w.begin()
			w.requests[e.RequestID] = request{e.Request.URL, e.LoaderID}
		}
	case *network.EventWebSocketCreated:
		w.reach(e.URL)
	case *network.EventLoadingFinished:
		delete(w.requests, e.RequestID)
	case *network.EventLoadingFailed:
		delete(w.requests, e.RequestID)
	case *runtime.EventConsoleAPICalled:
		if slices.Contains([]runtime.ConsoleAPICalledType{"error", "warning", "assert"}, e.Type) {
			w.problem("console %s: %s", e.Type, printed(e.Args))
		}
	case *runtime.EventExceptionThrown:
		w.problem("%v", &chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails})
	case *log.EventEntryAdded:
		serious := e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning
		if serious && !strings.HasSuffix(e.Entry.URL, "/favicon.ico") { // the browser asks for it, the page doesn't
			w.problem("%s %s: %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL)
		}
	case *inspector.EventTargetCrashed:
		w.problem("the page crashed")
	}
	w.mu.Unlock()
	w.changed.Send()
}

// begin needs the lock, as all below.
func (w *watcher) begin() {
	w.begun++
	if w.onBegun != nil {
		w.onBegun()
	}
}

func (w *watcher) load(frame cdp.FrameID, loading bool) {
	if w.main != "" && frame != w.main {
		return
	}
	w.loading = loading
	if loading {
		w.begin()
	}
}

// navigated drops the requests of the document before.
func (w *watcher) navigated(frame *cdp.Frame) {
	if frame.ParentID != "" {
		return
	}
	w.main = frame.ID
	w.begin()
	for id, r := range w.requests {
		if r.loader != frame.LoaderID {
			delete(w.requests, id)
		}
	}
}

// reach notes a request to another host.
func (w *watcher) reach(address string) {
	for _, inside := range []string{"data:", "blob:", "about:"} {
		if strings.HasPrefix(address, inside) {
			return
		}
	}
	if w.visited && hostOf(address) != w.host {
		w.problem("a request to another host: %s", address)
	}
}

func (w *watcher) problem(format string, args ...any) {
	w.problems = append(w.problems, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// printed is what the console shows of values.
func printed(values []*runtime.RemoteObject) string {
	var parts []string
	for _, v := range values {
		part := v.Description
		if part == "" {
			part = strings.Trim(string(v.Value), `"`)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Host
}
