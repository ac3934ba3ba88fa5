package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/internal/chat"
	"hark/internal/endpoint"
	"hark/internal/golden"
	"hark/internal/llmtest"
)

// fields are those of a request.
func fields(r llmtest.Request) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(r.Body, &all)
	return all
}

// roles are those of a request's messages, by their first letters.
func roles(r llmtest.Request) string {
	var all strings.Builder
	for _, m := range r.Messages {
		all.WriteByte(m.Role[0])
	}
	return all.String()
}

// taking are servers that refuse what they don't take, in their own words or in words that say nothing.
var taking = []struct {
	name   string
	refuse func(r llmtest.Request) bool
	reply  llmtest.Reply
	first  int // requests of the first question
}{
	{"a field that it names", hasField("stream_options"),
		llmtest.Fail(400, "invalid_request_error", "the field stream_options isn't known here"), 2},
	{"a field that it names in detail", hasField("stream_options"), llmtest.Reply{Status: 422,
		Body: `{"object":"error","message":{"detail":[{"loc":["body","stream_options"],"msg":"not permitted","input":{"max_tokens":5}}]}}`}, 2},
	{"a field, without its name", hasField("stream_options"), llmtest.Fail(400, "", "no"), 2},
	{"a field of the operator's", hasField("top_k"), llmtest.Fail(400, "", "property 'top_k' is unsupported"), 2},
	{"two fields, one after another", func(r llmtest.Request) bool {
		return hasField("stream_options")(r) || hasField("temperature")(r)
	}, llmtest.Reply{}, 3},
	{"max_tokens, and wants the other", hasField("max_tokens"), llmtest.Fail(400, "unsupported_parameter",
		"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."), 2},
	{"max_tokens, without its name", hasField("max_tokens"), llmtest.Fail(400, "", "no"), 3},
	{"temperature", hasField("temperature"), llmtest.Fail(400, "unsupported_value",
		"Unsupported value: 'temperature' does not support 0.2 with this model."), 2},
	{"roles that don't take turns", func(r llmtest.Request) bool { return strings.Contains(roles(r), "uu") },
		llmtest.Reply{Status: 500, Body: `{"error":{"code":500,"message":"roles must take turns"}}`}, 6},
	{"a system message", func(r llmtest.Request) bool { return strings.HasPrefix(roles(r), "s") },
		llmtest.Fail(400, "", "System role not supported"), 6},
	{"a system message, and roles that don't take turns", func(r llmtest.Request) bool {
		return strings.HasPrefix(roles(r), "s") || strings.Contains(roles(r), "uu")
	}, llmtest.Fail(400, "", "no"), 6},
	{"streams", func(r llmtest.Request) bool { return r.Stream }, llmtest.Fail(415, "", "no"), 8},
	{"calls", func(r llmtest.Request) bool { return strings.Contains(roles(r), "t") }, llmtest.Fail(400, "", "no"), 7},
	{"a field, with the status of a long prompt", hasField("stream_options"), llmtest.Fail(413, "", "unknown field: stream_options"), 2},
	{"a field, with another status", hasField("temperature"), llmtest.Fail(409, "", "unknown field `temperature`"), 2},
	{"two fields, both named", func(r llmtest.Request) bool {
		return hasField("stream_options")(r) || hasField("temperature")(r)
	}, llmtest.Fail(400, "", "unknown fields: stream_options, temperature"), 3},
	{"two things in words that say nothing", func(r llmtest.Request) bool {
		return r.Stream || strings.Contains(roles(r), "uu")
	}, llmtest.Fail(400, "", "no"), 10},
}

func hasField(name string) func(llmtest.Request) bool {
	return func(r llmtest.Request) bool {
		_, has := fields(r)[name]
		return has
	}
}

// round is a request amid an answer: several users, a call and its outcome, a tool.
func round() chat.Request {
	cool := 0.2
	return chat.Request{Tools: []chat.Tool{search}, Temperature: &cool, Messages: []chat.Message{
		{Role: chat.System, Content: "Be kind."},
		{Role: chat.User, Content: "Jane: hello"},
		{Role: chat.User, Content: "Tom: when is it?"},
		{Role: chat.Assistant, Calls: []chat.Call{{ID: "123456789", Name: search.Name, Arguments: `{"query":"it"}`}}},
		{Role: chat.FromTool, CallID: "123456789", Content: "Jane: on Friday"},
	}}
}

