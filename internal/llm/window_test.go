package llm

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/chat"
	"hark/internal/llmtest"
)

// A window that is configured larger than the server's is told once, with what to do.
func TestSmallerWindowIsTold(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		`{"data":[{"id":"test-model","meta":{"n_ctx":1024}}]}`: "the server's window has 1024 tokens, and not 8192 as " +
			"configured (llm.window), so prompts are made for 1024: serve the model with a larger context (llama.cpp: -c), " +
			"or lower llm.window",
		`{"data":[{"id":"test-model","max_model_len":4096}]}`: "the server's window has 4096 tokens, and not 8192 as " +
			"configured (llm.window), so prompts are made for 4096: serve the model with a larger context, or lower " +
			"llm.window",
		`{"data":[{"id":"test-model","max_model_len":9000}]}`: "",
	} {
		var told []string
		s := llmtest.New(t, llmtest.Also("/v1/models", list))
		c, _ := client(s, func(c *Config) {
			c.Window = 8192
			c.Learned = func(_, what string) { told = append(told, what) }
		})
		_, _ = c.Window(t.Context())
		_, _ = c.Window(t.Context())
		if strings.Join(told, "\n") != want || !slices.Equal(c.Learned(), told) {
			t.Errorf("%s: told %q, learned %q", list, told, c.Learned())
		}
	}
	ofOllama := smallerWindow(8192, listed{size: 4096}, ollama)
	if !strings.Contains(ofOllama, "(Ollama: OLLAMA_CONTEXT_LENGTH)") {
		t.Error(ofOllama)
	}
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
