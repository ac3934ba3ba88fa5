package doctor

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"hark/internal/config"
	"hark/internal/llm"
	"hark/internal/llmtest"
)

// What a program wrote before it ended is shown.
func TestToolsOfProgramThatFails(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
	d := &Doctor{}
	d.Config.Tools.MCP = []config.MCP{{Name: "garden", Command: "sh", Args: config.Words{"-c", "echo no key >&2"},
		Timeout: config.Duration{Duration: time.Minute}}}
	if got := d.tools(t.Context(), "garden").For("tools").String(); !strings.Contains(got, `it wrote "no key"`) {
		t.Error(got)
	}
}

// A model's server that refuses several things is said to refuse once, and what Hark does about each follows.
func TestServerThatRefusesMuch(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	s.Answer(func(r llmtest.Request) llmtest.Reply {
		for _, field := range []string{"stream_options", "max_tokens"} {
			if strings.Contains(string(r.Body), `"`+field+`"`) {
				return llmtest.Fail(400, "", "unknown field `"+field+"`")
			}
		}
		return llmtest.Say("It is nine.")
	})
	client := llm.New(llm.Config{BaseURL: s.URL(), Model: "test-model", MaxTokens: 500})
	got := (&Doctor{}).Model(t.Context(), "llm.", client).String()
	const does = "the server refused a request as OpenAI takes it → " +
		"Hark leaves out stream_options; Hark leaves out max_tokens"
	if !strings.HasSuffix(got, does) || strings.Count(got, "refused") != 1 {
		t.Error(got)
	}
}

// What a server says is never taken for advice.
func TestServerThatTakesNoMoreCalls(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	s.Answer(func(llmtest.Request) llmtest.Reply {
		return llmtest.Fail(429, "", "Limits: reached. Try again in 5m.")
	})
	client := llm.New(llm.Config{BaseURL: s.URL(), Model: "test-model"})
	got := (&Doctor{}).Model(t.Context(), "llm.", client).String()
	if !strings.Contains(got, "(429, invalid_request_error) → try again later, or raise its limits; it says: Limits") {
		t.Error(got)
	}
}