// A server that refuses a request is asked with less; what helped is remembered, and told once.
func TestServersThatRefuse(t *testing.T) {
	t.Parallel()
	var learned strings.Builder
	for _, test := range taking {
		s := llmtest.New(t)
		s.Answer(func(r llmtest.Request) llmtest.Reply {
			switch {
			case !test.refuse(r):
				return sayIn(r, "On Friday.")
			case test.reply.Status == 0 && hasField("stream_options")(r):
				return llmtest.Fail(400, "", "unknown field stream_options")
			case test.reply.Status == 0:
				return llmtest.Fail(400, "", "unknown field `temperature`")
			}
			return test.reply
		})
		var told []string
		c, h := client(s, func(c *Config) {
			c.Extra = map[string]any{"top_k": 20}
			c.Learned = func(_, what string) { told = append(told, what) }
		})
		request := round()
		for _, want := range []int{test.first, test.first + 1} {
			reply, err := c.Chat(t.Context(), request, nil)
			if err != nil || reply.Text != "On Friday." || len(s.Requests()) != want {
				t.Errorf("%s: %+v, %v after %d requests; want %d", test.name, reply, err, len(s.Requests()), want)
			}
		}
		if !slices.Equal(told, c.Learned()) {
			t.Errorf("%s: told %q, learned %q", test.name, told, c.Learned())
		}
		if len(h.slept) > 1 {
			t.Errorf("%s: slept %v", test.name, h.slept)
		}
		fmt.Fprintf(&learned, "%s: %s, %s\n", test.name, roles(s.Requests()[len(s.Requests())-1]), strings.Join(told, "; "))
	}
	golden.Seen(t, learned.String())
}

// sayIn answers as it was asked: streamed, or in one piece.
func sayIn(r llmtest.Request, text string) llmtest.Reply {
	if r.Stream {
		return llmtest.Say(text)
	}
	return llmtest.Reply{Body: fmt.Sprintf(`{"choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]}`, text)}
}

// What helped against a server that failed may not be needed any more.
func TestFormsOfAFailingServerAreForgotten(t *testing.T) {
	t.Parallel()
	h := habits{}
	now := start
	failing := h.begin(now)
	failing.flawed = true
	failing.ladder.form = form{joined: true}
	if told := h.keep(failing, now); len(told) != 1 || !h.known(now.Add(flawFor)).joined {
		t.Errorf("told %q, known %+v", told, h.known(now))
	}
	if f := h.known(now.Add(flawFor + 1)); !f.equals(form{}) {
		t.Errorf("%+v", f)
	}
}

// Where nothing helps, the first refusal is told, and the next question isn't asked in all forms again.
func TestServersThatRefuseAll(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	s.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Fail(400, "", "no") })
	c, _ := client(s, nil)
	for i, want := range []int{10, 11} {
		_, err := c.Chat(t.Context(), round(), nil)
		if KindOf(err) != Rejected || len(s.Requests()) != want {
			t.Errorf("question %d: %v after %d requests; want %d", i, err, len(s.Requests()), want)
		}
	}
	if got := c.Learned(); got != nil {
		t.Errorf("learned %q", got)
	}
}

// A server gets back what it put beside a message and its calls.
func TestServersGetBackWhatIsTheirs(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	call := `{"index":0,"id":"x","function":{"name":"search_memory","arguments":"{}","note":"n"},"extra_content":{"google":{"thought_signature":"c2ln"}}}`
	s.Queue(llmtest.Reply{Body: string(streamOf("tool_calls",
		`{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"Let "}]}`,
		`{"reasoning_content":"hm, ","reasoning_details":[{"type":"reasoning.text","index":0,"text":"me see","signature":"s"}]}`,
		`{"reasoning_content":"well","tool_calls":[`+call+`]}`)), ContentType: "text/event-stream"}, llmtest.Say("well"))
	c, _ := client(s, nil)
	reply, err := c.Chat(t.Context(), round(), nil)
	if err != nil || len(reply.Calls) != 1 {
		t.Fatalf("%+v, %v", reply, err)
	}
	request := round()
	request.Messages = append(request.Messages, chat.Message{Role: chat.Assistant, Calls: reply.Calls, Extra: reply.Extra},
		chat.Message{Role: chat.FromTool, CallID: reply.Calls[0].ID, Content: "well"})
	if _, err := c.Chat(t.Context(), request, nil); err != nil {
		t.Fatal(err)
	}
	var sent struct{ Messages []map[string]json.RawMessage }
	if err := json.Unmarshal(s.Requests()[1].Body, &sent); err != nil {
		t.Fatal(err)
	}
	m := sent.Messages[5]
	id := reply.Calls[0].ID
	for name, want := range map[string]string{
		"role": `"assistant"`, "content": `null`, "reasoning_content": `"hm, well"`,
		"reasoning_details": `[{"index":0,"signature":"s","text":"Let me see","type":"reasoning.text"}]`,
		"tool_calls": `[{"extra_content":{"google":{"thought_signature":"c2ln"}},"function":{"arguments":"{}","name":"search_memory","note":"n"},"id":"` +
			id + `","type":"function"}]`,
	} {
		if string(m[name]) != want {
			t.Errorf("%s: %s; want %s", name, m[name], want)
		}
	}
	if len(m) != 5 {
		t.Errorf("fields %q", slices.Sorted(maps.Keys(m)))
	}
}

