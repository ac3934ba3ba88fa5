package llm

import (
	"errors"
	"strings"
	"testing"

	"hark/internal/llmtest"
)

// Refusals of prompts that are too long, as servers write them.
func TestTooLong(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from        string
		reply       llmtest.Reply
		limit, asks int
	}{
		{"OpenAI", llmtest.TooLong(), 4096, 5000},
		{"OpenAI, before", llmtest.Fail(400, "context_length_exceeded",
			"This model's maximum context length is 4097 tokens. However, you requested 5096 tokens (4096 in the messages, 1000 in the completion). Please reduce the length of the messages or completion."), 4097, 4096},
		{"OpenAI, completions", llmtest.Fail(400, "context_length_exceeded",
			"This model's maximum context length is 4097 tokens, however you requested 4116 tokens (3860 in your prompt; 256 for  the completion)."), 4097, 3860},
		{"OpenRouter", llmtest.Fail(400, "",
			"This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens (39000 of text input, 1000 in the output)."), 32768, 39000},
		{"vLLM", llmtest.Fail(400, "BadRequestError",
			"This model's maximum context length is 2048 tokens. However, your request has 5000 input tokens. Please reduce the length of the input messages."), 2048, 5000},
		{"vLLM, answer", llmtest.Fail(400, "",
			"'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is 2048 tokens and your request has 1500 input tokens (1000 > 2048 - 1500)."), 2048, 1500},
		{"vLLM, prompt", llmtest.Fail(400, "",
			"The decoder prompt (length 5000) is longer than the maximum model length of 4096."), 4096, 5000},
		{"llama.cpp", llmtest.Fail(400, "",
			"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"), 4096, 5000},
		{"llama.cpp, fields", llmtest.Reply{Status: 400,
			Body: `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`}, 4096, 5000},
		{"nobody's, fields", llmtest.Reply{Status: 400,
			Body: `{"error":{"message":"n","type":"exceed_context_size_error","n_prompt_tokens":"many","n_ctx":[1]}}`}, 0, 0},
		{"llama-cpp-python", llmtest.Fail(400, "context_length_exceeded",
			"Requested tokens (2285) exceed context window of 2048"), 2048, 2285},
		{"SGLang", llmtest.Fail(400, "",
			"The input (5000 tokens) is longer than the model's context length (4096 tokens)."), 4096, 5000},
		{"SGLang, total", llmtest.Fail(400, "",
			"Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5000 tokens: 4000 tokens from the input messages and 1000 tokens for the completion."), 4096, 4000},
		{"LM Studio", llmtest.Fail(400, "",
			"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"), 4096, 0},
		{"Mistral", llmtest.Fail(400, "",
			"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"), 32768, 40000},
		{"Anthropic", llmtest.Fail(400, "", "prompt is too long: 210000 tokens > 200000 maximum"), 200000, 210000},
		{"Anthropic, both", llmtest.Fail(400, "",
			"input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease input length or `max_tokens` and try again"), 200000, 199759},
		{"Google", llmtest.Fail(400, "",
			"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
			1048576, 1200000},
		{"TGI", llmtest.Fail(422, "", "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 1000 `max_new_tokens`"), 4096, 4000},
		{"TGI, prompt", llmtest.Fail(422, "",
			"Input validation error: `inputs` must have less than 1024 tokens. Given: 2000"), 1024, 2000},
		{"CTransformers", llmtest.Fail(400, "",
			"Number of tokens (757) exceeded maximum context length (512)."), 512, 757},
		{"nobody's", llmtest.Fail(400, "context_length_exceeded", "Too long."), 0, 0},
		{"not by numbers", llmtest.Fail(400, "", "context length 99999999999999999999"), 999999999, 0},
		{"a proxy", llmtest.Reply{Status: 413, Body: "Payload Too Large"}, 0, 0},
	} {
		s := llmtest.New(t)
		s.Queue(test.reply)
		c, _ := client(s, func(c *Config) { c.MaxTokens = 700 })
		_, _, err := talk(t, c)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", test.from, err)
			continue
		}
		room, asked, is := e.TooLong()
		if !is || room != max(0, test.limit-700) || asked != test.asks {
			t.Errorf("%s: room for %d, asked %d, too long: %t; want %d - 700, %d", test.from, room, asked, is,
				test.limit, test.asks)
		}
		if said := strings.Contains(err.Error(), "llm.window"); said != (test.limit > 0) {
			t.Errorf("%s: %v", test.from, err)
		}
	}
	if _, _, is := (&Error{Kind: Server}).TooLong(); is {
		t.Error("a server that fails is taken for one that refuses a prompt")
	}
}
