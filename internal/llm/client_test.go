package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/internal/chat"
	"hark/internal/golden"
	"hark/internal/llmtest"
)

const (
	secret  = "sk-very-secret"
	private = "the-password-is-swordfish"
)

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// hands are a clock that tests turn by hand.
type hands struct {
	mu     sync.Mutex
	slept  []time.Duration
	resets chan time.Duration
	fire   chan func() // what ends a call, as soon as one begins
	sleep  func() error
}

func (h *hands) clock() clock {
	return clock{
		now: func() time.Time { return start },
		after: func(d time.Duration, f func()) timer {
			select {
			case h.fire <- f:
			default:
			}
			return h
		},
		sleep: func(ctx context.Context, d time.Duration) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.slept = append(h.slept, d)
			if h.sleep != nil {
				return h.sleep()
			}
			return ctx.Err()
		},
		rand: func() float64 { return 0.5 },
	}
}

func (h *hands) Reset(d time.Duration) bool {
	select {
	case h.resets <- d:
	default:
	}
	return true
}

func (h *hands) Stop() bool { return true }

// client asks s, on a clock that stands still.
func client(s *llmtest.Server, change func(*Config)) (*Client, *hands) {
	c := Config{BaseURL: s.URL(), APIKey: secret, Model: "test-model", MaxTokens: 100, Retries: 2}
	if change != nil {
		change(&c)
	}
	h := &hands{fire: make(chan func(), 8), resets: make(chan time.Duration, 1024)}
	k := New(c)
	k.clock = h.clock()
	return k, h
}

var prompt = chat.Request{Messages: []chat.Message{
	{Role: chat.System, Content: "Be kind."},
	{Role: chat.User, Content: private},
	{Role: chat.Assistant, Content: "Noted."},
	{Role: chat.User, Content: "What is it?"},
}}

// talk asks and returns the deltas too.
func talk(t *testing.T, c *Client) (chat.Reply, []string, error) {
	t.Helper()
	var deltas []string
	reply, err := c.Chat(t.Context(), prompt, func(s string) { deltas = append(deltas, s) })
	if text := strings.Join(deltas, ""); text != reply.Text {
		t.Errorf("deltas %q make another text than %q", deltas, reply.Text)
	}
	checkError(t, err)
	return reply, deltas, err
}

// checkError tells whether err is one for people to read.
func checkError(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	for _, s := range []string{secret, private, "swordfish", "%!", "\n"} {
		if strings.Contains(err.Error(), s) {
			t.Errorf("the error holds %q: %v", s, err)
		}
	}
}

func TestChat(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Key(secret))
	s.Queue(llmtest.Reply{
		Events:           append(llmtest.KeepAlive(500), llmtest.Empty, ""),
		ReasoningContent: []string{"secret ", "thought"}, Reasoning: []string{"another"},
		Text: []string{"<th", "ink>hm", "m</thi", "nk>\n\n", "It is", " ", "swordfish", "."},
	})
	c, h := client(s, func(c *Config) { c.Headers = map[string]string{"X-Title": "Hark"} })
	reply, deltas, err := talk(t, c)
	want := chat.Reply{Text: "It is swordfish.", Model: "test-model", FinishReason: "stop", PromptTokens: 7,
		CompletionTokens: 6, Extra: chat.Extra{"reasoning": []byte(`"another"`), "reasoning_content": []byte(`"secret thought"`)}}
	if err != nil || !reflect.DeepEqual(reply, want) {
		t.Errorf("%+v, %v; want %+v", reply, err, want)
	}
	if !slices.Equal(deltas, []string{"It is", " ", "swordfish", "."}) {
		t.Errorf("deltas %q", deltas)
	}
	r := s.Requests()[0]
	if c.Name() != "test-model" || r.Model != "test-model" || !r.Stream || *r.MaxTokens != 100 ||
		r.Temperature != nil ||
		len(r.Messages) != 4 || r.Messages[1].Content != private || r.Header.Get("X-Title") != "Hark" {
		t.Errorf("request %s with %v", r.Body, r.Header)
	}
	if len(s.Requests()) != 1 || len(h.slept) != 0 {
		t.Errorf("%d requests, slept %v", len(s.Requests()), h.slept)
	}
}