// What the server can't read of its model's words is written once more, and then without tools. It isn't the server's
// failure, and isn't remembered.
func TestWordsThatAServerCannotRead(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]llmtest.Reply{
		"Groq": llmtest.Fail(400, "tool_use_failed", "the function could not be called"),
		"llama.cpp": llmtest.Fail(500, "server_error",
			"The model produced output that does not match the expected peg-native format"),
		"llama.cpp, in the stream": {Events: []string{`data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}`, "",
			`data: {"error":{"code":500,"message":"The model produced output that does not match the expected peg-native format","type":"server_error"}}`, ""}},
		"llama.cpp, grammar": llmtest.Fail(500, "server_error", "Unexpected empty grammar stack after accepting piece: x"),
	} {
		s := llmtest.New(t)
		s.Answer(func(r llmtest.Request) llmtest.Reply {
			if len(r.Tools) > 0 {
				return reply
			}
			return llmtest.Say("well")
		})
		c, h := client(s, nil)
		for _, want := range []int{3, 6} {
			reply, err := c.Chat(t.Context(), round(), nil)
			if err != nil || reply.Text != "well" || len(s.Requests()) != want {
				t.Errorf("%s: %+v, %v after %d requests; want %d", name, reply, err, len(s.Requests()), want)
			}
		}
		if len(h.slept) != 0 || c.Resting() || !c.TakesTools() {
			t.Errorf("%s: slept %v", name, h.slept)
		}
	}
}

// A server that has too much to write at once is asked again when the others have ended.
func TestServersThatAreCrowded(t *testing.T) {
	t.Parallel()
	const full = `data: {"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`
	s := llmtest.New(t)
	var mu sync.Mutex
	running, most := 0, 0
	both := make(chan struct{})
	asked := 0
	s.Answer(func(llmtest.Request) llmtest.Reply {
		mu.Lock()
		asked++
		running++
		most = max(most, running)
		first := asked <= 2
		if asked == 2 {
			close(both)
		}
		mu.Unlock()
		if first {
			<-both // two are under way
		}
		mu.Lock()
		defer mu.Unlock()
		running--
		if first {
			return llmtest.Reply{Events: []string{full, ""}}
		}
		return llmtest.Say("well")
	})
	c, _ := client(s, func(c *Config) { c.AtOnce = 2 })
	done := make(chan error)
	for i := range 2 {
		go func() {
			r := prompt
			r.Tenant = uint64(i)
			reply, err := c.Chat(t.Context(), r, nil)
			if err == nil && reply.Text != "well" {
				err = fmt.Errorf("%+v", reply)
			}
			done <- err
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := c.config.Queue.AtOnce(); n != 1 || asked != 4 || c.Resting() {
		t.Errorf("%d at once after %d requests", n, asked)
	}
	// One that was alone is too long.
	s.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Reply{Events: []string{full, ""}} })
	if _, err := c.Chat(t.Context(), prompt, nil); KindOf(err) != TooLong {
		t.Error(err)
	}
	// Where text was out already, nothing is asked again.
	s.Answer(func(llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Text: []string{"The dead"}, After: []string{full, ""}}
	})
	before := len(s.Requests())
	reply, err := c.Chat(t.Context(), prompt, nil)
	if KindOf(err) != Crowded || reply.Text != "The dead" || len(s.Requests()) != before+1 {
		t.Errorf("%+v, %v", reply, err)
	}
}

// A waiting call isn't sent, and its time doesn't run.
func TestCallsWaitInTheQueue(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	hold := make(chan struct{})
	s.Queue(llmtest.Reply{Hold: hold, Text: []string{"one"}}, llmtest.Say("two"))
	c, h := client(s, nil) // at 127.0.0.1, so one at a time
	done := make(chan string)
	ask := func(ctx context.Context) {
		reply, _ := c.Chat(ctx, prompt, nil)
		done <- reply.Text
	}
	go ask(t.Context())
	<-h.fire
	ctx, cancel := context.WithCancel(t.Context())
	go ask(ctx)
	cancel() // who gives up while waiting was never sent
	if got := <-done; got != "" {
		t.Errorf("%q", got)
	}
	go ask(t.Context())
	select {
	case <-h.fire:
		t.Error("a second call began")
	default:
	}
	close(hold)
	if got := []string{<-done, <-done}; !slices.Contains(got, "one") || !slices.Contains(got, "two") {
		t.Errorf("%q", got)
	}
	if n := New(Config{BaseURL: "https://api.example.org/v1"}).config.Queue.AtOnce(); n != 4 {
		t.Errorf("%d at once elsewhere", n)
	}
}

