package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/chat"
	"hark/internal/llm/failure"
	"hark/internal/llmtest"
)

// Each refusal may be worded differently: it repeats the request, or tells its own number. No more is given up for it
// than must be, the next question costs one request, and where nothing helps, not all forms are tried again.
func TestRefusalsThatDiffer(t *testing.T) {
	t.Parallel()
	for name, words := range map[string]func(n int, r llmtest.Request) string{
		"the request": func(_ int, r llmtest.Request) string { return "this can't be read: " + string(r.Body) },
		"its start": func(_ int, r llmtest.Request) string {
			return "this can't be read: " + string(r.Body)[:len(r.Body)/2]
		},
		"a number": func(n int, _ llmtest.Request) string {
			return fmt.Sprintf("no (request id: req_%x-%d, at 12:%02d:07.5)", 1000*n, n, n)
		},
	} {
		s := llmtest.New(t)
		refuses := func(r llmtest.Request) bool { return strings.HasPrefix(roles(r), "s") }
		n := 0
		s.Answer(func(r llmtest.Request) llmtest.Reply {
			n++
			if !refuses(r) {
				return sayIn(r, "well")
			}
			return llmtest.Fail(400, "", words(n, r))
		})
		c, _ := client(s, nil)
		for range 2 {
			reply, err := c.Chat(t.Context(), round(), nil)
			if err != nil || reply.Text != "well" {
				t.Errorf("%s: %+v, %v", name, reply, err)
			}
		}
		if got := c.habits.known(start); !got.equals(form{joined: true, oneSystem: true}) {
			t.Errorf("%s: %+v", name, got)
		}
		if len(s.Requests()) != 7 {
			t.Errorf("%s: %d requests", name, len(s.Requests()))
		}
		refuses = func(llmtest.Request) bool { return true }
		c, _ = client(s, nil)
		for _, want := range []int{10, 1} {
			before := len(s.Requests())
			_, err := c.Chat(t.Context(), round(), nil)
			if got := len(s.Requests()) - before; KindOf(err) != Rejected || got != want {
				t.Errorf("%s, always: %v after %d requests; want %d", name, err, got, want)
			}
			checkError(t, err)
		}
	}
}

// A server that repeats the request in its refusal says nothing with the words of members.
func TestWordsOfMembersInRefusals(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"The maximum context length is 512 tokens, your prompt is too long",
		"does not support tools", "model not found", "invalid api key", "context size has been exceeded",
		"the function could not be called", "loading model", "tools are not supported, nor are images"} {
		for _, format := range []string{"no: %s", "no: %.200s", "no: %s!"} {
			s := llmtest.New(t)
			s.Answer(func(r llmtest.Request) llmtest.Reply {
				if hasField("stream_options")(r) {
					return llmtest.Fail(400, "", fmt.Sprintf(format, r.Body))
				}
				return llmtest.Say("well")
			})
			c, _ := client(s, nil)
			long := chat.Message{Role: chat.User, Content: words + strings.Repeat(" "+words, 100)}
			reply, err := c.Chat(t.Context(), chat.Request{Messages: []chat.Message{long}, Tools: []chat.Tool{search}}, nil)
			if err != nil || reply.Text != "well" || len(s.Requests()) != 2 {
				t.Errorf("%q: %+v, %v after %d requests", words, reply, err, len(s.Requests()))
			}
		}
	}
}

// Without its name, another model might answer.
func TestTheModelIsAlwaysNamed(t *testing.T) {
	t.Parallel()
	for _, reply := range []llmtest.Reply{llmtest.Fail(400, "", "Invalid value for parameter 'model'"),
		{Status: 422, Body: `{"detail":[{"loc":["body","model"],"msg":"unknown"}]}`},
		{Status: 400, Body: `{"error":{"message":"This is no chat model","param":"model"}}`}} {
		s := llmtest.New(t)
		s.Answer(func(llmtest.Request) llmtest.Reply { return reply })
		c, _ := client(s, nil)
		_, err := c.Chat(t.Context(), round(), nil)
		if err == nil {
			t.Error("there is an answer")
		}
		for _, r := range s.Requests() {
			if r.Model != "test-model" {
				t.Fatalf("%s", r.Body)
			}
		}
	}
}

