package llmtest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// witness is a test that may fail.
type witness struct {
	testing.TB
	mu     sync.Mutex
	failed []string
	end    func() // set by Cleanup
}

func (w *witness) Cleanup(f func()) {
	w.end = sync.OnceFunc(f)
	w.TB.Cleanup(w.end)
}

func (w *witness) Errorf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = append(w.failed, fmt.Sprintf(format, args...))
}

// post sends body and returns what came, as far as it came.
func post(t *testing.T, s *Server, path, body string) (*http.Response, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+path, strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("Authorization", "Bearer k")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	return resp, string(all), err
}

func ask(stream bool) string {
	return fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"how are you"}],"stream":%t%s}`, stream,
		map[bool]string{true: `,"stream_options":{"include_usage":true}`}[stream])
}

const chatPath = "/chat/completions"

// data are the events of a stream, decoded as far as tests need.
type data struct {
	Choices []struct {
		Delta struct {
			Role, Content, Reasoning string
			ReasoningContent         string `json:"reasoning_content"`
			ToolCalls                []struct {
				Index    int
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		FinishReason *string `json:"finish_reason"`
	}
	Usage *struct {
		Total int `json:"total_tokens"`
	}
}

func events(t *testing.T, stream string) (all []data, done bool) {
	t.Helper()
	for lines := bufio.NewScanner(strings.NewReader(stream)); lines.Scan(); {
		event, ok := strings.CutPrefix(lines.Text(), "data: ")
		if event == "[DONE]" {
			return all, true
		} else if ok {
			var d data
			if err := json.Unmarshal([]byte(event), &d); err != nil {
				t.Errorf("%s: %v", event, err)
			}
			all = append(all, d)
		}
	}
	return all, false
}

func TestStream(t *testing.T) {
	t.Parallel()
	s := New(t, Key("k"))
	s.Queue(Reply{
		Events: append(KeepAlive(2), Empty, ""), ReasoningContent: []string{"a"}, Reasoning: []string{"b"}, Text: []string{"Fine, ", "thanks"},
		Tools: []ToolCall{{ID: "1", Name: "f", Arguments: []string{`{"x":`, `1}`}}, {ID: "2", Name: "g"}},
	})
	resp, body, err := post(t, s, chatPath, ask(true))
	if err != nil || resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatal(resp, err)
	}
	if !strings.HasPrefix(body, ": keep-alive\n\n: keep-alive\n\n"+Empty) {
		t.Errorf("the stream begins %.60q", body)
	}
	all, done := events(t, body)
	var text, reasoning, calls, finish string
	total := 0
	for _, d := range all {
		if d.Usage != nil {
			total = d.Usage.Total
		}
		for _, c := range d.Choices {
			text += c.Delta.Content
			reasoning += c.Delta.ReasoningContent + c.Delta.Reasoning
			for _, call := range c.Delta.ToolCalls {
				calls += fmt.Sprint(call.Index, call.ID, call.Function.Name, call.Function.Arguments, ";")
			}
			if c.FinishReason != nil {
				finish += *c.FinishReason
			}
		}
	}
	if text != "Fine, thanks" || reasoning != "ab" || calls != `01f;0{"x":;01};12g;` || finish != "tool_calls" || total != 6 || !done {
		t.Errorf("text %q, reasoning %q, calls %s, finish %q, %d tokens, done %t", text, reasoning, calls, finish, total, done)
	}
}

func TestWhole(t *testing.T) {
	t.Parallel()
	s := New(t)
	s.Answer(func(r Request) Reply {
		return Reply{Text: []string{"You said: ", r.Last()}, Reasoning: []string{"hm"}, Tools: []ToolCall{{"1", "f", []string{"{", "}"}}}}
	})
	s.Queue(Reply{Text: []string{"first"}, Finish: "length"})
	for _, want := range []string{`"content":"first"`, `"content":"You said: how are you"`} {
		resp, body, err := post(t, s, chatPath, ask(false))
		if err != nil || resp.StatusCode != 200 || !strings.Contains(body, want) || !json.Valid([]byte(body)) {
			t.Errorf("%s, %v; want %s", body, err, want)
		}
	}
	_, body, _ := post(t, s, chatPath, ask(false))
	for _, want := range []string{`"arguments":"{}"`, `"reasoning_content":"hm"`, `"finish_reason":"tool_calls"`, `"prompt_tokens":3`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s lacks %s", body, want)
		}
	}
	if r := s.Requests(); len(r) != 3 || r[2].Prompt() != "how are you" || r[2].Path != "/v1/chat/completions" {
		t.Errorf("requests %+v", r)
	}
}

func TestCuts(t *testing.T) {
	t.Parallel()
	s := New(t)
	for cut, want := range map[Cut]struct{ finish, done, torn bool }{
		Whole: {true, true, false}, NoFinish: {}, OnlyDone: {done: true}, NoDone: {finish: true}, CutBytes: {torn: true},
	} {
		s.Queue(Reply{Text: []string{"some text"}, Cut: cut, CutAt: 1 << 20})
		_, body, err := post(t, s, chatPath, ask(true))
		if strings.Contains(body, `"finish_reason":"stop"`) != want.finish || strings.Contains(body, "[DONE]") != want.done || (err != nil) != want.torn {
			t.Errorf("cut %d: %q, %v", cut, body, err)
		}
		if !strings.Contains(body, "some text") {
			t.Errorf("cut %d: %q", cut, body)
		}
	}
	for at := range 40 {
		s.Queue(Reply{Text: []string{"some text"}, Cut: CutBytes, CutAt: at})
		if _, body, err := post(t, s, chatPath, ask(true)); len(body) != at || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut at %d: %q, %v", at, body, err)
		}
	}
	s.Queue(Reply{Cut: Reset})
	if _, _, err := post(t, s, chatPath, ask(true)); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
		t.Errorf("reset: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := New(t)
	for _, test := range []struct {
		reply  Reply
		status int
		want   string
		after  string
	}{
		{TooLong(), 400, `"context_length_exceeded"`, ""},
		{RateLimited(7 * time.Second), 429, `"rate_limit_exceeded"`, "7"},
		{RateLimitedUntil(time.Date(2026, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600))), 429, "", "Wed, 31 Dec 2025 23:00:00 GMT"},
		{Page(502), 502, "<html>", ""},
		{Page(200), 200, "<html>", ""},
		{Fail(500, "x", "é\x01\""), 500, `é\u0001\"`, ""},
		{Reply{Text: []string{"x"}, ContentType: "text/plain"}, 200, "data: ", ""},
		{Reply{Status: 503}, 503, "data: ", ""},
	} {
		s.Queue(test.reply)
		resp, body, err := post(t, s, chatPath, ask(true))
		if err != nil || resp.StatusCode != test.status || !strings.Contains(body, test.want) || resp.Header.Get("Retry-After") != test.after {
			t.Errorf("%v %s, %v; want %v", resp, body, err, test)
		}
		if want := test.reply.ContentType; want != "" && resp.Header.Get("Content-Type") != want {
			t.Errorf("content type %q; want %q", resp.Header.Get("Content-Type"), want)
		}
	}
}

