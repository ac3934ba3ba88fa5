package llm

import (
	"errors"
	"strings"
	"testing"

	"hark/internal/chat"
	"hark/internal/llmtest"
)

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

		{"another refusal", fail(400, "", "Invalid value for 'temperature'"), false, false},
		{"a wrong key", fail(401, "", "this key does not support tools or images"), false, false},
		{"no more calls", fail(429, "", "the free tier does not support tools"), false, false},
		{"a failing server", fail(500, "", "a tool is broken, and an image too"), false, false},
		{"a long prompt", llmtest.TooLong(), false, false},
		{"no model", fail(404, "model_not_found", ""), false, false},
	} {
		s := llmtest.New(t)
		s.Queue(test.reply)
		c, _ := client(s, func(c *Config) { c.Vision, c.Retries = true, 0 })
		_, err := c.Chat(t.Context(), armed(), nil)
		checkError(t, err)
		var e *Error
		if !errors.As(err, &e) || e.NoTools() != test.tools || e.NoImages() != test.images {
			t.Errorf("%s: %v; no tools %t, no images %t", test.from, err, e.NoTools(), e.NoImages())
			continue
		}
		if test.tools || test.images {
			if e.Kind != Rejected || e.again || !e.OfText() || !strings.Contains(e.Error(), `"test-model"`) ||
				test.images && !strings.Contains(e.Error(), "llm.vision") {
				t.Errorf("%s: %+v", test.from, e)
			}
		}
		// Nothing is refused that wasn't sent, whatever the server says.
		s.Queue(test.reply)
		if _, err := c.Chat(t.Context(), prompt, nil); !errors.As(err, &e) || e.NoTools() || e.NoImages() {
			t.Errorf("%s: %v", test.from, err)
		}
	}
}

// go-openai refuses by itself to send tools to some models.
func TestToolsRefusedAtHome(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	s.Queue(llmtest.Say("well"))
	c, _ := client(s, func(c *Config) { c.Model = "gpt-6-sol" })
	_, err := c.Chat(t.Context(), armed(), nil)
	var e *Error
	if !errors.As(err, &e) || !e.NoTools() || len(s.Requests()) != 0 {
		t.Errorf("%v, %d requests", err, len(s.Requests()))
	}
	without := armed()
	without.Tools = nil
	if reply, err := c.Chat(t.Context(), without, nil); err != nil || reply.Text != "well" {
		t.Errorf("%+v, %v", reply, err)
	}
}