// Hark itself tells servers at times not to think. One that refuses that without naming it is asked without.
func TestThinkingIsLeftOut(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	s.Answer(func(r llmtest.Request) llmtest.Reply {
		if hasField("chat_template_kwargs")(r) {
			return llmtest.Fail(400, "", "no")
		}
		return sayIn(r, "well")
	})
	c, _ := client(s, nil)
	request := round()
	request.Brief = true
	for _, want := range []int{5, 6} {
		reply, err := c.Chat(t.Context(), request, nil)
		if err != nil || reply.Text != "well" || len(s.Requests()) != want {
			t.Errorf("%+v, %v after %d requests; want %d", reply, err, len(s.Requests()), want)
		}
	}
}

// The names of fields that a server puts beside messages may be anybody's words.
func TestStrangeNamesAreNotTold(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	s.Queue(llmtest.Fail(400, "", "unknown field '"+private+" is it'"), llmtest.Say("well"))
	c, _ := client(s, nil)
	request := round()
	request.Messages[3].Extra = chat.Extra{private + " is it": []byte("1"), "reasoning_content": []byte(`"hm"`)}
	reply, err := c.Chat(t.Context(), request, nil)
	if err != nil || reply.Text != "well" || strings.Contains(string(s.Requests()[1].Body), private) {
		t.Errorf("%+v, %v", reply, err)
	}
	if told := c.Learned(); len(told) != 1 || strings.Contains(told[0], private) {
		t.Errorf("told %q", told)
	}
}

// What a question learns isn't lost to one that began before and ended after it.
func TestFormsAddUp(t *testing.T) {
	t.Parallel()
	h := habits{}
	first := h.begin(start)
	second := h.begin(start)
	third := h.begin(start)
	first.ladder.form = form{}.omit("stream_options")
	second.ladder.form = form{joined: true}.omit("stream_options").omit("temperature")
	if told := h.keep(first, start); len(told) != 1 {
		t.Errorf("told %q", told)
	}
	if told := h.keep(second, start); len(told) != 2 {
		t.Errorf("told %q", told)
	}
	if told := h.keep(third, start); told != nil {
		t.Errorf("told %q", told)
	}
	if got := h.known(start); !got.equals(form{joined: true}.omit("stream_options").omit("temperature")) {
		t.Errorf("%+v", got)
	}
}

// A model that gives nothing, and has tools, is asked without them at last.
func TestEmptyAnswersWithTools(t *testing.T) {
	t.Parallel()
	for _, reply := range []llmtest.Reply{{}, {Tools: []llmtest.ToolCall{{ID: "1"}}}} {
		s := llmtest.New(t)
		s.Answer(func(r llmtest.Request) llmtest.Reply {
			if len(r.Tools) > 0 {
				return reply
			}
			return llmtest.Say("well")
		})
		c, _ := client(s, nil)
		got, err := c.Chat(t.Context(), armed(), nil)
		if err != nil || got.Text != "well" || len(s.Requests()) != 3 || !c.TakesTools() {
			t.Errorf("%+v, %v after %d requests", got, err, len(s.Requests()))
		}
		if told := c.Learned(); !slices.Equal(told, []string{vainTools}) {
			t.Errorf("told %q", told)
		}
	}
}

// A server that signs its model's calls is examined with one that it signed.
func TestExamineGivesCallsBack(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	s.Answer(func(r llmtest.Request) llmtest.Reply {
		switch {
		case !strings.Contains(roles(r), "t"):
			call := `{"index":0,"id":"x","function":{"name":"current_time","arguments":"{}"},"signature":"s"}`
			return llmtest.Reply{
				Body:        string(streamOf("tool_calls", `{"tool_calls":[`+call+`]}`)),
				ContentType: "text/event-stream",
			}
		case !strings.Contains(string(r.Body), `"signature":"s"`):
			return llmtest.Fail(400, "", "a signature is missing")
		}
		return llmtest.Say("well")
	})
	c, _ := client(s, nil)
	_, err := c.Examine(t.Context())
	if err != nil || len(c.Learned()) > 0 || len(s.Requests()) != 2 {
		t.Errorf("%v, learned %q, %d requests", err, c.Learned(), len(s.Requests()))
	}
}