// Models at one server wait for each other.
func TestModelsShareAQueue(t *testing.T) {
	t.Parallel()
	m := NewModels([]Named{{"a", Config{BaseURL: "http://a/v1", Model: "a"}},
		{"b", Config{BaseURL: "http://a/v1/", APIKey: "k", Model: "b"}}, {"c", Config{BaseURL: "http://c/v1", Model: "c"}}}, nil)
	var queues []*endpoint.Queue
	for _, c := range m.Clients() {
		queues = append(queues, c.config.Queue)
	}
	if queues[0] != queues[1] || queues[0] == queues[2] {
		t.Error("queues aren't shared by server")
	}
}

// How a model is told to think is each server's own.
func TestThinking(t *testing.T) {
	t.Parallel()
	var told strings.Builder
	for _, at := range []struct{ url, model string }{
		{"https://api.openai.com/v1", "gpt-4.1-mini"}, {"https://api.openai.com/v1", "gpt-5-mini"},
		{"https://api.openai.com/v1", "o4-mini"}, {"https://api.openai.com/v1", "gpt-5.1"},
		{"https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5"}, {"https://openrouter.ai/api/v1", "qwen/qwen3"},
		{"https://generativelanguage.googleapis.com/v1beta/openai", "gemini-3-pro"}, {"https://api.deepseek.com/v1", "deepseek-chat"},
		{"https://api.groq.com/openai/v1", "qwen3-32b"}, {"https://api.mistral.ai/v1", "mistral-small"},
		{"http://localhost:11434/v1", "qwen3:8b"}, {"http://localhost:8081/v1", "qwen3"}, {"https://llm.example.org/v1", "qwen3"},
	} {
		for _, level := range []Thinking{"", ThinkOff, ThinkLow, ThinkHigh} {
			c := New(Config{BaseURL: at.url, Model: at.model, Thinking: level, MaxTokens: 1000})
			for _, brief := range []bool{false, true} {
				asked := write(c.config, chat.Request{Brief: brief}, form{}, c.longest(chat.Request{Brief: brief})).fields
				for _, name := range []string{"model", "stream", "stream_options"} {
					delete(asked, name)
				}
				data, _ := json.Marshal(asked)
				fmt.Fprintf(&told, "%s %s, %q, brief %t: %s\n", at.url, at.model, level, brief, data)
			}
		}
	}
	golden.Seen(t, told.String())
}