// Servers end and write their streams in many ways that are as good as OpenAI's.
func TestDialects(t *testing.T) {
	t.Parallel()
	whole := `{"choices":[{"index":0,"message":{"role":"assistant","content":"It is so."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`
	pretty := strings.ReplaceAll(whole, ",", ",\n  ")
	for name, reply := range map[string]llmtest.Reply{
		"only [DONE]":        {Text: []string{"It is", " so."}, Cut: llmtest.OnlyDone},
		"no [DONE]":          {Text: []string{"It is", " so."}, Cut: llmtest.NoDone},
		"other content type": {Text: []string{"It is so."}, ContentType: "application/octet-stream"},
		"not streamed":       {Body: whole},
		"on several lines":   {Body: pretty},
		"CR LF":              {Body: "\r\n: hi\r\ndata: " + whole + "\r\n\r\ndata: [DONE]\r\n\r\n"},
		"no spaces":          {Body: "event:message\nid:1\nretry:5\ndata:" + whole + "\ndata:[DONE]"},
		"byte order mark":    {Body: "\ufeffdata: " + whole + "\n"},
		"no line end":        {Body: "data: " + whole},
		"unknown lines":      {Body: "data: " + whole + "\nwhatever\n"},
		"unknown events":     {Body: "event: ping\ndata: {\"type\": \"ping\"}\n\ndata: " + whole + "\n"},
		"another choice":     {Body: "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"}}]}\ndata: " + whole},
		"parts": {Body: strings.Replace(whole, `"It is so."`,
			`[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"reasoning","text":"hm"},{"type":"text","text":"It is so."}]`, 1)},
		"refusal":              {Body: strings.Replace(whole, `"content"`, `"content":null,"refusal"`, 1)},
		"null error":           {Body: strings.Replace(whole, `{"choices"`, `{"error":null,"choices"`, 1)},
		"error after its end":  {Body: "data: " + whole + "\n\n", Cut: llmtest.Whole},
		"number where id is":   {Body: strings.Replace(whole, `{"choices"`, `{"id":5,"created":1.5,"choices"`, 1)},
		"empty data":           {Body: "data:\n\ndata: " + whole + "\n"},
		"thinks in its answer": {Text: []string{"It <THINK>hm</Think>is so."}},
	} {
		s := llmtest.New(t)
		s.Queue(reply)
		c, _ := client(s, nil)
		if got, _, err := talk(t, c); err != nil || got.Text != "It is so." || got.FinishReason != "stop" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A break after the last word of an answer doesn't spoil it, nor does a server that then falls silent.
func TestBreakAfterTheEnd(t *testing.T) {
	t.Parallel()
	pause := make(chan struct{})
	defer close(pause)
	s := llmtest.New(t)
	ended := `data: {"choices":[{"index":0,"delta":{"content":"Done."},"finish_reason":"stop"}]}`
	s.Queue(llmtest.Reply{Events: []string{ended, ""}, Cut: llmtest.CutBytes, CutAt: len(ended) + 2},
		llmtest.Reply{Events: []string{ended, ""}, Pause: pause})
	c, h := client(s, nil)
	if reply, _, err := talk(t, c); err != nil || reply.Text != "Done." {
		t.Errorf("%+v, %v", reply, err)
	}
	<-h.fire
	for len(h.resets) > 0 {
		<-h.resets
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if reply, _, err := talk(t, c); err != nil || reply.Text != "Done." {
			t.Errorf("%+v, %v", reply, err)
		}
	}()
	end := <-h.fire
	for d := range h.resets {
		if d == lastWords {
			end()
			break
		}
	}
	<-done
}

func TestCutOff(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]llmtest.Reply{
		"end of file":  {Text: []string{"It is ", "sw"}, Cut: llmtest.NoFinish},
		"connection":   {Text: []string{"It is ", "sw"}, Cut: llmtest.CutBytes, CutAt: 1 << 20},
		"in mid-event": {Text: []string{"It is ", "sw", "ord"}, Cut: llmtest.CutBytes, CutAt: 440},
		"torn, orderly": {Text: []string{"It is ", "sw"},
			After: []string{`data: {"choices":[{"index":0,"de`}, Cut: llmtest.NoFinish},
		"with a tag's start": {Text: []string{"It is ", "sw<th"}, Cut: llmtest.NoFinish},
		"in thought":         {Text: []string{"It is ", "sw<think>secret"}, Cut: llmtest.NoFinish},
	} {
		s := llmtest.New(t)
		if name == "torn, orderly" {
			reply = llmtest.Reply{Body: "data: {\"choices\":[{\"delta\":{\"content\":\"It is sw\"}}]}\n\ndata: {\"choi"}
		}
		s.Queue(reply)
		c, _ := client(s, nil)
		got, _, err := talk(t, c)
		if !errors.Is(err, ErrCutOff) || KindOf(err) != CutOff || !strings.HasPrefix(got.Text, "It is sw") ||
			strings.Contains(got.Text, "secret") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if n := len(s.Requests()); n != 1 {
			t.Errorf("%s: asked %d times after a part of the answer was shown", name, n)
		}
	}
}