// A request can be sent again over a new connection if the server closed the old one.
func TestRequestsCanBeSentAgain(t *testing.T) {
	t.Parallel()
	c := New(Config{BaseURL: "http://model.invalid/v1", Model: "test-model"})
	c.clock = (&hands{}).clock()
	c.http = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		first, err := io.ReadAll(r.Body)
		if err != nil || r.GetBody == nil {
			t.Fatalf("%v, no body for a second time: %t", err, r.GetBody == nil)
		}
		body, err := r.GetBody()
		if err != nil {
			t.Fatal(err)
		}
		second, err := io.ReadAll(body)
		if err != nil || !bytes.Equal(first, second) || len(first) == 0 {
			t.Errorf("%s, then %s, %v", first, second, err)
		}
		return wire{body: streamOf("stop", `{"content":"well"}`)}.RoundTrip(r)
	})}
	reply, err := c.Chat(t.Context(), prompt, nil)
	if err != nil || reply.Text != "well" {
		t.Errorf("%+v, %v", reply, err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Signs of life alone keep a call alive for a while, and then not.
func TestNothingButSignsOfLife(t *testing.T) {
	t.Parallel()
	const signs = 3 * patience
	c := New(Config{BaseURL: "http://model.invalid/v1", Model: "test-model", Timeout: time.Second})
	h := &hands{resets: make(chan time.Duration, 2*signs)}
	c.clock = h.clock()
	now := start
	c.clock.now = func() time.Time { return now }
	sent := 0
	body := pings(func() bool {
		sent++
		now = now.Add(time.Second)
		return sent <= signs
	})
	c.http = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(body), Request: r}, nil
	})}
	_, err := c.Chat(t.Context(), prompt, nil)
	if KindOf(err) != CutOff || len(h.resets) < patience-1 || len(h.resets) > patience+1 {
		t.Errorf("%v after %d times more time", err, len(h.resets))
	}
}

// pings is a body of comments, each as long as it says that there is another.
type pings func() bool

func (p pings) Read(to []byte) (int, error) {
	if !p() {
		return 0, io.EOF
	}
	return copy(to, ": hi\n"), nil
}

// What a server lists as a window may be anything.
func TestStrangeWindows(t *testing.T) {
	t.Parallel()
	for _, said := range []string{`"NaN"`, "1e300", "-5", "0", "1", "[1]", "null", `"many"`, "255"} {
		s := llmtest.New(t, llmtest.Also("/v1/models", `{"data":[{"id":"test-model","context_length":`+said+`}]}`),
			llmtest.Also("/props", `{"default_generation_settings":{"n_ctx":`+said+`}}`))
		c, _ := client(s, nil)
		all, room := c.Window(t.Context())
		if all != 0 || room != 0 {
			t.Errorf("%s: %d, %d", said, all, room)
		}
	}
	s := llmtest.New(t)
	s.Queue(llmtest.Fail(400, "", "This model's maximum context length is 1 tokens."), llmtest.Say("well"))
	c, _ := client(s, nil)
	_, err := c.Chat(t.Context(), prompt, nil)
	if KindOf(err) != TooLong {
		t.Error(err)
	}
	_, err = c.Chat(t.Context(), prompt, nil)
	last := s.Requests()[1]
	if err != nil || *last.MaxTokens != 100 {
		t.Errorf("%v, %s", err, last.Body)
	}
}

// Refusals for length in the words of other servers.
func TestMayBeTooLong(t *testing.T) {
	t.Parallel()
	long := chat.Request{Messages: []chat.Message{{Role: chat.User, Content: strings.Repeat("hm ", largePrompt)}}}
	for words, want := range map[string]Kind{
		"Prompt is too large. Please shorten it.": TooLong,
		"Please shorten your messages":            TooLong,
		"输入长度超过模型最大上下文长度 1024":                    TooLong,
		"Prompt 超长":                   TooLong,
		"Eingabe zu lang: 6000 Token": TooLong,
		"too many tools":              Rejected,
	} {
		s := llmtest.New(t)
		s.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Fail(400, "", words) })
		c, _ := client(s, nil)
		_, err := c.Chat(t.Context(), long, nil)
		if KindOf(err) != want {
			t.Errorf("%s: %v", words, err)
		}
	}
}

// A field that is refused is found in the ways in which servers name several.
func TestNamedFields(t *testing.T) {
	t.Parallel()
	sent := []string{"model", "n", "stop", "stream", "temperature", "top_p"}
	for words, want := range map[string]string{
		"unknown fields: stop, temperature":            "temperature",
		"unknown parameters model and stop":            "model",
		"unknown properties n, stop":                   "stop",
		"there is no way to stop":                      "",
		"invalid: {\"messages\":[],\"temperature\":1}": "",
	} {
		body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": words}})
		f, is := failure.Read(body)
		if got := f.Named(sent); got != want || !is {
			t.Errorf("%s: %q; want %q", words, got, want)
		}
	}
}