// A held reply waits for the test, and nobody waits for it when the client or the test is gone.
func TestHold(t *testing.T) {
	t.Parallel()
	hold, pause := make(chan struct{}), make(chan struct{})
	s := New(t)
	s.Queue(Reply{Hold: hold, Text: []string{"now"}, Pause: pause, After: []string{": then"}})
	done := make(chan string)
	go func() {
		_, body, _ := post(t, s, chatPath, ask(true))
		done <- body
	}()
	close(hold)
	select {
	case body := <-done:
		t.Errorf("the reply came before its pause ended: %s", body)
	default:
	}
	close(pause)
	if body := <-done; !strings.Contains(body, "now") || !strings.Contains(body, ": then\n") {
		t.Errorf("%s", body)
	}
}

// A test that ends lets go of what is held.
func TestEndLetsGo(t *testing.T) {
	t.Parallel()
	w := &witness{TB: t}
	s := New(w)
	held := make(chan struct{})
	s.Answer(func(Request) Reply {
		held <- struct{}{}
		return Reply{Hold: make(chan struct{})}
	})
	done := make(chan struct{})
	go func() {
		post(t, s, chatPath, ask(true))
		done <- struct{}{}
	}()
	<-held
	s.Queue(Reply{Text: []string{"x"}, Pause: make(chan struct{})})
	s.QueueEmbeddings(Held)
	go func() {
		post(t, s, chatPath, ask(true))
		post(t, s, "/embeddings", `{"model":"m","input":"one"}`)
		done <- struct{}{}
	}()
	w.end()
	<-done
	<-done
}