// What a filter of the server's left of an answer isn't shown as a whole one.
func TestFilteredInTheMiddle(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	s.Queue(llmtest.Reply{Text: []string{"It is ", "sw"}, Finish: "content_filter"})
	c, _ := client(s, nil)
	got, _, err := talk(t, c)
	if KindOf(err) != BadAnswer || got.Text != "It is sw" || len(s.Requests()) != 1 {
		t.Errorf("%+v, %v, asked %d times", got, err, len(s.Requests()))
	}
}

func TestErrorEvents(t *testing.T) {
	t.Parallel()
	for _, event := range llmtest.ErrorEvents() {
		s := llmtest.New(t)
		pause := make(chan struct{}) // the server says no more: the error must be seen all the same
		bad := llmtest.Reply{Events: append(llmtest.KeepAlive(3), event, ""), Pause: pause}
		s.Queue(bad, llmtest.Say("better"))
		c, _ := client(s, nil)
		if reply, _, err := talk(t, c); err != nil || reply.Text != "better" {
			t.Errorf("%s before all text: %+v, %v", event, reply, err)
		}
		bad = llmtest.Reply{Text: []string{"It is "}, After: []string{event, ""}}
		s.Queue(bad)
		reply, _, err := talk(t, c)
		if e, is := errors.AsType[*Error](err); !is || e.Kind != Server || reply.Text != "It is " || e.Status != 0 && e.Status != 503 {
			t.Errorf("%s after text: %+v, %v", event, reply, err)
		}
		if n := len(s.Requests()); n != 3 {
			t.Errorf("%s: %d requests", event, n)
		}
		close(pause)
	}
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	defer close(hold)
	for _, test := range []struct {
		name  string
		reply llmtest.Reply
		kind  Kind
	}{
		{"before the headers", llmtest.Reply{Hold: hold}, TimedOut},
		{"before the text", llmtest.Reply{Events: []string{": hi"}, Pause: hold}, TimedOut},
		{"amid the text", llmtest.Reply{Text: []string{"It is "}, Pause: hold}, CutOff},
	} {
		s := llmtest.New(t)
		s.Queue(test.reply)
		c, h := client(s, func(c *Config) { c.Timeout = 42 * time.Second })
		shown := make(chan struct{})
		done := make(chan error)
		go func() {
			_, err := c.Chat(t.Context(), prompt, func(string) { close(shown) })
			done <- err
		}()
		end := <-h.fire
		switch test.kind {
		case CutOff:
			<-shown
		default:
			if test.reply.Pause != nil {
				<-h.resets // the headers are there
				<-h.resets // and the comment
			}
		}
		end()
		err := <-done
		checkError(t, err)
		if KindOf(err) != test.kind || !strings.Contains(err.Error(), "42s") ||
			!strings.Contains(err.Error(), "llm.timeout") {
			t.Errorf("%s: %v", test.name, err)
		}
		if len(h.slept) != 0 {
			t.Errorf("%s: tried again", test.name)
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	defer close(hold)
	enough := errors.New("enough")
	s := llmtest.New(t)
	s.Queue(llmtest.Reply{Text: []string{"It is "}, Pause: hold})
	c, _ := client(s, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	reply, err := c.Chat(ctx, prompt, func(string) { cancel(enough) })
	if !errors.Is(err, enough) || KindOf(err) != 0 || reply.Text != "It is " {
		t.Errorf("%+v, %v", reply, err)
	}
	s.Queue(llmtest.Fail(503, "", ""))
	c, h := client(s, nil)
	h.sleep = func() error { return enough }
	if _, _, err = talk(t, c); !errors.Is(err, enough) || KindOf(err) != Server {
		t.Errorf("while waiting: %v", err)
	}
}

func TestRunWild(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	c, _ := client(s, func(c *Config) { c.Retries = 0 })
	var told strings.Builder
	var counted strings.Builder
	for n := range 1 << 16 { // what repeats itself would be cut sooner
		fmt.Fprintf(&counted, "ha%06d", n)
	}
	piece := counted.String()
	part := `data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"` +
		piece + `"}]}]}}]}`
	for _, reply := range []llmtest.Reply{
		llmtest.Say(piece, piece, piece),
		llmtest.Say("<think>", piece, piece, piece),
		{ReasoningContent: []string{piece, piece, piece}, Text: []string{"yes"}},
		{Reasoning: []string{piece, piece, piece}, Text: []string{"yes"}},
		{Events: []string{part, "", part, "", part, ""}, Text: []string{"yes"}},
		{Body: "data: " + strings.Repeat("x", 4<<20+1)},
		{Body: "{\n" + strings.Repeat("\n", 4<<20) + "}"},
	} {
		s.Queue(reply)
		_, err := c.Chat(t.Context(), prompt, nil)
		if KindOf(err) != BadAnswer {
			t.Errorf("%v", err)
		}
		fmt.Fprintln(&told, said(err, s.URL()))
	}
	golden.Seen(t, told.String())
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	h := &hands{}
	var told strings.Builder
	for _, base := range []string{gone.URL + "/v1", strings.Replace(gone.URL, "//", "//user:"+secret+"@", 1) +
		"/v1?key=" + secret, "http://\x7f/v1", ""} {
		c := New(Config{BaseURL: base, APIKey: secret, Model: "m", Retries: 1})
		c.clock = h.clock()
		_, _, err := talk(t, c)
		if KindOf(err) != Unreachable {
			t.Errorf("%q: %v", base, err)
		}
		checkError(t, err)
		fmt.Fprintln(&told, said(err, gone.URL+"/v1"))
	}
	golden.Seen(t, told.String())
	if len(h.slept) != 4 {
		t.Errorf("slept %v", h.slept)
	}
}

// The prompt goes nowhere but where it was meant to go.
func TestRedirect(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	elsewhere := httptest.NewServer(http.RedirectHandler(s.URL()+"/chat/completions", http.StatusTemporaryRedirect))
	defer elsewhere.Close()
	c, _ := client(s, func(c *Config) { c.BaseURL = elsewhere.URL + "/" })
	if _, _, err := talk(t, c); KindOf(err) != BadAnswer ||
		!strings.Contains(err.Error(), "sends us elsewhere") || len(s.Requests()) != 0 {
		t.Errorf("%v, %d requests", err, len(s.Requests()))
	}
}