// The window is what is configured or, if that is less, what the server lists.
func TestWindow(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		configured int
		list       string
		props      string
		want       int
	}{
		"configured":         {5000, `{"data":[{"id":"test-model","context_length":9000}]}`, "", 5000},
		"configured larger":  {8192, `{"data":[{"id":"test-model","meta":{"n_ctx":1024}}]}`, "", 1024},
		"larger than props":  {8192, `{"data":[]}`, `{"default_generation_settings":{"n_ctx":1024}}`, 1024},
		"configured, hidden": {8192, `{"data":[]}`, "", 8192},
		"llama.cpp":          {0, `{"data":[{"id":"other.gguf","meta":{"n_ctx":2048,"n_ctx_train":40960}}]}`, "", 2048},
		"OpenRouter":         {0, `{"data":[{"id":"x","context_length":1},{"id":"test-model","context_length":9000}]}`, "", 9000},
		"Groq":               {0, `{"data":[{"id":"test-model","context_window":8192}]}`, "", 8192},
		"vLLM":               {0, `{"data":[{"id":"test-model","max_model_len":4096}]}`, "", 4096},
		"another's":          {0, `{"data":[{"id":"x","context_length":1},{"id":"y","context_length":2}]}`, "", 0},
		"wrongly":            {0, `{"data":[{"id":"test-model","context_length":"many","max_model_len":"4096"}]}`, "", 4096},
		"llama.cpp's props":  {0, `{"data":[{"id":"test-model"}]}`, `{"default_generation_settings":{"n_ctx":1024},"total_slots":4}`, 1024},
		"no list, and props": {0, `no`, `{"default_generation_settings":{"n_ctx":1024}}`, 1024},
		"nowhere":            {0, `{"data":[]}`, "", 0},
	} {
		s := llmtest.New(t, llmtest.Also("/v1/models", test.list), llmtest.Also("/props", test.props))
		c, _ := client(s, func(c *Config) {
			c.Window = test.configured
			c.MaxTokens = 1000
		})
		all, room := c.Window(t.Context())
		again, _ := c.Window(t.Context())
		if all != test.want || room != test.want-min(1000, test.want/3) && all > 0 || again != all {
			t.Errorf("%s: %d, room %d", name, all, room)
		}
		if n := len(s.All()); n > 2 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

// A refusal tells the window, for an hour; and answers are asked to be shorter then.
func TestWindowIsLearnt(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.NoModelList())
	s.Queue(llmtest.TooLong(), llmtest.Say("well"))
	c, _ := client(s, func(c *Config) { c.MaxTokens = 4000 })
	_, err := c.Chat(t.Context(), prompt, nil)
	if KindOf(err) != TooLong {
		t.Fatal(err)
	}
	if all, room := c.Window(t.Context()); all != 4096 || room != 4096-4096/3 {
		t.Errorf("%d, %d", all, room)
	}
	if _, err := c.Chat(t.Context(), prompt, nil); err != nil {
		t.Fatal(err)
	}
	requests := s.Requests()
	if last := requests[len(requests)-1]; *last.MaxTokens != 4096/3 {
		t.Errorf("%s", last.Body)
	}
	c.clock.now = func() time.Time { return start.Add(learntFor + time.Second) }
	if all, _ := c.Window(t.Context()); all != 0 {
		t.Errorf("%d", all)
	}
}

// Ollama's list doesn't tell its window.
func TestWindowOfOllama(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ps, show string
		want     int
	}{
		"loaded":    {`{"models":[{"name":"test-model","context_length":16384}]}`, `{}`, 16384},
		"Modelfile": {`{"models":[]}`, `{"parameters":"temperature 0.6\nnum_ctx    8192","model_info":{"qwen3.context_length":40960}}`, 8192},
		"by itself": {`{}`, `{"model_info":{"qwen3.context_length":40960}}`, ollamaStart},
		"small":     {`{}`, `{"model_info":{"phi.context_length":2048}}`, 2048},
		"gone":      {`no`, `no`, 0},
	} {
		s := llmtest.New(t, llmtest.Also("/api/ps", test.ps), llmtest.Also("/api/show", test.show))
		c, _ := client(s, nil)
		got := lookAtOllama(t.Context(), c.caller, strings.TrimSuffix(c.config.BaseURL, "/v1"))
		if got.size != test.want {
			t.Errorf("%s: %d; want %d", name, got.size, test.want)
		}
		if got.assumed != (name == "by itself") {
			t.Errorf("%s: assumed: %v", name, got.assumed)
		}
	}
}

// A server that counts much less than it was sent drops a part, which is told once.
func TestPromptsThatDoNotArrive(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		count int
		drops bool
	}{{4, true}, {240, true}, {400, false}, {0, false}} {
		s := llmtest.New(t)
		s.Answer(func(llmtest.Request) llmtest.Reply {
			return llmtest.Reply{Body: fmt.Sprintf(`{"choices":[{"message":{"content":"well"}}],"usage":{"prompt_tokens":%d}}`, test.count)}
		})
		var told []string
		c, _ := client(s, func(c *Config) { c.Learned = func(_, what string) { told = append(told, what) } })
		long := chat.Request{Messages: []chat.Message{{Role: chat.User, Content: strings.Repeat("The harbour is wide. ", 100)}}}
		for range 2 {
			if _, err := c.Chat(t.Context(), long, nil); err != nil {
				t.Fatal(err)
			}
		}
		if want := 0; test.drops && len(told) != 1 || !test.drops && len(told) != want {
			t.Errorf("%d of some 500: told %q", test.count, told)
		}
	}
}

// OpenAI's newest models take tools only without thoughts; Astra, which can't do without, gets none.
func TestToolsWithoutThought(t *testing.T) {
	t.Parallel()
	for model, without := range map[string]bool{"gpt-6-luna": true, "gpt-5.6": true, "gpt-5.1": false, "gpt-4.1": false} {
		c := New(Config{BaseURL: "https://api.openai.com/v1", Model: model, Thinking: ThinkHigh})
		got := write(c.config, round(), form{}, 100).fields["reasoning_effort"]
		if want := map[bool]string{true: "none", false: "high"}[without]; got != want {
			t.Errorf("%s: %v; want %s", model, got, want)
		}
	}
}
