package llm

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"hark/internal/chat"
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
