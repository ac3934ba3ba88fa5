package llm

import (
	"slices"
	"strings"
	"testing"

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
