package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hark/internal/chat"
	"hark/internal/golden"
	"hark/internal/llmtest"
)

// standing is a model at one fake server with a fallback at another.
func standing(t *testing.T) (m *Model, first, second *llmtest.Server) {
	first, second = llmtest.New(t), llmtest.New(t)
	c, _ := client(first, func(c *Config) { c.Model, c.Retries, c.Vision = "first", 0, true })
	fallback, _ := client(second, func(c *Config) { c.Model, c.Retries = "second", 0 })
	return WithFallback(c, fallback), first, second
}

func TestFallback(t *testing.T) {
	t.Parallel()
	busy, well := llmtest.Fail(503, "", ""), llmtest.Say("well")
	noTools := llmtest.Fail(400, "", "second does not support tools")
	for name, test := range map[string]struct {
		first, second []llmtest.Reply
		by            string // who wrote it
		kind          Kind   // of the error, if there is one
		asked         int    // how often the second was
	}{
		"the first is well": {first: []llmtest.Reply{well}, by: "first"},
		"the first fails":   {[]llmtest.Reply{busy}, []llmtest.Reply{well}, "second", 0, 1},
		"the first is gone": {[]llmtest.Reply{{Cut: llmtest.Reset}}, []llmtest.Reply{well}, "second", 0, 1},
		"the first takes no more": {[]llmtest.Reply{llmtest.RateLimited(time.Hour)},
			[]llmtest.Reply{well}, "second", 0, 1},
		"the first has no credit": {[]llmtest.Reply{llmtest.Fail(402, "", "")}, []llmtest.Reply{well},
			"second", 0, 1},
		"the first thinks and fails": {[]llmtest.Reply{{Text: []string{"<think>hm"},
			Cut: llmtest.NoFinish}}, []llmtest.Reply{well}, "second", 0, 1},
		"the first is cut in a call": {[]llmtest.Reply{{Tools: []llmtest.ToolCall{{ID: "1", Name: "f",
			Arguments: []string{"{}"}}}, Cut: llmtest.NoFinish}}, []llmtest.Reply{well}, "second", 0, 1},
		"the first fails after text": {[]llmtest.Reply{{Text: []string{"We"}, Cut: llmtest.NoFinish}}, nil,
			"first", CutOff, 0},
		"the first wants less": {[]llmtest.Reply{llmtest.TooLong()}, nil, "", TooLong, 0},
		"both fail": {[]llmtest.Reply{busy}, []llmtest.Reply{llmtest.RateLimited(0)}, "",
			RateLimited, 1},
		"the second wants less": {[]llmtest.Reply{busy}, []llmtest.Reply{llmtest.TooLong()}, "", TooLong, 1},
		"the second fails after text": {[]llmtest.Reply{busy},
			[]llmtest.Reply{{Text: []string{"We"}, Cut: llmtest.NoFinish}}, "second", CutOff, 1},
		"the second takes no tools":     {[]llmtest.Reply{busy}, []llmtest.Reply{noTools, well}, "second", 0, 2},
		"the second fails without them": {[]llmtest.Reply{busy}, []llmtest.Reply{noTools, busy}, "", Server, 2},
	} {
		m, first, second := standing(t)
		first.Queue(test.first...)
		second.Queue(test.second...)
		var deltas strings.Builder
		reply, err := m.Chat(t.Context(), armed(), func(s string) { deltas.WriteString(s) })
		checkError(t, err)
		if KindOf(err) != test.kind || err == nil && reply.Text != "well" || test.by != "" &&
			reply.Model != test.by || deltas.String() != reply.Text {
			t.Errorf("%s: %+v, %v, deltas %q", name, reply, err, deltas.String())
		}
		if (reply.Instead != nil) != (test.asked > 0) {
			t.Errorf("%s: instead because %v", name, reply.Instead)
		}
		if n := len(second.Requests()); n != test.asked {
			t.Errorf("%s: the second was asked %d times", name, n)
		}
		if m.Name() != "first" || len(first.Requests()) != 1 {
			t.Errorf("%s: it is %s, asked %d times", name, m.Name(), len(first.Requests()))
		}
		for _, r := range second.Requests() {
			if len(r.Messages[3].Images) != 0 || r.Messages[3].Content != "What is it?\n"+unseen {
				t.Errorf("%s: what can't see was sent %s", name, r.Body)
			}
		}
		if test.kind != 0 && test.asked > 0 && test.by == "" && !strings.Contains(err.Error(), first.URL()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNoFallback(t *testing.T) {
	t.Parallel()
	m, first, second := standing(t)
	first.Queue(llmtest.Fail(503, "", ""))
	if _, err := WithFallback(m.Client, nil).Chat(t.Context(), prompt, nil); KindOf(err) != Server {
		t.Error(err)
	}
	if same := WithFallback(m.Client, New(m.config)); same.fallback != nil {
		t.Error("a model stands in for itself")
	}
	// Whoever has given up wants no other model.
	ctx, cancel := context.WithCancel(t.Context())
	first.Answer(func(llmtest.Request) llmtest.Reply { cancel(); return llmtest.Fail(503, "", "") })
	if reply, err := m.Chat(ctx, prompt, nil); !errors.Is(err, context.Canceled) || reply.Instead != nil {
		t.Errorf("%+v, %v", reply, err)
	}
	if len(second.Requests()) != 0 {
		t.Error("the fallback was asked")
	}
}

// moody is a server that does as told.
type moody struct {
	asked  int
	status int // 0: it is gone
	after  string
}

func (m *moody) RoundTrip(r *http.Request) (*http.Response, error) {
	m.asked++
	if m.status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	body := `{"choices":[{"message":{"content":"well"},"finish_reason":"stop"}]}`
	return &http.Response{StatusCode: m.status, Header: http.Header{"Retry-After": {m.after}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// set are the models one and two at a server, a third there with another key, and far, elsewhere.
func set(servers map[string]*moody, retries int) *Models {
	here := Config{BaseURL: "http://here.invalid/v1", APIKey: "a", Model: "m1", Retries: retries}
	other, far, two := here, here, here
	two.Model, other.APIKey, far.BaseURL = "m2", "b", "http://far.invalid/v1/"
	m := NewModels([]Named{{"One", here}, {"two", two}, {"three", other}, {"far", far}}, nil)
	for name, server := range servers {
		m.ByName(name).http = &http.Client{Transport: server}
	}
	return m
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here, far := &moody{}, &moody{status: 200}
		m := set(map[string]*moody{"one": here, "two": here, "three": here, "far": far}, 0)
		ask := func(name string) error {
			_, err := m.ByName(name).Chat(t.Context(), prompt, nil)
			return err
		}
		for _, name := range []string{"one", "two", "ONE"} {
			if err := ask(name); KindOf(err) != Unreachable {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, name := range []string{"one", "two"} {
			err := ask(name)
			if e, is := errors.AsType[*Error](err); !is || e.Kind != Resting || e.RetryAfter() != 15*time.Second || here.asked != 3 {
				t.Errorf("%s: asked %d times, %v", name, here.asked, err)
			}
			golden.Seen(t, err.Error())
		}
		if err := ask("far"); err != nil {
			t.Error(err)
		}
		if err := ask("three"); KindOf(err) != Unreachable || here.asked != 4 {
			t.Errorf("another key: %v", err)
		}
	})
}

// A server that says for how long it wants no calls gets none for as long. What isn't its fault isn't held
// against it.
func TestBreakerObeysAndForgives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here := &moody{status: 429, after: "120"}
		m := set(map[string]*moody{"one": here}, 2)
		ask := func() error {
			_, err := m.ByName("one").Chat(t.Context(), prompt, nil)
			return err
		}
		if err := ask(); KindOf(err) != RateLimited || here.asked != 1 {
			t.Errorf("asked %d times, %v", here.asked, err)
		}
		time.Sleep(119 * time.Second)
		if err := ask(); KindOf(err) != Resting || here.asked != 1 {
			t.Errorf("asked %d times, %v", here.asked, err)
		}
		time.Sleep(time.Second)
		here.status, here.after = 400, ""
		for range 5 {
			if err := ask(); KindOf(err) != Rejected {
				t.Error(err)
			}
		}
		// Three tries of one question are one failure.
		here.status, here.asked = 503, 0
		if err := ask(); KindOf(err) != Server || here.asked != 3 {
			t.Errorf("asked %d times, %v", here.asked, err)
		}
		here.status = 200
		if err := ask(); err != nil {
			t.Error(err)
		}
	})
}

func TestModels(t *testing.T) {
	t.Parallel()
	m := NewModels(nil, nil)
	if m.Default() != nil || m.ByName("x") != nil || len(m.Names()) != 0 || m.Fallback() != nil {
		t.Errorf("%+v", m)
	}
	small := Config{BaseURL: "http://127.0.0.1:1/v1/", Model: "small", Vision: true}
	m = NewModels([]Named{{"Big one", Config{BaseURL: "http://127.0.0.1:1/v1", Model: "big", Window: 5000,
		MaxTokens: 700}}, {"Small", small}}, &small)
	if m.Default().Name() != "big" || m.ByName("SMALL").Name() != "small" || m.ByName("smal") != nil ||
		!slices.Equal(m.Names(), []string{"Big one", "Small"}) {
		t.Errorf("%+v", m)
	}
	if m.Fallback().Name() != "small" || m.Default().fallback != m.Fallback() || m.ByName("small").fallback != nil {
		t.Error("another model stands in")
	}
	if all, room := m.Default().Window(t.Context()); all != 5000 || room != 4300 || m.Default().Client.CanSee() ||
		!m.Default().CanSee() {
		t.Errorf("window %d, room %d", all, room)
	}
	if all, room := m.Fallback().Window(t.Context()); all != 0 || room != 0 || !m.Fallback().CanSee() {
		t.Errorf("window %d, room %d", all, room)
	}
}

// Each call is told with how it came out, and each time that the fallback is asked; a server that is left
// alone isn't called.
func TestWatch(t *testing.T) {
	t.Parallel()
	first, second := llmtest.New(t), llmtest.New(t)
	first.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Reply{Status: 503} })
	second.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("I stand in") })
	m := NewModels([]Named{{Name: "best", Config: Config{BaseURL: first.URL(), Model: "large"}}},
		&Config{BaseURL: second.URL(), Model: "small"})
	var told []string
	m.Watch(func(model string, took time.Duration, failed error) {
		if took < 0 {
			t.Errorf("took %v", took)
		}
		told = append(told, fmt.Sprint(model, " ", KindOf(failed)))
	}, func(model string) { told = append(told, "instead of "+model) }, nil)
	for range 4 {
		if r, err := m.Default().Chat(t.Context(),
			chat.Request{Messages: []chat.Message{{Role: chat.User, Content: "Hello"}}}, nil); err != nil ||
			r.Text != "I stand in" {
			t.Fatal(r, err)
		}
	}
	want := []string{"large server", "instead of large", "small other"}
	if want := slices.Concat(want, want, want, want[1:]); !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
	clients := m.Clients()
	if len(clients) != 2 || !clients[0].Resting() || clients[1].Resting() || New(Config{}).Resting() {
		t.Errorf("%d clients, of which the first rests, and the second doesn't", len(clients))
	}
}
