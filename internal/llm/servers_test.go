package llm

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"

	"hark/internal/chat"
	"hark/internal/golden"
	"hark/internal/llmtest"
)

// midway is a request in the middle of an answer: an image was shown, three tools were called, one of them
// under a name and with arguments that no server takes back, and a third is asked for by what it brought.
func midway() chat.Request {
	cool := 0.2
	return chat.Request{
		Messages: []chat.Message{
			{Role: chat.System, Content: "Be kind."},
			{Role: chat.User, Content: "When is what this shows?",
				Images: []chat.Image{dot, {Type: "image/jpeg", Data: []byte{0xff, 0xd8}}}},
			{Role: chat.Assistant, Content: "I look it up.", Calls: []chat.Call{
				{ID: "call_1", Name: "search_memory", Arguments: `{"query":"deadline"}`},
				{ID: "call_2", Name: "look it up!", Arguments: "deadline"},
			}},
			{Role: chat.FromTool, CallID: "call_1", Content: "Jane: on Friday"},
			{Role: chat.FromTool, CallID: "call_2", Content: "There is no such tool."},
			{Role: chat.Assistant, Calls: []chat.Call{{ID: "call_3", Name: "current_time"}}},
			{Role: chat.FromTool, CallID: "call_3"},
		},
		Tools:       []chat.Tool{search, {Name: "current_time", Description: "Tells the time."}},
		Temperature: &cool,
	}
}

// servers are those that many use, with what they answered and what that is.
var servers = []struct {
	name   string
	config Config
	want   chat.Reply
}{
	{"openai", Config{Model: "gpt-4o-mini", Vision: true}, chat.Reply{
		Calls: []chat.Call{
			{ID: "call_pJ0fT8wVxq2nYd1LhZbK3s9A", Name: "search_memory", Arguments: `{"query":"deadline"}`},
			{ID: "call_Qk2mB7rXc5vEw8tUy1OaH6iN", Name: "current_time", Arguments: "{}"},
		}, FinishReason: "tool_calls", PromptTokens: 412, CompletionTokens: 31,
	}},
	{"openai-reasoning", Config{Model: "o4-mini", Vision: true}, chat.Reply{
		Text: "It is Friday.", FinishReason: "stop", PromptTokens: 398, CompletionTokens: 141,
	}},
	{"ollama", Config{Model: "qwen3:8b"}, chat.Reply{
		Calls: []chat.Call{
			{ID: "call_z9tdl6sj", Name: "search_memory", Arguments: `{"query":"deadline"}`},
			{ID: "call_2ktpmmks", Name: "search_memory", Arguments: `{"query":"Freitag"}`},
		}, FinishReason: "tool_calls", PromptTokens: 187, CompletionTokens: 96,
	}},
	{"vllm", Config{Model: "Qwen/Qwen3-8B", Vision: true}, chat.Reply{
		Text: "I look it up.",
		Calls: []chat.Call{{ID: "too long", Name: "search_memory",
			Arguments: `{"query": "deadline"}`}}, FinishReason: "tool_calls", PromptTokens: 201, CompletionTokens: 39,
	}},
	{"llamacpp", Config{Model: "qwen3-8b", Vision: true}, chat.Reply{
		Calls: []chat.Call{{ID: "Xm3R0aYbTq7LkPvZ9cWs2NdHf6GjE1uI", Name: "search_memory",
			Arguments: `{"query":"deadline"}`}},
		FinishReason: "tool_calls", PromptTokens: 230, CompletionTokens: 42,
	}},
	{"lmstudio", Config{Model: "qwen3-8b-mlx", Vision: true}, chat.Reply{
		Calls:        []chat.Call{{ID: "374859201", Name: "search_memory", Arguments: `{"query":"deadline"}`}},
		FinishReason: "tool_calls", PromptTokens: 190, CompletionTokens: 28,
	}},
	{"openrouter", Config{Model: "anthropic/claude-sonnet-4.5", Vision: true,
		Headers: map[string]string{"HTTP-Referer": "https://example.org", "X-Title": "Hark"}}, chat.Reply{
		Text: "I look it up.",
		Calls: []chat.Call{{ID: "toolu_01A09q90qw90lq917835lq9a", Name: "search_memory",
			Arguments: `{"query": "deadline"}`}},
		FinishReason: "tool_calls", PromptTokens: 503, CompletionTokens: 61,
	}},
	{"unstreamed", Config{Model: "m"}, chat.Reply{
		Text: "I look it up.",
		Calls: []chat.Call{
			{ID: "call_1", Name: "search_memory", Arguments: `{"query":"deadline"}`}, {ID: "call_2",
				Name: "current_time", Arguments: "{}"},
		}, FinishReason: "tool_calls", PromptTokens: 12, CompletionTokens: 7,
	}},
}

