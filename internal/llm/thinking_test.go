package llm

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hark/internal/chat"
	"hark/internal/golden"
)

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
