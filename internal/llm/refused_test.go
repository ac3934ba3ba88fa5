package llm

import (
	"errors"
	"strings"
	"testing"

	"hark/internal/chat"
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
		{"Moonshot", llmtest.Fail(400, "", "Your request exceeded model token limit: 1024 (requested: 6000)"), 1024, 6000},
		{"xAI", llmtest.Fail(400, "", "This model's maximum prompt length is 1024 but the request contains 6000 tokens."),
			1024, 6000},
		{"exllama", llmtest.Fail(400, "", "Prompt length 6000 is greater than max_seq_len 1024"), 1024, 6000},
		{"Google, Vertex", llmtest.Fail(400, "",
			"Unable to submit request because the input token count is 6000 but model only supports up to 1024."), 1024, 6000},
		{"GitHub", llmtest.Fail(400, "", "Prompt token count of 6000 exceeds the limit of 1024."), 1024, 6000},
		{"Cerebras", llmtest.Fail(400, "", "The total number of tokens in the prompt and completion cannot exceed 1024"),
			1024, 0},
		{"Bedrock", llmtest.Fail(400, "", "Input is too long for the model."), 0, 0},
		{"Alibaba", llmtest.Fail(400, "", "Range of input length should be [1, 1024]"), 1024, 0},
		{"TGI, no back-ticks", llmtest.Fail(422, "", "inputs tokens + max_new_tokens must be <= 1024"), 1024, 0},
		{"llama.cpp, older", llmtest.Fail(500, "", "the request exceeds the available context size. try increasing it"),
			0, 0},
		{"by how much", llmtest.Fail(400, "", "The prompt exceeded max context length by 1234 tokens"), 0, 0},
		{"LM Studio, n_keep", llmtest.Fail(400, "",
			"Cannot truncate prompt to fit context length (n_keep: 6000>= n_ctx: 1024)"), 1024, 6000},
		{"MiniMax", llmtest.Fail(400, "", "invalid params, context window exceeds limit (2013)"), 0, 0},
		{"Google's list", llmtest.Reply{Status: 400, Body: `[{"error":{"code":400,"message":"The input token count (9000) exceeds the maximum number of tokens allowed (1024).","status":"INVALID_ARGUMENT"}}]`},
			1024, 9000},
		{"nobody's", llmtest.Fail(400, "context_length_exceeded", "Too long."), 0, 0},
		{"not by numbers", llmtest.Fail(400, "", "context length 99999999999999999999"), 999999999, 0},
		{"a proxy", llmtest.Reply{Status: 413, Body: "Payload Too Large"}, 0, 0},
	} {
		s := llmtest.New(t)
		s.Queue(test.reply)
		c, _ := client(s, func(c *Config) { c.MaxTokens = 700 })
		_, _, err := talk(t, c)
		e, is := errors.AsType[*Error](err)
		if !is {
			t.Errorf("%s: %v", test.from, err)
			continue
		}
		room, asked, is := e.TooLong()
		if !is || room != test.limit-min(700, test.limit/3) || asked != test.asks {
			t.Errorf("%s: room for %d, asked %d, too long: %t; limit %d, %d", test.from, room, asked, is,
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

// dot is an image.
var dot = chat.Image{Type: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}

var search = chat.Tool{
	Name: "search_memory", Description: "Finds what was said.",
	Parameters: []byte(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`),
}

// armed is prompt with a tool and an image.
func armed() chat.Request {
	return chat.Request{
		Messages: append(prompt.Messages[:3:3], chat.Message{Role: chat.User, Content: "What is it?",
			Images: []chat.Image{dot}}),
		Tools: []chat.Tool{search},
	}
}

// Refusals of tools and of images, as servers write them.
func TestUnsupported(t *testing.T) {
	t.Parallel()
	fail := llmtest.Fail
	body := func(status int, body string) llmtest.Reply { return llmtest.Reply{Status: status, Body: body} }
	for _, test := range []struct {
		from          string
		reply         llmtest.Reply
		tools, images bool
	}{
		{"Ollama", body(400, `{"error":{"message":"registry.ollama.ai/library/gemma3:latest does not support tools","type":"api_error","param":null,"code":null}}`), true, false},
		{"vLLM", body(400, `{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}}`), true, false},
		{"vLLM before 0.10", body(400,
			`{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}`), true, false},
		{"llama.cpp", body(500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`), true, false},
		{"llama.cpp, once", body(500, `{"error":{"code":500,"message":"Cannot use tools with stream","type":"server_error"}}`), true, false},
		{"llama.cpp, at first", body(500,
			`{"error":{"code":500,"message":"Unsupported param: tools","type":"server_error"}}`), true, false},
		{"llama.cpp, in the stream", llmtest.Reply{Events: []string{`data: {"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`, ""}}, true, false},
		{"OpenRouter", body(404, `{"error":{"message":"No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing","code":404}}`), true, false},
		{"OpenAI", fail(400, "unsupported_parameter",
			"Unsupported parameter: 'tools' is not supported with this model."), true, false},
		{"DeepSeek", fail(400, "invalid_request_error",
			"deepseek-reasoner does not support Function Calling"), true, false},
		{"Groq", fail(400, "", "`tool calling` is not supported with this model"), true, false},
		{"Mistral", body(400, `{"object":"error","message":"Function calling is not enabled for this model","type":"invalid_request_function_call","code":"3051"}`), true, false},

		{"OpenAI", fail(400, "", "Invalid content type. image_url is only supported by certain models."), false, true},
		{"Ollama", body(500, `{"error":{"message":"this model is missing data required for image input","type":"api_error","param":null,"code":null}}`), false, true},
		{"vLLM", body(400, `{"error":{"message":"qwen3-8b is not a multimodal model","type":"BadRequestError","param":null,"code":400}}`), false, true},
		{"vLLM, limited", body(400, `{"error":{"message":"At most 0 image(s) may be provided in one prompt.","type":"BadRequestError","code":400}}`), false, true},
		{"llama.cpp", body(500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`), false, true},
		{"LM Studio", body(400, `{"error":"Model does not support images. Please use a model that does."}`),
			false, true},
		{"OpenRouter", body(404, `{"error":{"message":"No endpoints found that support image input","code":404}}`), false, true},
		{"DeepSeek", fail(400, "", "Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text`"), false, true},
		{"a small server", body(422, `{"detail":[{"loc":["body","messages",1,"content"],"msg":"Input should be a valid string","type":"string_type"}]}`), false, true},
	} {
		s := llmtest.New(t)
		refuses := func(r llmtest.Request) bool {
			images := false
			for _, m := range r.Messages {
				images = images || len(m.Images) > 0
			}
			return test.tools && len(r.Tools) > 0 || test.images && images
		}
		s.Answer(func(r llmtest.Request) llmtest.Reply {
			if refuses(r) {
				return test.reply
			}
			return llmtest.Say("well")
		})
		c, _ := client(s, func(c *Config) { c.Vision = true })
		for _, want := range []int{2, 3} { // the next question costs one request
			reply, err := c.Chat(t.Context(), armed(), nil)
			if err != nil || reply.Text != "well" || len(s.Requests()) != want {
				t.Errorf("%s: %+v, %v after %d requests; want %d", test.from, reply, err, len(s.Requests()), want)
			}
		}
		if c.TakesTools() == test.tools || c.CanSee() == test.images || len(c.Learned()) != 1 {
			t.Errorf("%s: it takes tools: %t, sees: %t, learned %q", test.from, c.TakesTools(), c.CanSee(), c.Learned())
		}
	}
}