func recorded(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// What servers are sent is recorded, and what they answer is read rightly.
func TestServers(t *testing.T) {
	t.Parallel()
	warm := float32(0.7)
	for _, test := range servers {
		s := llmtest.New(t, llmtest.Key(secret))
		s.Queue(llmtest.Reply{Body: string(recorded(t, test.name+".answer.txt")), ContentType: "text/event-stream"})
		c, _ := client(s, func(c *Config) {
			test.config.BaseURL, test.config.APIKey, test.config.MaxTokens, test.config.Temperature = c.BaseURL, c.APIKey, 1000, &warm
			*c = test.config
		})
		reply, err := c.Chat(t.Context(), midway(), nil)
		calls := reply.Calls
		sameCalls(t, test.name, calls, test.want.Calls)
		if err != nil || reply.Text != test.want.Text || reply.FinishReason != test.want.FinishReason ||
			reply.Model != test.config.Model ||
			reply.PromptTokens != test.want.PromptTokens || reply.CompletionTokens != test.want.CompletionTokens {
			t.Errorf("%s: %+v, %v", test.name, reply, err)
		}
		sent := s.Requests()[0]
		for name, value := range test.config.Headers {
			if sent.Header.Get(name) != value {
				t.Errorf("%s: header %s is %q", test.name, name, sent.Header.Get(name))
			}
		}
		if test.config.Headers == nil && (sent.Header.Get("HTTP-Referer") != "" || sent.Header.Get("X-Title") != "") {
			t.Errorf("%s: headers %v", test.name, sent.Header)
		}
		record(t, test.name+".request.json", sent.Body)
	}
}

// record compares what was sent with what was sent before.
func record(t *testing.T, name string, body []byte) {
	t.Helper()
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, body, "", "  "); err != nil {
		t.Fatal(err)
	}
	pretty.WriteByte('\n')
	golden.File(t, filepath.Join("testdata", name), pretty.String())
}

// Without tools and images, everything is plain texts, as small servers want it.
func TestPlainRequest(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	s.Queue(llmtest.Say("well"))
	c, _ := client(s, nil)
	if _, _, err := talk(t, c); err != nil {
		t.Fatal(err)
	}
	record(t, "plain.request.json", s.Requests()[0].Body)
}

// Every recorded answer, cut in an orderly way or not, is whole or an error.
func TestServersCutAnywhere(t *testing.T) {
	t.Parallel()
	long := os.Getenv("HARK_LONG") != ""
	for _, test := range servers {
		body := recorded(t, test.name+".answer.txt")
		for at := range len(body) {
			if !long && !isSampled(body, at) {
				continue
			}
			for _, torn := range []bool{false, true} {
				checkCut(t, test.name, body[:at], torn, test.want)
			}
		}
	}
}

// isSampled reports whether the short form cuts a body there: where an event may become whole, which is at the ends of
// lines, and at some bytes of each line, others in each.
func isSampled(body []byte, at int) bool {
	const apart = 29
	atLineEnd := bytes.ContainsRune(body[max(0, at-1):at+1], '\n')
	return at%apart == 0 || atLineEnd
}

// checkCut reads an answer that is cut, and torn or ended in an orderly way.
func checkCut(t *testing.T, name string, body []byte, torn bool, want chat.Reply) {
	t.Helper()
	cut := wire{body: body}
	if torn {
		cut.then = func() (int, error) { return 0, io.ErrUnexpectedEOF }
	}
	reply, err := read(cut)
	if err != nil {
		if reply.Calls != nil || KindOf(err) == 0 || !strings.HasPrefix(want.Text, reply.Text) {
			t.Fatalf("%s cut at %d, torn %v: %+v, %v", name, len(body), torn, reply, err)
		}
		return
	}
	if reply.Text != want.Text || reply.FinishReason != want.FinishReason {
		t.Fatalf("%s cut at %d, torn %v: %+v passes for whole", name, len(body), torn, reply)
	}
	sameCalls(t, name, reply.Calls, want.Calls)
}

// The raw limit is that of decoding the same events without making anything of them.
func BenchmarkStream(b *testing.B) {
	const chunks = 2000
	delta := `{"content":"word "}`
	deltas := make([]string, chunks)
	for i := range deltas {
		deltas[i] = delta
	}
	body := streamOf("stop", deltas...)
	b.Run("client", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			if reply, err := read(wire{body: body}); err != nil || len(reply.Text) != 5*chunks {
				b.Fatal(err)
			}
		}
	})
	b.Run("json.Unmarshal", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			for line := range bytes.Lines(body) {
				if data, ok := bytes.CutPrefix(line, []byte("data: {")); ok {
					var e openai.ChatCompletionStreamResponse
					if err := json.Unmarshal(append([]byte("{"), data...), &e); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	})
}