func TestInvalidRequests(t *testing.T) {
	t.Parallel()
	message := `"messages":[{"role":"user","content":"x"}]`
	for body, want := range map[string]string{
		`{`:                 "unexpected end",
		`{` + message + `}`: "no model",
		`{"model":"m"}`:     "no messages",
		`{"model":"m","messages":[{"role":"bot","content":"x"}]}`:                `role "bot"`,
		`{"model":"m","messages":[{"role":"tool","content":"x"}]}`:               "wasn't made",
		`{"model":"m","messages":[{"role":"user","content":""}]}`:                "last message is empty",
		`{"model":"m",` + message + `,"max_tokens":1,"max_completion_tokens":1}`: "beside",
		`{"model":"m",` + message + `,"max_tokens":0}`:                           "0 tokens",
		`{"model":"m",` + message + `,"max_completion_tokens":-1}`:               "-1 tokens",
		`{"model":"m",` + message + `,"temperature":2.5}`:                        "temperature 2.5",
		`{"model":"m",` + message + `,"stream_options":{}}`:                      "without stream",
	} {
		w := &witness{TB: t}
		s := New(w)
		resp, answer, err := post(t, s, chatPath, body)
		if err != nil || resp.StatusCode != 400 || len(w.failed) != 1 || !strings.Contains(w.failed[0], want) || len(s.Requests()) != 1 {
			t.Errorf("%s: %s, %v, failures %q; want %q", body, answer, err, w.failed, want)
		}
	}
	for body, want := range map[string]string{
		`{"model":"m","input":[]}`:                  "0 inputs",
		`{"model":"m","input":["x"," "]}`:           "input 1 is empty",
		`{"model":"m","input":"x","dimensions":-1}`: "dimensions -1",
		`{"model":"m","input":5}`:                   "cannot unmarshal",
	} {
		w := &witness{TB: t}
		if resp, _, err := post(t, New(w), "/embeddings", body); err != nil || resp.StatusCode != 400 || len(w.failed) != 1 || !strings.Contains(w.failed[0], want) {
			t.Errorf("%s: %v, failures %q; want %q", body, err, w.failed, want)
		}
	}
	w := &witness{TB: t}
	if resp, _, _ := post(t, New(w), chatPath, ask(true)); resp.StatusCode != 500 || len(w.failed) != 1 || !strings.Contains(w.failed[0], "nothing was scripted") {
		t.Errorf("an unscripted call: %q", w.failed)
	}
	resp, err := http.Post(New(w).URL()+chatPath, "text/plain", strings.NewReader(ask(true)))
	if err != nil || resp.StatusCode != 400 {
		t.Errorf("plain text: %v, %v", resp, err)
	}
	resp.Body.Close()
}

func TestModels(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		options []Option
		status  int
		want    string
	}{
		{nil, 200, `{"data":[{"id":"test-model","object":"model"}],"object":"list"}`},
		{[]Option{Models("a", "b")}, 200, `"id":"b"`},
		{[]Option{NoModelList()}, 404, "unknown_url"},
		{[]Option{Key("x")}, 401, "invalid_api_key"},
	} {
		resp, err := http.Get(New(t, test.options...).URL() + "/models")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != test.status || !strings.Contains(string(body), test.want) {
			t.Errorf("%d %s; want %d %s", resp.StatusCode, body, test.status, test.want)
		}
	}
	s := New(t, Models("a"))
	if resp, body, _ := post(t, s, chatPath, ask(true)); resp.StatusCode != 404 || !strings.Contains(body, "model_not_found") {
		t.Errorf("an unknown model: %s", body)
	}
	if resp, _, _ := post(t, s, "/nowhere", "{}"); resp.StatusCode != 404 {
		t.Errorf("an unknown path: %d", resp.StatusCode)
	}
}
